#include "depot/depot.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "depot/file_tools.hpp"
#include "depot/folder_tools.hpp"

namespace gantry::depot {

namespace {

constexpr unsigned kReadable = 0444;
constexpr unsigned kExecutable = 0555;

/// In whole seconds, which every file system keeps, in a fortnight of 2001: nothing that is
/// written now gets such a time.
std::int64_t stamp_for(const Digest& content, std::uint64_t bytes) {
  constexpr std::int64_t kFirst = 978'307'200;
  constexpr int kBits = 20;
  const std::uint64_t mixed = (content.low + bytes) * 0x9E37'79B9'7F4A'7C15U;
  return kFirst + static_cast<std::int64_t>(mixed >> (64 - kBits));
}

bool is_untouched(const Digest& content, const struct stat& info) {
  return S_ISREG(info.st_mode) &&
         info.st_mtim.tv_sec == stamp_for(content, static_cast<std::uint64_t>(info.st_size));
}

Result<> set_stamp(int file, const Digest& content, std::uint64_t bytes) {
  timespec times[2] = {};
  times[0].tv_nsec = UTIME_NOW;
  times[1].tv_sec = stamp_for(content, bytes);
  if (::futimens(file, times) != 0) return fail_errno("setting the time of " + content.hex());
  return {};
}

/// Who may read it may read it, and nobody may write to it.
mode_t read_only(mode_t mode, bool executable) {
  mode &= kReadable;
  return executable ? mode | mode >> 2U : mode;
}

tl::unexpected<Error> is_gone(const Digest& content) {
  return fail(ErrorCode::gone, "the file " + content.hex() + " is not in the depot (any more)");
}
tl::unexpected<Error> is_corrupt(const Digest& content) {
  return fail(ErrorCode::corrupt, "the depot's file " + content.hex() +
                                      " was changed by somebody or damaged; it has been removed");
}

}  // namespace

bool is_plain_name(std::string_view name) {
  constexpr std::size_t kLongest = 64;
  return !name.empty() && name.size() <= kLongest && name[0] != '.' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                  c == '-' || c == '_' || c == '.';
         });
}

Result<Depot> Depot::open(const std::filesystem::path& scratch, std::uint64_t quota) {
  const std::filesystem::path folder = scratch / "depot";
  TRY(make_parents(folder / "partial/"));
  TRY_ASSIGN(UniqueFd fd, open_file(folder, O_RDONLY | O_DIRECTORY));
  return Depot(std::filesystem::absolute(folder), std::move(fd), quota);
}

std::string Depot::name_of(const Digest& content) {
  std::string name = content.hex();
  name.insert(2, 1, '/');
  return name;
}

