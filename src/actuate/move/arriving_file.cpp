#include "actuate/move/arriving_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "depot/file_tools.hpp"

namespace gantry {

// The same name for the same file: what a killed gantry left is written over by the next.
ArrivingFile::ArrivingFile(std::string path, bool resume)
    : path_(std::move(path)), resume_(resume) {
  const std::filesystem::path place(path_);
  beside_ = place.parent_path() / (".gantry-" + hash_bytes(place.filename().string()).hex());
  if (resume_) find_part();
}

void ArrivingFile::find_part() {
  auto part = open_file(beside_, O_RDWR | O_NOFOLLOW | O_NONBLOCK);
  struct stat info {};
  if (!part || ::fstat(part->get(), &info) != 0 || !S_ISREG(info.st_mode)) return;
  std::string piece(std::size_t{1} << 18, '\0');
  for (;;) {
    const ssize_t n = ::read(part->get(), piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return hasher_.reset();
    if (n == 0) break;
    hasher_.add_raw(std::string_view(piece).substr(0, static_cast<std::size_t>(n)));
    bytes_ += static_cast<std::uint64_t>(n);
  }
  fd_ = std::move(*part);
}

Result<> ArrivingFile::expect(std::uint64_t bytes, bool executable) {
  expected_ = bytes;
  if (fd_ && bytes_ > expected_)
    return fail(ErrorCode::io, path_ + ": became shorter while it was fetched");
  if (fd_) return {};
  constexpr int kFlags = O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW;
  const unsigned mode = executable ? 0777 : 0666;
  auto opened = open_file(beside_, kFlags, mode);
  if (!opened && errno == ENOENT) {
    TRY(depot::make_parents(path_));
    opened = open_file(beside_, kFlags, mode);
  }
  TRY_ASSIGN(fd_, std::move(opened));
  return {};
}

Result<> ArrivingFile::write(std::string_view bytes) {
  if (auto written = write_all(fd_.get(), bytes); !written) {
    written.error().message = path_ + ": " + written.error().message;
    return written;
  }
  hasher_.add_raw(bytes);
  bytes_ += bytes.size();
  return {};
}

Result<bool> ArrivingFile::finish(const Digest& sent) {
  if (!fd_ || bytes_ != expected_ || hasher_.digest() != sent) return false;
  if (::rename(beside_.c_str(), path_.c_str()) != 0) return fail_errno(path_);
  fd_.reset();
  return true;
}

void ArrivingFile::forget() {
  if (!fd_) return;
  ::unlink(beside_.c_str());
  fd_.reset();
  hasher_.reset();
  bytes_ = 0;
}

}  // namespace gantry
