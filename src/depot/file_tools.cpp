#include "depot/file_tools.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

namespace gantry::depot {

namespace {

constexpr std::size_t kReadAtOnce = std::size_t{1} << 18;

/// (bytes) for all pieces of the file, in order; `what` is said in the error.
template <class Take>
Result<> read_through(int file, std::string_view what, const Take& take) {
  const auto buffer = std::make_unique_for_overwrite<char[]>(kReadAtOnce);
  for (off_t at = 0;;) {
    const ssize_t n = ::pread(file, buffer.get(), kReadAtOnce, at);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return fail_errno(what);
    if (n == 0) return {};
    TRY(take(std::string_view(buffer.get(), static_cast<std::size_t>(n))));
    at += n;
  }
}

tl::unexpected<Error> not_opened(const std::string& path) {
  const bool gone = errno == ENOENT;
  auto failed = fail_errno(path);
  if (gone) failed.value().code = ErrorCode::gone;
  return failed;
}

}  // namespace

Result<Digest> hash_of(int file) {
  Hasher hasher;
  TRY(read_through(file, "reading a file of the depot", [&](std::string_view bytes) -> Result<> {
    hasher.add_raw(bytes);
    return {};
  }));
  return hasher.digest();
}

Result<> make_parents(const std::filesystem::path& path) {
  if (!path.has_parent_path()) return {};
  std::error_code error;
  std::filesystem::create_directories(path.parent_path(), error);
  if (error) return fail(ErrorCode::io, path.parent_path().string() + ": " + error.message());
  return {};
}

Result<> copy_verified(const std::string& from, const Digest& content, const std::string& to,
                       unsigned mode) {
  TRY_ASSIGN(const UniqueFd source, open_file(from, O_RDONLY | O_NOFOLLOW));
  const auto copied = copy_to(source.get(), to, mode);
  if (copied && *copied == content) return {};
  ::unlink(to.c_str());
  TRY(copied);
  return fail(ErrorCode::corrupt, from + " has another content than its name says");
}

Result<Digest> copy_to(int from, const std::string& to, unsigned mode) {
  TRY_ASSIGN(const UniqueFd target, open_file(to, O_WRONLY | O_CREAT | O_EXCL, mode));
  Hasher hasher;
  TRY(read_through(from, to, [&](std::string_view bytes) {
    hasher.add_raw(bytes);
    return write_all(target.get(), bytes);
  }));
  return hasher.digest();
}

bool is_below(std::string_view path) {
  constexpr std::size_t kLongest = 4096;
  if (path.empty() || path.size() > kLongest || path.find('\0') != std::string_view::npos)
    return false;
  while (true) {
    const std::size_t end = path.find('/');
    const std::string_view part = path.substr(0, end);
    if (part.empty() || part == "." || part == "..") return false;
    if (end == std::string_view::npos) return true;
    path.remove_prefix(end + 1);
  }
}

Result<UniqueFd> walk_below(int folder, const std::string& path, int flags) {
  UniqueFd at;
  for (std::size_t begin = 0;;) {
    const std::size_t end = path.find('/', begin);
    const std::string part = path.substr(begin, end - begin);
    const int how = end == std::string::npos ? flags : O_RDONLY | O_DIRECTORY;
    UniqueFd next(::openat(at ? at.get() : folder, part.c_str(), how | O_NOFOLLOW | O_CLOEXEC));
    if (!next) return not_opened(path);
    if (end == std::string::npos) return next;
    at = std::move(next);
    begin = end + 1;
  }
}

Result<UniqueFd> open_below(int folder, const std::string& path, int flags) {
  flags |= O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  const long fd = ::syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how);
  if (fd >= 0) return UniqueFd(static_cast<int>(fd));
  // Containers that do not know the call refuse it.
  if (errno == ENOSYS || errno == EPERM) return walk_below(folder, path, flags);
  if (errno == EXDEV) return fail(ErrorCode::usage, path + ": a link leads out of the work folder");
  return not_opened(path);
}

}  // namespace gantry::depot