Result<> Depot::check(const Digest& content) {
  struct stat info {};
  if (::fstatat(fd(), name_of(content).c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    if (errno == ENOENT) return is_gone(content);
    return fail_errno((folder_ / name_of(content)).string());
  }
  if (is_untouched(content, info)) return {};
  return verify(content);
}

Result<> Depot::verify(const Digest& content) {
  auto verified = verify_and_stamp(content);
  if (!verified && verified.error().code == ErrorCode::corrupt)
    ::unlinkat(fd(), name_of(content).c_str(), 0);
  return verified;
}

Result<> Depot::verify_and_stamp(const Digest& content) {
  const UniqueFd file(
      ::openat(fd(), name_of(content).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file && errno == ENOENT) return is_gone(content);
  if (!file && errno == ELOOP) return is_corrupt(content);
  if (!file) return fail_errno((folder_ / name_of(content)).string());
  struct stat before {};
  struct stat after {};
  if (::fstat(file.get(), &before) != 0) return fail_errno("fstat");
  TRY_ASSIGN(const Digest found, hash_of(file.get()));
  if (::fstat(file.get(), &after) != 0) return fail_errno("fstat");
  // Written to while we read: it may be anything by now.
  if (found != content || to_ns(before.st_mtim) != to_ns(after.st_mtim)) return is_corrupt(content);
  if (is_untouched(content, after)) return {};
  return set_stamp(file.get(), content, static_cast<std::uint64_t>(after.st_size));
}

bool Depot::is_spoilt(const Digest& content, const std::filesystem::path& path,
                      ino_t linked) const {
  struct stat info {};
  if (linked == 0) return false;
  if (::lstat(path.c_str(), &info) == 0 && info.st_ino == linked)
    return !is_untouched(content, info);
  if (::fstatat(fd(), name_of(content).c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
      info.st_ino == linked)
    return !is_untouched(content, info);
  return true;  // what it read has neither name any more
}

Result<ino_t> Depot::link_into(const Digest& content, const std::filesystem::path& path,
                               bool executable) {
  TRY(check(content));
  const std::string name = name_of(content);
  if (executable) make_executable(name);
  TRY(make_parents(path));
  const std::string beside =
      (path.parent_path() / (".gantry-" + std::to_string(::getpid()))).string();
  ::unlink(beside.c_str());
  struct stat info {};
  if (::linkat(fd(), name.c_str(), AT_FDCWD, beside.c_str(), 0) == 0) {
    set_used(name);
    if (::lstat(beside.c_str(), &info) != 0) return fail_errno(beside);
  } else {
    if (errno == ENOENT) return is_gone(content);
    // EXDEV, EMLINK, EPERM, or whatever this file system says instead: a copy says what is wrong.
    auto copied = copy_verified((folder_ / name).string(), content, beside,
                                executable ? kExecutable : kReadable);
    if (!copied && copied.error().code == ErrorCode::corrupt) {
      ::unlinkat(fd(), name.c_str(), 0);
      return is_corrupt(content);
    }
    TRY(std::move(copied));
    set_used(name);
  }
  if (::rename(beside.c_str(), path.c_str()) != 0) {
    auto failed = fail_errno(path.string());
    ::unlink(beside.c_str());
    return failed;
  }
  ::unlink(beside.c_str());  // rename does nothing when both are the same file already
  return info.st_ino;
}

Result<> Depot::keep(const Digest& content, bool executable) {
  const std::string name = name_of(content);
  if (executable) make_executable(name);
  set_used(name);
  return {};
}

Result<> Depot::store(const Digest& content, std::string_view bytes, bool executable) {
  if (hash_bytes(bytes) != content) {
    return fail(ErrorCode::corrupt, "the content that arrived is not that of " + content.hex());
  }
  const std::string name = name_of(content);
  struct stat info {};
  if (::fstatat(fd(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
      is_untouched(content, info)) {
    return keep(content, executable);
  }
  TRY(make_room(bytes.size()));
  const std::string partial = "partial/" + content.hex() + ".whole-" + std::to_string(::getpid());
  const auto write = [&]() -> Result<> {
    const UniqueFd file(::openat(fd(), partial.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
                                 executable ? kExecutable : kReadable));
    if (!file) return fail_errno((folder_ / partial).string());
    TRY(write_all(file.get(), bytes));
    return admit(content, file.get(), partial, executable);
  };
  auto written = write();
  if (!written) {
    ::unlinkat(fd(), partial.c_str(), 0);
    give_back(bytes.size());
  }
  return written;
}

Result<> Depot::admit(const Digest& content, int file, const std::string& partial,
                      bool executable) {
  struct stat info {};
  if (::fstat(file, &info) != 0) return fail_errno("fstat");
  const mode_t mode = read_only(info.st_mode, executable);
  if (mode != (info.st_mode & 07777U) && ::fchmod(file, mode) != 0) return fail_errno("fchmod");
  TRY(set_stamp(file, content, static_cast<std::uint64_t>(info.st_size)));
  const std::string name = name_of(content);
  if (::renameat(fd(), partial.c_str(), fd(), name.c_str()) == 0) return {};
  if (errno != ENOENT) return fail_errno((folder_ / name).string());
  if (::mkdirat(fd(), name.substr(0, 2).c_str(), 0777) != 0 && errno != EEXIST)
    return fail_errno((folder_ / name).parent_path().string());
  if (::renameat(fd(), partial.c_str(), fd(), name.c_str()) != 0)
    return fail_errno((folder_ / name).string());
  return {};
}

Result<> Depot::remove(const Digest& content) {
  const std::string name = name_of(content);
  struct stat info {};
  if (::fstatat(fd(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return {};
  if (info.st_nlink > 1)
    return fail(ErrorCode::busy, "the depot's file " + content.hex() + " is in use");
  if (::unlinkat(fd(), name.c_str(), 0) != 0 && errno != ENOENT)
    return fail_errno((folder_ / name).string());
  give_back(static_cast<std::uint64_t>(info.st_size));
  return {};
}

template <class Visit>
Result<> Depot::for_each_file(const Visit& visit) const {
  static constexpr char kHex[] = "0123456789abcdef";
  for (int i = 0; i < 256; ++i) {
    const std::string part{kHex[i / 16], kHex[i % 16]};
    TRY(for_each_entry(fd(), part.c_str(), [&](int folder, const char* name) {
      const auto content = Digest::from_hex(part + name);
      struct stat info {};
      if (content && ::fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0)
        visit(*content, info);
    }));
  }
  return {};
}

Result<std::vector<StoredFile>> Depot::list() const {
  std::vector<StoredFile> files;
  TRY(for_each_file([&](const Digest& content, const struct stat& info) {
    if (is_untouched(content, info))
      files.push_back({content, static_cast<std::uint64_t>(info.st_size)});
  }));
  std::sort(files.begin(), files.end(),
            [](const StoredFile& a, const StoredFile& b) { return a.content < b.content; });
  return files;
}

void Depot::set_used(const std::string& name) {
  timespec times[2] = {};
  times[0].tv_nsec = UTIME_NOW;
  times[1].tv_nsec = UTIME_OMIT;
  ::utimensat(fd(), name.c_str(), times,
              AT_SYMLINK_NOFOLLOW);  // one not counted as used is no harm
}

void Depot::make_executable(const std::string& name) {
  struct stat info {};
  if (::fstatat(fd(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return;
  // As readable as it is, so executable. Others who have it as data are not disturbed by that.
  const mode_t mode = info.st_mode & 0777U;
  const mode_t wanted = mode | ((mode & 0444U) >> 2U);
  if (mode != wanted) ::fchmodat(fd(), name.c_str(), wanted, 0);
}

// Room.
// ---------------------------------------------------------------------------------------------

Result<> Depot::survey() {
  used_ = 0;
  added_ = 0;
  evictable_.clear();
  TRY(for_each_file([&](const Digest& content, const struct stat& info) {
    const auto bytes = static_cast<std::uint64_t>(info.st_size);
    used_ += bytes;
    if (info.st_nlink == 1) evictable_.push_back({{content, bytes}, info.st_atim});
  }));
  TRY(for_each_entry(fd(), "partial", [&](int folder, const char* name) {
    struct stat info {};
    if (::fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0)
      used_ += static_cast<std::uint64_t>(info.st_size);
  }));
  std::sort(evictable_.begin(), evictable_.end(), [](const Used& a, const Used& b) {
    return std::pair(to_ns(a.last), a.file.content) > std::pair(to_ns(b.last), b.file.content);
  });
  surveyed_ = true;
  return {};
}

bool Depot::evict_next() {
  while (!evictable_.empty()) {
    const Used next = evictable_.back();
    evictable_.pop_back();
    const std::string name = name_of(next.file.content);
    struct stat info {};
    if (::fstatat(fd(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    // Used since the survey.
    if (info.st_nlink > 1 || to_ns(info.st_atim) != to_ns(next.last)) continue;
    if (::unlinkat(fd(), name.c_str(), 0) != 0) continue;
    give_back(next.file.bytes);
    return true;
  }
  return false;
}

Result<> Depot::make_room(std::uint64_t bytes) {
  if (quota_ == 0) return {};
  // Others fill the same depot: look again now and then, and before anything is refused.
  constexpr std::uint64_t kSurveysInAQuota = 16;
  bool fresh = false;
  if (!surveyed_ || added_ > quota_ / kSurveysInAQuota) {
    TRY(survey());
    fresh = true;
  }
  while (bytes > quota_ || used_ > quota_ - bytes) {
    if (bytes <= quota_ && evict_next()) continue;
    if (fresh || bytes > quota_) {
      return fail(ErrorCode::io,
                  "no room for " + std::to_string(bytes) + " bytes: the depot may hold " +
                      std::to_string(quota_) + " bytes, and what is there is in use",
                  "give the site's depot a larger limit");
    }
    TRY(survey());
    fresh = true;
  }
  used_ += bytes;
  added_ += bytes;
  return {};
}

void Depot::give_back(std::uint64_t bytes) {
  used_ -= std::min(used_, bytes);
}

void Depot::remove_old_partials() {
  const std::int64_t now = to_ns(RealClock().now());
  const auto read = for_each_entry(fd(), "partial", [&](int folder, const char* name) {
    struct stat info {};
    if (::fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
        now - to_ns(info.st_mtim) > kPartialLease.count())
      ::unlinkat(folder, name, 0);
  });
  (void)read;  // next time
}

}  // namespace gantry::depot
