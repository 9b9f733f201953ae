#include "store/pack_sync.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "base/fd.hpp"

namespace gantry::store {

Result<> sync_to_disk(const std::filesystem::path& path) {
  // The name comes from an agent: what is no plain file must not be followed, or waited for.
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!fd && errno == ENOENT) return {};
  if (!fd || ::fsync(fd.get()) != 0) return fail_errno(path.string());
  return {};
}

Result<> PackSync::sync(const std::vector<std::pair<RunId, Event>>& events) {
  std::set<std::string> packs;
  for (const auto& [run, event] : events) {
    const auto* ended = std::get_if<AttemptEnded>(&event);
    if (ended == nullptr) continue;
    for (const auto* pack : {&ended->report.out.pack, &ended->report.err.pack})
      if (!pack->empty()) packs.insert(*pack);
  }
  for (const auto& pack : packs) {
    const auto path = state_dir_ / "output" / pack;
    TRY(sync_(path));
    if (named_.contains(pack)) continue;
    TRY(sync_name(path));
    named_.insert(pack);
  }
  return {};
}

/// The folders in which the pack is found, up to the state directory.
Result<> PackSync::sync_name(const std::filesystem::path& pack) {
  for (auto folder = pack.parent_path();
       folder != state_dir_.parent_path() && folder.has_relative_path();
       folder = folder.parent_path())
    TRY(sync_(folder));
  return {};
}

}  // namespace gantry::store
