#include "base/fd.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace gantry {

void UniqueFd::reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

Result<UniqueFd> open_file(const std::filesystem::path& path, int flags, unsigned mode) {
  const int fd = ::open(path.c_str(), flags | O_CLOEXEC, mode);
  if (fd < 0) return fail_errno(path.string());
  return UniqueFd(fd);
}

Result<> write_all(int fd, std::string_view data) {
  while (!data.empty()) {
    const ssize_t n = ::write(fd, data.data(), data.size());
    if (n < 0) {
      if (errno == EINTR) continue;
      return fail_errno("write");
    }
    data.remove_prefix(static_cast<std::size_t>(n));
  }
  return {};
}

Result<std::string> read_file(const std::filesystem::path& path, std::size_t limit) {
  TRY_ASSIGN(const UniqueFd fd, open_file(path, O_RDONLY));
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return fail_errno(path.string());
  if (S_ISDIR(info.st_mode)) return fail(ErrorCode::io, path.string() + ": is a directory");
  std::string out;
  // The size is a first guess only: files under /proc and pipes say 0, and a file may grow.
  std::size_t room = std::max<std::size_t>(static_cast<std::size_t>(info.st_size) + 1, 4096);
  for (;;) {
    const std::size_t old = out.size();
    if (old > limit) {
      return fail(ErrorCode::io,
                  path.string() + ": longer than " + std::to_string(limit) + " bytes");
    }
    out.resize(old + std::min(room, limit + 1 - old + 1));
    const ssize_t n = ::read(fd.get(), out.data() + old, out.size() - old);
    if (n < 0) {
      out.resize(old);
      if (errno == EINTR) continue;
      return fail_errno(path.string());
    }
    out.resize(old + static_cast<std::size_t>(n));
    if (n == 0) return out;
    // What resize() zeroes grows with the file: most under /proc are small, and an agent that
    // starts reads one of every process.
    room = std::max<std::size_t>(out.size(), 4096);
  }
}

namespace {

/// What a link points to, also when it is not there yet. Links that go round end anywhere.
std::filesystem::path behind_links(std::filesystem::path path) {
  constexpr int kMostLinks = 40;
  std::error_code error;
  for (int i = 0; i < kMostLinks; ++i) {
    const std::filesystem::path target = std::filesystem::read_symlink(path, error);
    if (error) break;
    path = path.parent_path() / target;
  }
  return path;
}

}  // namespace

Result<> write_file_atomic(const std::filesystem::path& path, std::string_view data) {
  std::error_code unknown;
  const auto status = std::filesystem::status(path, unknown);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    // A pipe or a device: to be written to, not to be replaced.
    TRY_ASSIGN(const UniqueFd fd, open_file(path, O_WRONLY));
    return write_all(fd.get(), data);
  }
  const std::filesystem::path target = behind_links(path);
  std::filesystem::path temporary = target;
  temporary += ".tmp" + std::to_string(::getpid());
  const auto write = [&]() -> Result<> {
    TRY_ASSIGN(const UniqueFd fd, open_file(temporary, O_WRONLY | O_CREAT | O_TRUNC));
    TRY(write_all(fd.get(), data));
    if (::fsync(fd.get()) != 0) return fail_errno(temporary.string());
    if (::rename(temporary.c_str(), target.c_str()) != 0) return fail_errno(target.string());
    const auto parent =
        target.has_parent_path() ? target.parent_path() : std::filesystem::path(".");
    TRY_ASSIGN(const UniqueFd directory, open_file(parent, O_RDONLY | O_DIRECTORY));
    if (::fsync(directory.get()) != 0) return fail_errno(parent.string());
    return {};
  };
  auto result = write();
  if (!result) ::unlink(temporary.c_str());
  return result;
}

}  // namespace gantry
