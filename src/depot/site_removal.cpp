#include "depot/site_removal.hpp"

#include <sys/file.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "depot/depot.hpp"
#include "depot/folder_tools.hpp"

namespace gantry::depot {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr std::string_view kProgram = "gantry-agent-";
constexpr std::string_view kCheckHolder = "check-";
/// An idle agent goes when its gantry does, but not in no time.
constexpr int kLooks = 20;
constexpr auto kBetweenLooks = 100ms;

Result<std::vector<std::string>> names_in(int parent, const char* folder) {
  std::vector<std::string> names;
  TRY(for_each_entry(parent, folder, [&](int, const char* name) { names.emplace_back(name); }));
  std::ranges::sort(names);
  return names;
}

bool is_hex_pair(std::string_view name) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  return name.size() == 2 && name.find_first_not_of(kDigits) == name.npos;
}

/// What is not as Gantry makes it. Empty when all is.
Result<std::string> find_strange(int scratch) {
  TRY_ASSIGN(const auto top, names_in(scratch, "."));
  for (const auto& name : top)
    if (name != "bin" && name != "depot" && name != "work") return name;
  TRY_ASSIGN(const auto programs, names_in(scratch, "bin"));
  for (const auto& name : programs)
    if (!name.starts_with(kProgram)) return "bin/" + name;
  TRY_ASSIGN(const auto contents, names_in(scratch, "depot"));
  for (const auto& name : contents)
    if (!is_hex_pair(name) && name != "partial" && name != "pins") return "depot/" + name;
  TRY_ASSIGN(const auto holders, names_in(scratch, "work"));
  for (const auto& name : holders) {
    if (!is_plain_name(name)) return "work/" + name;
    TRY_ASSIGN(const auto parts, names_in(scratch, ("work/" + name).c_str()));
    for (const auto& part : parts)
      if (part != "hosts" && part != "run" && part != "spare" && part != "kept")
        return "work/" + name + "/" + part;
  }
  return std::string();
}

/// An agent, and every shepherd of one, holds the lock of its folder.
bool is_locked(int scratch, const std::string& path) {
  const UniqueFd lock(
      ::openat(scratch, path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  return lock && ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

Result<std::vector<std::string>> find_keeping(int scratch) {
  std::vector<std::string> keeping;
  TRY_ASSIGN(const auto holders, names_in(scratch, "work"));
  for (const auto& holder : holders) {
    TRY_ASSIGN(const auto kept, names_in(scratch, ("work/" + holder + "/kept").c_str()));
    if (!kept.empty()) keeping.push_back(holder);
  }
  return keeping;
}

Result<std::vector<std::string>> find_alive(int scratch) {
  std::vector<std::string> alive;
  TRY_ASSIGN(const auto holders, names_in(scratch, "work"));
  for (const auto& holder : holders) {
    const std::string folder = "work/" + holder + "/hosts";
    TRY_ASSIGN(const auto hosts, names_in(scratch, folder.c_str()));
    for (const auto& host : hosts)
      if (is_locked(scratch, folder + "/" + host + "/agent/lock"))
        alive.push_back(holder + " " + host);
  }
  return alive;
}

/// Files with several names count once for all of them.
void count_below(int parent, const char* name, SiteRemoval& removal) {
  struct stat info {};
  if (::fstatat(parent, name, &info, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (!S_ISDIR(info.st_mode)) {
    ++removal.files;
    removal.bytes += static_cast<std::uint64_t>(info.st_size) / std::max<nlink_t>(info.st_nlink, 1);
    return;
  }
  static_cast<void>(for_each_entry(
      parent, name, [&](int folder, const char* entry) { count_below(folder, entry, removal); }));
}

Result<> remove_counted(int parent, const std::string& name, SiteRemoval& removal) {
  count_below(parent, name.c_str(), removal);
  return remove_tree(parent, name);
}

/// A folder that was never used before is left as it was found.
void take_program_back(int scratch) {
  if (::faccessat(scratch, "work", F_OK, 0) == 0 || ::faccessat(scratch, "depot", F_OK, 0) == 0)
    return;
  std::error_code error;
  const fs::path self = fs::read_symlink("/proc/self/exe", error);
  if (error || !self.filename().string().starts_with(kProgram)) return;
  ::unlinkat(scratch, ("bin/" + self.filename().string()).c_str(), 0);
  ::unlinkat(scratch, "bin", AT_REMOVEDIR);
}

Result<UniqueFd> open_scratch(const fs::path& scratch) {
  return open_file(scratch, O_RDONLY | O_DIRECTORY);
}

}  // namespace

Result<SiteLook> look_at_site(const fs::path& scratch) {
  TRY_ASSIGN(const UniqueFd folder, open_scratch(scratch));
  SiteLook look;
  TRY_ASSIGN(look.strange, find_strange(folder.get()));
  if (!look.strange.empty()) return look;
  TRY_ASSIGN(look.keeping, find_keeping(folder.get()));
  for (int i = 0; i < kLooks; ++i) {
    if (i > 0) std::this_thread::sleep_for(kBetweenLooks);
    TRY_ASSIGN(look.alive, find_alive(folder.get()));
    if (look.alive.empty()) break;
  }
  return look;
}

Result<SiteRemoval> remove_site(const fs::path& scratch, std::string_view holder, bool all) {
  TRY_ASSIGN(const UniqueFd folder, open_scratch(scratch));
  const UniqueFd work(
      ::openat(folder.get(), "work", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  SiteRemoval removal;
  if (work) {
    TRY_ASSIGN(const auto holders, names_in(work.get(), "."));
    for (const auto& name : holders) {
      if (all || name == holder || name.starts_with(kCheckHolder))
        TRY(remove_counted(work.get(), name, removal));
      else
        ++removal.kept;
    }
  }
  for (const char* name : {"depot", "bin"}) TRY(remove_counted(folder.get(), name, removal));
  // Each only when it is empty now.
  ::unlinkat(folder.get(), "work", AT_REMOVEDIR);
  std::error_code error;
  const fs::path path = fs::canonical(scratch, error);
  if (!error) ::rmdir(path.c_str());
  return removal;
}

Result<> serve_removal(int in, int out, const fs::path& scratch, std::string_view holder,
                       bool all) {
  TRY_ASSIGN(const UniqueFd folder, open_scratch(scratch));
  TRY_ASSIGN(const SiteLook look, look_at_site(scratch));
  std::string said;
  for (const auto& agent : look.alive) said += "alive " + agent + "\n";
  for (const auto& name : look.keeping) said += "keeping " + name + "\n";
  if (!look.strange.empty()) said += "strange " + look.strange + "\n";
  if (!look.strange.empty()) take_program_back(folder.get());  // who asked goes when it is told
  TRY(write_all(out, said + "looked\n"));
  char word = 0;
  while (::read(in, &word, 1) < 0 && errno == EINTR) {
  }
  if (word != 'r' || !look.strange.empty()) return {};
  auto removal = remove_site(scratch, holder, all);
  struct stat info {};  // another host may have removed it already
  if (!removal && ::stat(scratch.c_str(), &info) != 0 && (errno == ENOENT || errno == ESTALE))
    removal = SiteRemoval{};
  if (!removal) return write_all(out, "failed " + removal.error().message + "\n");
  return write_all(out, "removed " + std::to_string(removal->bytes) + " " +
                            std::to_string(removal->files) + " " + std::to_string(removal->kept) +
                            "\n");
}

}  // namespace gantry::depot
