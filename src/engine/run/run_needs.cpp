// What tasks need. Where their memory is learnt: at first a slot's share, then what others like
// them took, and after a death of memory more than they had, up to the largest host.
#include <algorithm>
#include <cmath>

#include "engine/run/run.hpp"

namespace gantry::engine {

Resources Run::resources_of(TaskId task) const {
  const Resources declared = workload.resources_of(task);
  return workload.learns_memory && declared.learn_memory ? with_memory(task, declared) : declared;
}

TaskNeeds Run::needs_of(TaskId task) const {
  TaskNeeds needs = workload.needs_of(task);
  if (appetite.by_cost) {
    needs.cost = book.times().cost_of(task);
    if (const auto bytes = book.output_bytes(task)) needs.output_bytes = *bytes;
  }
  if (workload.learns_memory && needs.resources.learn_memory)
    needs.resources = with_memory(task, needs.resources);
  return needs;
}

Resources Run::with_memory(TaskId task, Resources declared) const {
  const MemoryRoom room = memory_room(task, declared);
  declared.learn_memory = false;
  declared.memory = std::min(book.memory().wanted(task, room.share), room.most);
  return declared;
}

MemoryRoom Run::memory_room(TaskId task, const Resources& declared) const {
  const auto is_limited = [](double depot) { return std::isfinite(depot); };
  const bool limited = std::ranges::any_of(grid.map.depots, is_limited);
  return grid.memory_room(declared, limited ? workload.files_of(task) : std::vector<FileId>{});
}

bool Run::gets_more_memory(TaskId task) const {
  const auto died_with = book.memory().died_with(task);
  return !died_with || resources_of(task).memory > *died_with;
}

void Run::renew_needs() {
  const auto refreshed = book.refresh();
  needs_changed |= refreshed.memory || (refreshed.outputs && appetite.by_cost);
  if (!std::exchange(needs_changed, false)) return;
  if (ready.sort_anew([this](TaskId task) { return needs_of(task); }, kSortedAnew)) changed = true;
}

void Run::use_new_costs() {
  for (auto& [id, state] : grid.hosts) {
    for (schedule::Ongoing& given : state.ongoing)
      if (given.run == run_id) given.cost = forecast::usable_cost(book.times().cost_of(given.task));
  }
  if (appetite.by_cost) {
    const auto needs = [this](TaskId task) { return needs_of(task); };
    if (ready.placeable() <= kSortedAnew)
      ready.sort_again(needs);
    else
      ready.sort_anew(needs, kSortedAnew);
  }
  changed = true;
}

}  // namespace gantry::engine
