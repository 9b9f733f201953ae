// What tasks are given of a host's memory where that is learnt: at first a slot's share, then what
// others like them took, and after a death of memory more than they had, up to the largest host.
// What they write is learnt the same way.
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
    needs.cost = cost_of(task);
    if (learned_outputs.used().observations() > 0 && outputs_are_quick())
      needs.output_bytes = learned_outputs.expected(workload.features(task));
  }
  if (workload.learns_memory && needs.resources.learn_memory)
    needs.resources = with_memory(task, needs.resources);
  return needs;
}

bool Run::outputs_are_quick() const {
  return learned_outputs.used().family() != forecast::ModelFamily::neighbours ||
         workload.count <= forecast::LearnedCosts::kMostByNeighbours;
}

Resources Run::with_memory(TaskId task, Resources declared) const {
  const MemoryRoom room = memory_room(task, declared);
  declared.learn_memory = false;
  declared.memory = std::min(memory.wanted(task, room.share), room.most);
  return declared;
}

MemoryRoom Run::memory_room(TaskId task, const Resources& declared) const {
  const auto is_limited = [](double depot) { return std::isfinite(depot); };
  const bool limited = std::ranges::any_of(grid.map.depots, is_limited);
  return grid.memory_room(declared, limited ? workload.files_of(task) : std::vector<FileId>{});
}

void Run::observe_death(const AttemptReport& report, std::uint64_t given) {
  const TaskId task = report.key.task;
  if (report.cause != FailureCause::out_of_memory || !learns_memory_of(task)) return;
  // Whatever its host says of its limit: it shall not be tried with the same for ever.
  given = std::max(given, report.memory_limit);
  if (given == 0) given = resources_of(task).memory;
  const bool is_first = memory.died(task, given, report.usage.max_rss);
  // One that takes more and more says nothing of others after that.
  if (is_first && !replaying && learns()) memory.learn_death(task, given);
}

void Run::observe_memory(const AttemptReport& report) {
  const TaskId task = report.key.task;
  if (report.cause != FailureCause::none || !learns_memory_of(task)) return;
  memory.succeeded(task);
  const std::uint64_t used = report.usage.max_rss;
  if (replaying) {
    if (replayed_memory.size() == forecast::RunTimeModel::kKept) replayed_memory.pop_front();
    replayed_memory.emplace_back(task, used);
  } else if (learns()) {
    memory.learn_use(task, used);
  }
}

void Run::learn_replayed_memory() {
  const auto replayed = std::exchange(replayed_memory, {});
  // What is kept has seen these, too, but for the last minute of a gantry that was killed: counted
  // twice, each would seem to foretell the other.
  if (memory.learned().seen() > 0) return;
  for (const auto& [task, bytes] : replayed) memory.learn_use(task, bytes);
}

bool Run::gets_more_memory(TaskId task) const {
  const auto died_with = memory.died_with(task);
  return !died_with || resources_of(task).memory > *died_with;
}

void Run::observe_outputs(const AttemptEnded& event) {
  if (event.report.cause != FailureCause::none || !event.output_bytes || !learns()) return;
  if (workload.output_bytes || !workload.features) return;  // they are known, or cannot be
  learned_outputs.observe(workload.features(event.report.key.task), *event.output_bytes);
}

void Run::renew_needs() {
  if (learns() && memory.refresh()) needs_changed = true;
  if (learns() && learned_outputs.is_due()) {
    learned_outputs.refresh();
    needs_changed |= appetite.by_cost;
  }
  if (!std::exchange(needs_changed, false)) return;
  if (ready.sort_anew([this](TaskId task) { return needs_of(task); }, kSortedAnew)) changed = true;
}

}  // namespace gantry::engine
