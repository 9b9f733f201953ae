#include "depot/incoming_file.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "depot/folder_tools.hpp"

namespace gantry::depot {

namespace {

/// A sender who has not added to a partial file for so long has given it up: another may go on.
constexpr Duration kGivenUp = std::chrono::minutes(1);

}  // namespace

IncomingFile::IncomingFile(Depot& depot, const StoredFile& file, bool executable,
                           const std::string& sender)
    : depot_(&depot),
      file_(file),
      executable_(executable),
      partial_("partial/" + file.content.hex() + "." + sender) {
  find_partial(sender);
}

void IncomingFile::find_partial(const std::string& sender) {
  const std::string mine = file_.content.hex() + "." + sender;
  struct stat info {};
  if (::fstatat(depot_->fd(), partial_.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    const std::int64_t now = to_ns(RealClock().now());
    std::string best;
    off_t most = 0;
    const auto read = for_each_entry(depot_->fd(), "partial", [&](int folder, const char* name) {
      struct stat other {};
      if (std::string_view(name).starts_with(file_.content.hex() + ".") &&
          ::fstatat(folder, name, &other, AT_SYMLINK_NOFOLLOW) == 0 &&
          now - to_ns(other.st_mtim) > kGivenUp.count() && other.st_size > most) {
        most = other.st_size;
        best = std::string("partial/") + name;
      }
    });
    if (!read || best.empty()) return;
    if (::renameat(depot_->fd(), best.c_str(), depot_->fd(), partial_.c_str()) != 0) return;
    if (::fstatat(depot_->fd(), partial_.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return;
  }
  const auto bytes = static_cast<std::uint64_t>(info.st_size);
  if (S_ISREG(info.st_mode) && bytes <= file_.bytes) {
    offset_ = bytes;
  } else {
    ::unlinkat(depot_->fd(), partial_.c_str(), 0);
  }
}

Result<> IncomingFile::open() {
  if (fd_) return {};
  TRY(depot_->make_room(file_.bytes - offset_));
  fd_.reset(
      ::openat(depot_->fd(), partial_.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0644));
  if (!fd_) return failed();
  // Somebody removed it, or another connection of the same sender still added to it.
  if (::ftruncate(fd_.get(), static_cast<off_t>(offset_)) != 0) return failed();
  return {};
}

Result<> IncomingFile::write(std::string_view bytes) {
  TRY(open());
  if (bytes.size() > file_.bytes - offset_)
    return fail(ErrorCode::peer, "more was sent of " + file_.content.hex() + " than announced");
  const bool keeps_up = is_read();
  for (std::string_view rest = bytes; !rest.empty();) {
    const ssize_t n = ::pwrite(fd_.get(), rest.data(), rest.size(), static_cast<off_t>(offset_));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return failed();
    offset_ += static_cast<std::uint64_t>(n);
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
  if (keeps_up) {
    hasher_.add_raw(bytes);
    hashed_ = offset_;
  }
  // The disk begins early, so that nobody waits for it at the end.
  constexpr std::uint64_t kFlushEvery = std::uint64_t{8} << 20;
  if (offset_ - flushed_ >= kFlushEvery) {
    ::sync_file_range(fd_.get(), static_cast<off_t>(flushed_),
                      static_cast<off_t>(offset_ - flushed_), SYNC_FILE_RANGE_WRITE);
    flushed_ = offset_;
  }
  return {};
}

bool IncomingFile::clone(int from) {
  if (offset_ != 0 || !open() || ::ioctl(fd_.get(), FICLONE, from) != 0) return false;
  offset_ = file_.bytes;
  return true;
}

Result<> IncomingFile::read_some(std::size_t most) {
  TRY(open());
  std::vector<char> buffer(std::min<std::uint64_t>(most, offset_ - hashed_));
  const ssize_t n = ::pread(fd_.get(), buffer.data(), buffer.size(), static_cast<off_t>(hashed_));
  if (n < 0 && errno == EINTR) return {};
  if (n < 0) return failed();
  if (n == 0 && !buffer.empty())
    return fail(ErrorCode::corrupt, "somebody cut the partial file " + partial_);
  hasher_.add_raw({buffer.data(), static_cast<std::size_t>(n)});
  hashed_ += static_cast<std::uint64_t>(n);
  return {};
}

Result<> IncomingFile::finish() {
  TRY(open());
  if (hasher_.digest() != file_.content) {
    ::unlinkat(depot_->fd(), partial_.c_str(), 0);
    depot_->give_back(file_.bytes);
    return fail(ErrorCode::corrupt,
                "the content that arrived is not that of " + file_.content.hex());
  }
  // A power loss that empties a small one is seen by its size.
  constexpr std::uint64_t kWorthASync = std::uint64_t{256} << 10;
  if (file_.bytes > kWorthASync && ::fdatasync(fd_.get()) != 0) return failed();
  return depot_->admit(file_.content, fd_.get(), partial_, executable_);
}

tl::unexpected<Error> IncomingFile::failed() const {
  return fail_errno((depot_->folder() / partial_).string());
}

}  // namespace gantry::depot
