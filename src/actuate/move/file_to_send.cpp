#include "actuate/move/file_to_send.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

namespace gantry {

Result<UniqueFd> open_to_send(const Put& put) {
  TRY_ASSIGN(UniqueFd file, open_file(put.path, O_RDONLY | O_NONBLOCK));
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return fail_errno(put.path);
  if (!S_ISREG(info.st_mode)) return fail(ErrorCode::io, put.path + ": is not a plain file");
  if (static_cast<std::uint64_t>(info.st_size) == put.bytes) return file;
  return fail(ErrorCode::io, fmt::format("{}: changed before it was sent: it has {} bytes, not {}",
                                         put.path, info.st_size, put.bytes));
}

}  // namespace gantry
