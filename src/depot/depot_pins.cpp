// What keeps files in a depot (pins), and what is not kept for ever (partial files).

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "depot/depot.hpp"
#include "depot/folder_tools.hpp"

namespace gantry::depot {

namespace {

bool is_older(const struct stat& info, Duration age) {
  return to_ns(RealClock().now()) - to_ns(info.st_mtim) > age.count();
}

/// (folder of the holder, its name) of all whose pins have not lapsed.
template <class Visit>
void for_each_holder(int depot, const Visit& visit) {
  const auto visited = for_each_entry(depot, "pins", [&](int pins, const char* holder) {
    struct stat info {};
    if (::fstatat(pins, holder, &info, AT_SYMLINK_NOFOLLOW) != 0 || is_older(info, kPinLease))
      return;
    visit(pins, holder);
  });
  (void)visited;  // pins that cannot be read hold nothing
}

Result<> check_holder(std::string_view holder) {
  if (is_plain_name(holder)) return {};
  return fail(ErrorCode::usage, "'" + std::string(holder) + "' cannot be the name of a holder");
}

}  // namespace

Result<> Depot::pin(const Digest& content, std::string_view holder) {
  TRY(check_holder(holder));
  const std::string folder = "pins/" + std::string(holder);
  const std::string name = folder + "/" + content.hex();
  for (int attempt = 0;; ++attempt) {
    const UniqueFd file(::openat(fd(), name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    if (file) break;
    if (errno != ENOENT || attempt > 0) return fail_errno((folder_ / name).string());
    if (::mkdirat(fd(), folder.c_str(), 0777) != 0 && errno != EEXIST)
      return fail_errno((folder_ / folder).string());
  }
  set_used(name_of(content));  // whoever has chosen it for eviction sees that
  return renew(holder);
}

Result<> Depot::renew(std::string_view holder) {
  TRY(check_holder(holder));
  const std::string folder = "pins/" + std::string(holder);
  if (::utimensat(fd(), folder.c_str(), nullptr, AT_SYMLINK_NOFOLLOW) != 0 && errno != ENOENT)
    return fail_errno((folder_ / folder).string());
  return {};
}

Result<> Depot::release(std::string_view holder) {
  TRY(check_holder(holder));
  TRY_ASSIGN(const UniqueFd pins, open_file(folder_ / "pins", O_RDONLY | O_DIRECTORY));
  return remove_tree(pins.get(), std::string(holder));
}

std::set<Digest> Depot::pinned() const {
  std::set<Digest> held;
  for_each_holder(fd(), [&](int pins, const char* holder) {
    const auto read = for_each_entry(pins, holder, [&](int, const char* name) {
      if (const auto content = Digest::from_hex(name)) held.insert(*content);
    });
    (void)read;  // released meanwhile
  });
  return held;
}

bool Depot::is_pinned(const Digest& content) const {
  bool found = false;
  for_each_holder(fd(), [&](int pins, const char* holder) {
    const std::string name = std::string(holder) + "/" + content.hex();
    found = found || ::faccessat(pins, name.c_str(), F_OK, 0) == 0;
  });
  return found;
}

void Depot::remove_old_partials() {
  const auto read = for_each_entry(fd(), "partial", [&](int folder, const char* name) {
    struct stat info {};
    if (::fstatat(folder, name, &info, AT_SYMLINK_NOFOLLOW) == 0 && is_older(info, kPartialLease))
      ::unlinkat(folder, name, 0);
  });
  (void)read;  // next time
}

}  // namespace gantry::depot
