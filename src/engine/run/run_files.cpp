#include <fmt/format.h>

#include <algorithm>

#include "engine/run/run.hpp"
#include "model/quantity.hpp"

namespace gantry::engine {

template <class Condition>
void Run::unstage_if(const Condition& condition) {
  std::vector<TaskId> leaving;
  for (const auto& [task, place] : staged)
    if (condition(task, place)) leaving.push_back(task);
  for (const TaskId task : leaving) {
    leave_stage(task);
    if (tasks[task].state == TaskState::staging) make_pending(task);  // else it was to be a twin
  }
}

void Run::release_waiting_for(FileId file, SiteId site) {
  unstage_if([&](TaskId task, const Staged& place) {
    return place.site == site && std::ranges::binary_search(needs_of(task).files, file);
  });
}

void Run::release_staged_on(HostId host) {
  unstage_if([&](TaskId, const Staged& place) { return place.host == host; });
}

void Run::release_all_staged() {
  unstage_if([](TaskId, const Staged&) { return true; });
}

bool Run::can_stage(const TaskNeeds& needs, SiteId site, TimePoint now) const {
  return std::ranges::all_of(needs.files, [&](FileId file) {
    return grid.files.there(file, site) || grid.files.moving(file, site) ||
           grid.files.may_move(file, site, now);
  });
}

void Run::stage(TaskId task, const Host& host, const TaskNeeds& needs, TimePoint now,
                std::vector<Action>& actions) {
  const schedule::Load load = schedule::share(host, needs.resources);
  occupy(host.id, {task, AttemptId{}}, load);
  staged.emplace(task, Staged{host.id, host.site, load});
  if (!attempts.has(task)) tasks.set_state(task, TaskState::staging);
  for (const FileId file : needs.files) grid.fetch(file, host.site, now, actions);
}

void Run::leave_stage(TaskId task) {
  const auto place = staged.extract(task).mapped();
  vacate(place.host, {task, AttemptId{}}, place.load);
}

void Run::launch_staged(std::vector<Action>& actions) {
  if (!files_arrived) return;
  files_arrived = false;
  std::vector<TaskId> complete;
  for (const auto& [task, place] : staged)
    if (grid.files.all_there(needs_of(task).files, place.site)) complete.push_back(task);
  for (const TaskId task : complete) {
    const HostId host = staged.at(task).host;
    const Resources needs = resources_of(task);
    leave_stage(task);
    // Meanwhile it may have been learnt that it needs more than there is.
    if (!workload.learns_memory || schedule::slots(grid.hosts.at(host).host, needs) > 0)
      launch(task, host, needs, actions);
    else if (!attempts.has(task))
      make_pending(task, true);
  }
}

bool Run::can_have_files(const TaskNeeds& needs, SiteId site, Grid::Asker asker, TimePoint now,
                         std::vector<Action>& actions) {
  if (!grid.files.all_there(needs.files, site) &&
      !(can_stage(needs, site, now) && grid.make_room(needs.files, site, asker, actions)))
    return false;
  if (asker == Grid::Asker::task) grid.crowded.erase(site);
  return true;
}

Run::WhyNot Run::carry_out(const MoveFile& wanted, TimePoint now, std::vector<Action>& actions) {
  using schedule::RefusalReason;
  const FileTable& files = grid.files;
  if (!files.may_move(wanted.file, wanted.to, now)) {
    const bool comes = files.there(wanted.file, wanted.to) || files.moving(wanted.file, wanted.to);
    return comes ? RefusalReason::already_coming : RefusalReason::files_cannot_come;
  }
  if (!files.there(wanted.file, wanted.from)) return RefusalReason::no_source;
  const bool has_way = wanted.from == kHome || grid.map.ways.empty() ||
                       grid.map.way(wanted.from, wanted.to) != nullptr;
  if (!has_way) return RefusalReason::no_source;
  // While files keep coming ahead, a task that needs all of a depot would never find it idle.
  if (grid.crowded.contains(wanted.to) && files.any_moving(wanted.to)) return std::nullopt;
  if (!grid.make_room({&wanted.file, 1}, wanted.to, Grid::Asker::other, actions))
    return std::nullopt;
  if (wanted.from == kHome) {
    redirected |= grid.fetch(wanted.file, wanted.to, now, actions) != kHome;
    return std::nullopt;
  }
  const auto arrives =
      schedule::arrival_from(grid.traffic(now), wanted.from, wanted.file, wanted.to);
  grid.move(wanted.file, {wanted.from, arrives.value_or(now)}, wanted.to, now, actions);
  return std::nullopt;
}

std::string Run::why_unplaceable(TaskId task) const {
  const TaskNeeds needs{.resources = workload.resources_of(task), .files = workload.files_of(task)};
  if (grid.fits_somewhere(needs)) return {};
  std::vector<Host> all;
  for (const auto& load : grid.working()) all.push_back(*load.host);
  if (auto why = engine::unplaceable(task, needs.resources, all); !why.empty()) return why;
  double largest = 0;
  for (const Host& host : all)
    if (schedule::slots(host, needs.resources) > 0)
      largest = std::max(largest, grid.map.depot(host.site));
  const auto text = [](double bytes) { return format_bytes(static_cast<std::uint64_t>(bytes)); };
  return fmt::format("task {} reads {} of shared files, the largest depot holds {}", task.value(),
                     text(grid.files.bytes_of(needs.files)), text(largest));
}

}  // namespace gantry::engine
