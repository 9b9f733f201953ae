// What others may ask of a run.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "engine/run/run.hpp"
#include "model/quantity.hpp"

namespace gantry::engine {

TaskState RunView::state(TaskId task) const {
  return run_->tasks[task].state;
}
bool RunView::awaits(const TaskKey& key, HostId host) const {
  return run_->awaits(key, host);
}
const Counts& RunView::counts() const {
  return run_->tasks.all();
}
std::uint64_t RunView::waiting_cores() const {
  if (!run_->draining.empty()) return 0;
  return std::uint64_t{run_->tasks.selected().pending} * std::max(run_->typical.cores, 1U);
}

bool RunView::uses(SiteId site) const {
  const auto is_there = [&](HostId id) {
    const HostState* host = run_->grid.find(id);
    return host != nullptr && host->host.site == site;
  };
  return run_->attempts.any_host(is_there) ||
         std::ranges::any_of(run_->staged,
                             [&](const auto& entry) { return is_there(entry.second.host); }) ||
         std::ranges::any_of(run_->attempts.missing(), [&](const auto& entry) {
           return entry.second == site && run_->tasks[entry.first.first].state != TaskState::done;
         });
}

bool RunView::uses(HostId host) const {
  return run_->attempts.any_host([&](HostId id) { return id == host; });
}

bool RunView::finished() const {
  return run_->finished();
}
const std::string& RunView::draining() const {
  return run_->draining;
}
Eta RunView::eta(TimePoint now) const {
  return run_->eta(now);
}
Duration RunView::expected(const TaskKey& key) const {
  const Outstanding* attempt = run_->attempts.find({key.task, key.attempt});
  return attempt == nullptr ? Duration{0} : attempt->expected;
}
RunId RunView::id() const {
  return run_->run_id;
}
const forecast::Bookkeeper& RunView::book() const {
  return run_->book;
}
std::vector<std::pair<TaskId, TimePoint>> RunView::retries(std::size_t most) const {
  return run_->retries.first(most);
}
Resources RunView::resources(TaskId task) const {
  return run_->resources_of(task);
}
std::vector<FileId> RunView::files(TaskId task) const {
  return run_->workload.files_of(task);
}

std::string RunView::unplaceable() const {
  std::optional<TaskNeeds> fits;
  for (std::uint32_t i = 1; i <= run_->tasks.size(); ++i) {
    const TaskRecord& record = run_->tasks[TaskId(i)];
    if (record.state != TaskState::pending || !record.selected) continue;
    TaskNeeds needs{.resources = run_->workload.resources_of(TaskId(i))};
    if (!run_->grid.map.depots.empty()) needs.files = run_->workload.files_of(TaskId(i));
    if (needs == fits) continue;
    if (auto why = run_->why_unplaceable(TaskId(i)); !why.empty()) return why;
    fits = std::move(needs);
  }
  return {};
}

std::vector<Resources> RunView::stranded() const {
  std::vector<Resources> needs;
  if (!run_->draining.empty() || !run_->is_stuck()) return needs;
  for (const schedule::ReadyClass& each : run_->ready.view()) {
    needs.push_back(each.needs->resources);
    // It will do with what the host has.
    if (run_->learns_memory_of(ReadyQueue::first_of(each))) needs.back().memory = 0;
  }
  return needs;
}

bool RunView::may_move_files(SiteId site) const {
  const Counts& all = counts();
  const std::uint32_t to_start = draining().empty() ? all.pending + all.staging + all.waiting : 0;
  const std::size_t shared = run_->grid.files.bytes().size();
  for (std::size_t file = 0; file < shared && to_start > 0; ++file)
    if (!run_->grid.files.there(FileId(static_cast<std::uint32_t>(file)), site)) return true;
  const bool makes_files = run_->workload.output_bytes || run_->book.outputs().seen_here() > 0;
  return makes_files && to_start + all.handed_over + all.running > 0;
}

GivenMemory RunView::given_memory(const TaskKey& key) const {
  const Outstanding* attempt = run_->attempts.find({key.task, key.attempt});
  return attempt != nullptr ? attempt->memory : GivenMemory{};
}

std::string RunView::after_memory(TaskId task) const {
  const auto died_with = run_->book.memory().died_with(task);
  if (!died_with) return {};
  const Resources next = run_->resources_of(task);
  const TaskState state = run_->tasks[task].state;
  if (state == TaskState::pending) return "tried again with " + format_bytes(next.memory);
  const bool goes_on =
      state == TaskState::staging || state == TaskState::handed_over || state == TaskState::running;
  if (goes_on) return "its other attempt goes on";
  if (state != TaskState::failed) return {};
  const MemoryRoom room = run_->memory_room(task, run_->workload.resources_of(task));
  if (next.memory > *died_with || room.largest.empty()) return {};
  return fmt::format(
      "it needs more than the {} of the largest host, {}: give it a larger one, or make it smaller",
      format_bytes(room.most), room.largest);
}

}  // namespace gantry::engine
