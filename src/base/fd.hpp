#pragma once
/// File descriptors with an owner, and the few blocking file operations that the rest of the code
/// needs.

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.hpp"

namespace gantry {

class UniqueFd {
 public:
  UniqueFd() = default;
  explicit UniqueFd(int fd) : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { reset(); }

  [[nodiscard]] int get() const { return fd_; }
  [[nodiscard]] explicit operator bool() const { return fd_ >= 0; }
  [[nodiscard]] int release() { return std::exchange(fd_, -1); }
  void reset(int fd = -1);

 private:
  int fd_ = -1;
};

/// Opens with O_CLOEXEC; the error names the path.
Result<UniqueFd> open_file(const std::filesystem::path& path, int flags, unsigned mode = 0644);

/// Writes all of `data`, over short writes and EINTR.
Result<> write_all(int fd, std::string_view data);

/// The whole file; an error when it is longer than `limit` bytes.
Result<std::string> read_file(const std::filesystem::path& path,
                              std::size_t limit = std::size_t{1} << 30);

/// Replaces the file in one step: a reader sees the old or the new content, also after power loss.
/// Links stay links; into a pipe or a device it is just written.
Result<> write_file_atomic(const std::filesystem::path& path, std::string_view data);

}  // namespace gantry
