#include "schedule/queue/dealt.hpp"

#include <utility>
#include <variant>

#include "schedule/depot_room.hpp"
#include "schedule/numbered_world.hpp"

namespace gantry::schedule {

void Dealt::observe(const Event& event) {
  if (std::holds_alternative<HostUp>(event) || std::holds_alternative<HostDraining>(event) ||
      std::holds_alternative<HostDown>(event))
    deal_anew_ = true;
}

const Host* Dealt::next_host(const World& world, const TaskNeeds& needs) {
  const std::size_t count = world.hosts.size();
  std::size_t first = deal_ == Deal::in_turn ? turn_ : static_cast<std::size_t>(random_());
  for (std::size_t i = 0; i < count; ++i, ++first) {
    const Host* host = world.hosts[first % count].host;
    if (!fits(world, *host, needs) || is_barred(world, host->site, needs.files)) continue;
    turn_ = first % count + 1;
    return host;
  }
  return nullptr;
}

void Dealt::deal_new(const World& world) {
  for (const ReadyClass& ready : world.classes) {
    std::size_t& dealt = dealt_[ready.id];
    for (; dealt < ready.places->size(); ++dealt) {
      const Host* host = next_host(world, *ready.needs);
      if (host == nullptr) break;
      queues_[host->id].push_back(ready.id);
    }
  }
}

Plan Dealt::plan(const World& world) {
  // A refusal means that the world is not what was thought.
  if (deal_anew_ || is_plan_broken(world.refused) || std::exchange(barred_, world.barred)) {
    queues_.clear();
    dealt_.clear();
    deal_anew_ = false;
  }
  deal_new(world);
  Plan plan;
  std::map<ClassId, std::size_t> taken;
  const auto mean = mean_run_time(world);
  for (const HostLoad& load : world.hosts) {
    auto& queue = queues_[load.host->id];
    Load used = load.load;
    while (!queue.empty()) {
      const ClassId id = queue.front();
      const ReadyClass* ready = find_class(world, id);
      if (ready != nullptr && taken[id] < ready->places->size()) {
        if (plan.starts.size() == world.turn) break;
        if (!admits(*load.host, used, ready->needs->resources, mean)) break;
        ++taken[id];
        used += share(*load.host, ready->needs->resources);
        plan.starts.push_back({id, load.host->id});
      }  // else it was cancelled, or came to an end elsewhere
      if (auto dealt = dealt_.find(id); dealt != dealt_.end() && --dealt->second == 0)
        dealt_.erase(dealt);
      queue.pop_front();
    }
  }
  return plan;
}

}  // namespace gantry::schedule
