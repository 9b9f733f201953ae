#include "driver/packed_output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/fd.hpp"

namespace gantry::driver {

Result<std::string> whole_output(const std::filesystem::path& state_dir,
                                 const CapturedOutput& output, std::size_t limit) {
  if (output.pack.empty()) return output.text;
  const auto path = state_dir / "output" / output.pack;
  TRY_ASSIGN(const UniqueFd fd, open_file(path, O_RDONLY));
  const std::uint64_t size = std::min<std::uint64_t>(output.size, limit);
  std::string text(size, '\0');
  std::uint64_t at = 0;
  while (at < size) {
    const auto offset = static_cast<off_t>(output.offset + (output.size - size) + at);
    const ssize_t n = ::pread(fd.get(), text.data() + at, size - at, offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno(path.string());
    if (n == 0)
      return fail(ErrorCode::corrupt, path.string() + ": ends too early: output is missing");
    at += static_cast<std::uint64_t>(n);
  }
  return text;
}

}  // namespace gantry::driver
