// What tasks are given of a host's memory where that is learnt: at first a slot's share, then what
// others like them took, and after a death of memory more than they had, up to the largest host.
// What they write is learnt the same way.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/run/run.hpp"
#include "model/quantity.hpp"
#include "schedule/packing.hpp"

namespace gantry::engine {

namespace {
/// Where nobody knows what hosts have: at a batch system with a job for each task.
constexpr std::uint64_t kUnknownShare = std::uint64_t{1} << 30U;
constexpr std::uint64_t kAnyAmount = std::uint64_t{1} << 50U;

std::uint64_t whole_mib(std::uint64_t bytes) {
  constexpr std::uint64_t kMib = std::uint64_t{1} << 20U;
  return bytes < kMib ? bytes : bytes / kMib * kMib;
}

/// What a host gives to a task of so many cores. A batch system that refused so much may have a
/// little less: a step of forecast::coarse_memory.
std::uint64_t memory_for(const Host& host, std::uint32_t cores) {
  std::uint64_t most = host.memory;
  for (const Refusal& refusal : host.refusals)
    if (cores >= refusal.cores) most = std::min(most, refusal.memory / 19 * 16);
  return whole_mib(most);
}
}  // namespace

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
  declared.memory = learned_memory.need(workload.features(task)).value_or(room.share);
  if (const auto died = died_of_memory.find(task); died != died_of_memory.end())
    declared.memory = std::max(declared.memory, died->second.wanted);
  declared.memory = std::min(declared.memory, room.most);
  return declared;
}

MemoryRoom Run::memory_room(TaskId task, const Resources& declared) const {
  const auto is_limited = [](double depot) { return std::isfinite(depot); };
  if (std::ranges::any_of(grid.map.depots, is_limited))
    return look_for_room(declared, workload.files_of(task));
  const auto [known, is_new] = rooms.try_emplace({declared.cores, declared.walltime});
  if (is_new) known->second = look_for_room(declared, {});
  return known->second;
}

MemoryRoom Run::look_for_room(const Resources& declared, std::span<const FileId> read) const {
  const std::uint32_t cores = std::max(declared.cores, 1U);
  MemoryRoom room{.share = std::numeric_limits<std::uint64_t>::max()};
  for (const schedule::HostLoad& load : grid.working()) {
    const Host& host = *load.host;
    const std::uint32_t slots = schedule::slots(host, declared);
    if (slots == 0 || !schedule::is_lent_long_enough(host, declared)) continue;
    if (!grid.depot_holds(host.site, read)) continue;
    const std::uint64_t here = memory_for(host, cores);
    // It does not refuse for the memory.
    constexpr std::uint64_t kLeast = forecast::LearnedMemory::kLeast;
    if (here < kLeast && !host.refusals.empty()) continue;
    const std::uint64_t share = here < kAnyAmount ? whole_mib(here / slots) : kUnknownShare * cores;
    room.share = std::min({room.share, std::max(share, kLeast), here});
    if (room.largest.empty() || here > room.most) room.largest = host.name;
    room.most = std::max(room.most, here);
  }
  if (!room.largest.empty()) return room;
  return {.share = kUnknownShare * cores, .most = std::numeric_limits<std::uint64_t>::max()};
}

void Run::observe_death(const AttemptReport& report, std::uint64_t given) {
  const TaskId task = report.key.task;
  if (report.cause != FailureCause::out_of_memory || !learns_memory_of(task)) return;
  // Whatever its host says of its limit: it shall not be tried with the same for ever.
  given = std::max(given, report.memory_limit);
  if (given == 0) given = resources_of(task).memory;
  const auto [found, is_first] = died_of_memory.try_emplace(task);
  DiedOfMemory& died = found->second;
  died.given = std::max(died.given, given);
  died.wanted = std::max(died.wanted, forecast::more_memory(died.given, report.usage.max_rss));
  // One that takes more and more says nothing of others after that.
  if (is_first && !replaying && learns()) learned_memory.died(workload.features(task), given);
}

void Run::observe_memory(const AttemptReport& report) {
  const TaskId task = report.key.task;
  if (report.cause != FailureCause::none || !learns_memory_of(task)) return;
  const std::uint64_t used = report.usage.max_rss;
  died_of_memory.erase(task);
  if (!replaying) {
    if (learns()) learned_memory.observe(workload.features(task), used);
    return;
  }
  constexpr std::size_t kRing = forecast::RunTimeModel::kKept;
  if (replayed_memory.size() < kRing)
    replayed_memory.emplace_back(task, used);
  else
    replayed_memory[replayed_memories % kRing] = {task, used};
  ++replayed_memories;
}

void Run::learn_replayed_memory() {
  const auto replayed = std::exchange(replayed_memory, {});
  // What is kept has seen these, too, but for the last minute of a gantry that was killed: counted
  // twice, each would seem to foretell the other.
  if (learned_memory.seen() > 0) return;
  for (const auto& [task, bytes] : replayed) learned_memory.observe(workload.features(task), bytes);
}

bool Run::gets_more_memory(TaskId task) const {
  const auto died = died_of_memory.find(task);
  return died == died_of_memory.end() || resources_of(task).memory > died->second.given;
}

void Run::observe_outputs(const AttemptEnded& event) {
  if (event.report.cause != FailureCause::none || !event.output_bytes || !learns()) return;
  if (workload.output_bytes || !workload.features) return;  // they are known, or cannot be
  learned_outputs.observe(workload.features(event.report.key.task), *event.output_bytes);
}

void Run::renew_needs() {
  if (learns() && learned_memory.is_due()) {
    learned_memory.refresh();
    needs_changed = true;
  }
  if (learns() && learned_outputs.is_due()) {
    learned_outputs.refresh();
    needs_changed |= appetite.by_cost;
  }
  if (!std::exchange(needs_changed, false)) return;
  if (ready.sort_anew([this](TaskId task) { return needs_of(task); }, kSortedAnew)) changed = true;
}

GivenMemory Run::gives_memory(TaskId task, const Resources& resources) const {
  GivenMemory given{.bytes = resources.memory};
  if (learned_memory.need(workload.features(task)))
    given.learnt_from = learned_memory.used().observations();
  if (const auto died = died_of_memory.find(task); died != died_of_memory.end())
    given.died_with = died->second.given;
  return given;
}

}  // namespace gantry::engine
