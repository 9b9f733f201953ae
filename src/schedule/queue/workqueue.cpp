#include "schedule/queue/workqueue.hpp"

#include <queue>
#include <utility>

#include "schedule/depot_room.hpp"

namespace gantry::schedule {

namespace {

/// The class of the earliest task that the host can run, of those that are not `taken`; or nullptr.
/// One whose files find no room at the moment is passed over: it would keep a host from tasks whose
/// files are there.
const ReadyClass* next_for(const Host& host, const World& world,
                           const std::vector<std::size_t>& taken) {
  const ReadyClass* best = nullptr;
  std::uint64_t best_place = 0;
  for (std::size_t i = 0; i < world.classes.size(); ++i) {
    const auto& places = *world.classes[i].places;
    if (taken[i] == places.size()) continue;
    if (best != nullptr && places[taken[i]] >= best_place) continue;
    const TaskNeeds& needs = *world.classes[i].needs;
    if (!fits(world, host, needs) || !has_room(world, host.site, needs.files)) continue;
    best = &world.classes[i];
    best_place = places[taken[i]];
  }
  return best;
}

}  // namespace

HandedOut hand_out(const World& world) {
  const auto mean = mean_run_time(world);
  const bool none_ahead = queue_ahead(1, mean) == 0;
  HandedOut out{.starts = {}, .loads = {}, .taken = std::vector<std::size_t>(world.classes.size())};
  for (const HostLoad& each : world.hosts) out.loads.push_back(each.load);
  /// The next task's class if the host has room for it: nothing smaller overtakes it there.
  const auto choose = [&](std::size_t index) -> const ReadyClass* {
    // Where nothing waits at hosts, one that is full has no room, whatever is next.
    if (none_ahead && out.loads[index] >= kFull) return nullptr;
    const Host& host = *world.hosts[index].host;
    const ReadyClass* next = next_for(host, world, out.taken);
    const bool room =
        next != nullptr && admits(host, out.loads[index], next->needs->resources, mean);
    return room ? next : nullptr;
  };

  // By load, then by place in `hosts`: the least loaded first. Most hosts are full most of the time
  // and are passed over until the next plan.
  using Entry = std::pair<Load, std::size_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> by_load;
  for (std::size_t i = 0; i < world.hosts.size(); ++i)
    if (choose(i) != nullptr) by_load.emplace(out.loads[i], i);

  while (!by_load.empty() && out.starts.size() < world.turn) {
    const std::size_t index = by_load.top().second;
    by_load.pop();
    const ReadyClass* next = choose(index);
    if (next == nullptr) continue;
    const Host& host = *world.hosts[index].host;
    ++out.taken[static_cast<std::size_t>(next - world.classes.data())];
    out.starts.push_back({next->id, host.id});
    out.loads[index] += share(host, next->needs->resources);
    by_load.emplace(out.loads[index], index);
  }
  return out;
}

bool has_work_for(const Host& host, const World& world, const HandedOut& out) {
  for (std::size_t i = 0; i < world.classes.size(); ++i)
    if (out.taken[i] < world.classes[i].places->size() &&
        fits(world, host, *world.classes[i].needs))
      return true;
  return false;
}

void Workqueue::observe(const Event&) {}

Plan Workqueue::plan(const World& world) {
  return {.starts = hand_out(world).starts};
}

}  // namespace gantry::schedule
