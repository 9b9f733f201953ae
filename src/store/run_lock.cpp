#include "store/run_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>

#include "store/database.hpp"

namespace gantry::store {

namespace fs = std::filesystem;

namespace {

struct flock whole_file() {
  struct flock range {};
  range.l_type = F_WRLCK;
  range.l_whence = SEEK_SET;
  return range;
}

/// 0 when the file does not (yet) hold a pid.
int read_pid(int fd) {
  std::array<char, 16> text{};
  const ssize_t n = ::pread(fd, text.data(), text.size(), 0);
  int pid = 0;
  if (n > 0) std::from_chars(text.data(), text.data() + n, pid);
  return pid > 0 ? pid : 0;
}

}  // namespace

Result<RunLock> RunLock::acquire(const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  const fs::path path = directory / "lock";
  auto fd = open_file(path, O_RDWR | O_CREAT);
  if (!fd) {
    fd.error().hint = kOtherPlace;
    return tl::unexpected(std::move(fd).error());
  }
  struct flock range = whole_file();
  if (::fcntl(fd->get(), F_OFD_SETLK, &range) != 0) {
    if (errno != EAGAIN && errno != EACCES) return fail_errno(path.string());
    const int pid = read_pid(fd->get());
    return fail(ErrorCode::busy,
                fmt::format("another gantry{} is driving the runs in {}",
                            pid != 0 ? fmt::format(" (process {})", pid) : "", directory.string()),
                "`gantry run --join` lets it run this, too; `gantry run --wait` starts when it has "
                "ended; --state DIR uses another place");
  }
  // Not knowing the pid only makes a message poorer, so a full disk does not keep us from running.
  const std::string pid = fmt::format("{}\n", ::getpid());
  if (::ftruncate(fd->get(), 0) == 0 && ::pwrite(fd->get(), pid.data(), pid.size(), 0) < 0)
    errno = 0;
  return RunLock(std::move(*fd));
}

std::optional<int> RunLock::holder(const fs::path& directory) {
  const auto fd = open_file(directory / "lock", O_RDONLY);
  if (!fd) return std::nullopt;
  struct flock range = whole_file();
  if (::fcntl(fd->get(), F_OFD_GETLK, &range) != 0 || range.l_type == F_UNLCK) return std::nullopt;
  return read_pid(fd->get());
}

}  // namespace gantry::store
