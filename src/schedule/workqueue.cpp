#include "schedule/workqueue.hpp"

#include <queue>
#include <utility>

#include "schedule/depot_room.hpp"

namespace gantry::schedule {

namespace {

/// What is left of the world's classes while the plan is made.
class Rest {
 public:
  explicit Rest(const World& world)
      : world_(world), classes_(world.classes), taken_(classes_.size()) {}

  /// The class of the earliest task that the host can run, or nullptr. One whose files find no room
  /// at the moment is passed over: it would keep a host from tasks whose files are there.
  [[nodiscard]] const ReadyClass* next_for(const Host& host) const {
    const ReadyClass* best = nullptr;
    std::uint64_t best_place = 0;
    for (std::size_t i = 0; i < classes_.size(); ++i) {
      const auto& places = *classes_[i].places;
      if (taken_[i] == places.size()) continue;
      if (best != nullptr && places[taken_[i]] >= best_place) continue;
      const TaskNeeds& needs = *classes_[i].needs;
      if (!fits(world_, host, needs) || !has_room(world_, host.site, needs.files)) continue;
      best = &classes_[i];
      best_place = places[taken_[i]];
    }
    return best;
  }

  void take(const ReadyClass* task_class) {
    ++taken_[static_cast<std::size_t>(task_class - classes_.data())];
  }

 private:
  const World& world_;
  std::span<const ReadyClass> classes_;
  std::vector<std::size_t> taken_;
};

}  // namespace

void Workqueue::observe(const Event&) {}

Plan Workqueue::plan(const World& world) {
  const auto mean = world.run_times.mean();
  Rest rest(world);
  /// The next task's class if the host has room for it: nothing smaller overtakes it there.
  const auto choose = [&](const Host& host, Load load) -> const ReadyClass* {
    const ReadyClass* next = rest.next_for(host);
    return next != nullptr && admits(host, load, next->needs->resources, mean) ? next : nullptr;
  };

  // By load, then by place in `hosts`: the least loaded first. Most hosts are full most of the time
  // and are passed over until the next plan.
  using Entry = std::pair<Load, std::size_t>;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<>> by_load;
  for (std::size_t i = 0; i < world.hosts.size(); ++i)
    if (choose(*world.hosts[i].host, world.hosts[i].load) != nullptr)
      by_load.emplace(world.hosts[i].load, i);

  Plan plan;
  while (!by_load.empty()) {
    const auto [load, index] = by_load.top();
    by_load.pop();
    const Host& host = *world.hosts[index].host;
    const ReadyClass* next = choose(host, load);
    if (next == nullptr) continue;
    rest.take(next);
    plan.starts.push_back({next->id, host.id});
    by_load.emplace(load + share(host, next->needs->resources), index);
  }
  return plan;
}

}  // namespace gantry::schedule
