#include <fmt/format.h>

#include <algorithm>

#include "engine/engine_impl.hpp"
#include "model/quantity.hpp"

namespace gantry::engine {

template <class Condition>
void Engine::Impl::unstage_if(const Condition& condition) {
  std::vector<TaskId> leaving;
  for (const auto& [task, place] : staged)
    if (condition(task, place)) leaving.push_back(task);
  for (const TaskId task : leaving) {
    leave_stage(task);
    if (tasks[task].state == TaskState::staging) make_pending(task);  // else it was to be a twin
  }
}

void Engine::Impl::on(const FileArrived& event) {
  if (!files.known(event.file)) return;
  const auto sent = files.sent(event.file, event.site);
  // What was to come over a way that was closed meanwhile came from home.
  if (!event.found && sent && learns() &&
      (sent->from == kHome || map.way(sent->from, event.site) != nullptr))
    seen.moved(sent->from, event.site, workload.file_bytes[event.file.value()], sent->at, event.at);
  files.arrived(event.file, event.site);
  files_arrived = true;
  changed = true;
}

void Engine::Impl::on(const MoveFailed& event) {
  if (!files.known(event.file)) return;
  files.failed(event.file, event.site, event.at);
  changed = true;
  lost_at(event.file, event.site);
}

void Engine::Impl::on(const FileGone& event) {
  if (!files.known(event.file)) return;
  files.gone(event.file, event.site);
  changed = true;
  lost_at(event.file, event.site);
}

/// What is on its way comes from elsewhere, as actuators can do.
void Engine::Impl::on(const WayClosed& event) {
  if (event.from == kHome || event.to == kHome) return;
  map.close_way(event.from, event.to);
  changed = true;
}

void Engine::Impl::lost_at(FileId file, SiteId site) {
  release_waiting_for(file, site);
  for (const SiteId other : files.give_up_awaited(file, site)) lost_at(file, other);
}

void Engine::Impl::release_waiting_for(FileId file, SiteId site) {
  unstage_if([&](TaskId task, const Staged& place) {
    return place.site == site && std::ranges::binary_search(needs_of(task).files, file);
  });
}

void Engine::Impl::release_staged_on(HostId host) {
  unstage_if([&](TaskId, const Staged& place) { return place.host == host; });
}

void Engine::Impl::release_all_staged() {
  unstage_if([](TaskId, const Staged&) { return true; });
}

bool Engine::Impl::can_stage(const TaskNeeds& needs, SiteId site, TimePoint now) const {
  return std::ranges::all_of(needs.files, [&](FileId file) {
    return files.there(file, site) || files.moving(file, site) || files.may_move(file, site, now);
  });
}

void Engine::Impl::stage(TaskId task, const Host& host, const TaskNeeds& needs, TimePoint now,
                         std::vector<Action>& actions) {
  const schedule::Load load = schedule::share(host, needs.resources);
  occupy(host.id, task, load, {});
  staged.emplace(task, Staged{host.id, host.site, load});
  if (!outstanding.contains(task)) tasks.set_state(task, TaskState::staging);
  for (const FileId file : needs.files) fetch(file, host.site, now, actions);
}

void Engine::Impl::leave_stage(TaskId task) {
  const auto place = staged.extract(task).mapped();
  vacate(place.host, task, place.load, {});
}

void Engine::Impl::launch_staged(std::vector<Action>& actions) {
  if (!files_arrived) return;
  files_arrived = false;
  std::vector<TaskId> complete;
  for (const auto& [task, place] : staged)
    if (files.all_there(needs_of(task).files, place.site)) complete.push_back(task);
  for (const TaskId task : complete) {
    const HostId host = staged.at(task).host;
    const Resources needs = resources_of(task);
    leave_stage(task);
    // Meanwhile it may have been learnt that it needs more than there is.
    if (!workload.learns_memory || schedule::slots(hosts.at(host).host, needs) > 0)
      launch(task, host, needs, actions);
    else if (!outstanding.contains(task))
      make_pending(task, true);
  }
}

bool Engine::Impl::make_room(std::span<const FileId> wanted, SiteId site, bool for_task,
                             std::vector<Action>& actions) {
  const double lacking = files.lacking(wanted, site);
  if (lacking <= 0) return true;
  std::vector<bool> soon(workload.file_bytes.size());
  for (const schedule::ReadyClass& task_class : ready.view())
    for (const FileId file : task_class.needs->files) soon[file.value()] = true;
  const auto victims = files.victims(lacking, wanted, site, soon, for_task);
  if (!victims) {
    if (for_task) crowded.insert(site);
    return false;
  }
  for (const FileId file : *victims) {
    files.gone(file, site);
    actions.emplace_back(DropFile{file, site});
  }
  return true;
}

bool Engine::Impl::can_have_files(const TaskNeeds& needs, SiteId site, bool for_task, TimePoint now,
                                  std::vector<Action>& actions) {
  if (!files.all_there(needs.files, site) &&
      !(can_stage(needs, site, now) && make_room(needs.files, site, for_task, actions)))
    return false;
  if (for_task) crowded.erase(site);
  return true;
}

Engine::Impl::WhyNot Engine::Impl::carry_out(const MoveFile& wanted, TimePoint now,
                                             std::vector<Action>& actions) {
  using schedule::RefusalReason;
  if (!files.may_move(wanted.file, wanted.to, now)) {
    const bool comes = files.there(wanted.file, wanted.to) || files.moving(wanted.file, wanted.to);
    return comes ? RefusalReason::already_coming : RefusalReason::files_cannot_come;
  }
  if (!files.there(wanted.file, wanted.from)) return RefusalReason::no_source;
  if (wanted.from != kHome && !map.ways.empty() && map.way(wanted.from, wanted.to) == nullptr)
    return RefusalReason::no_source;
  // While files keep coming ahead, a task that needs all of a depot would never find it idle.
  if (crowded.contains(wanted.to) && files.any_moving(wanted.to)) return std::nullopt;
  if (!make_room({&wanted.file, 1}, wanted.to, false, actions)) return std::nullopt;
  if (wanted.from == kHome) {
    redirected |= fetch(wanted.file, wanted.to, now, actions) != kHome;
    return std::nullopt;
  }
  const auto arrives = schedule::arrival_from(traffic(now), wanted.from, wanted.file, wanted.to);
  move(wanted.file, {wanted.from, arrives.value_or(now)}, wanted.to, now, actions);
  return std::nullopt;
}

std::string Engine::Impl::why_unplaceable(TaskId task) const {
  const TaskNeeds needs{.resources = workload.resources_of(task), .files = workload.files_of(task)};
  if (fits_somewhere(needs)) return {};
  std::vector<Host> all;
  for (const auto& load : working()) all.push_back(*load.host);
  if (auto why = engine::unplaceable(task, needs.resources, all); !why.empty()) return why;
  double largest = 0;
  for (const Host& host : all)
    if (schedule::slots(host, needs.resources) > 0)
      largest = std::max(largest, map.depot(host.site));
  const auto text = [](double bytes) { return format_bytes(static_cast<std::uint64_t>(bytes)); };
  return fmt::format("task {} reads {} of shared files, the largest depot holds {}", task.value(),
                     text(files.bytes_of(needs.files)), text(largest));
}

schedule::FileTraffic Engine::Impl::traffic(TimePoint now) {
  return {map, files.view(now), workload.file_bytes, now, map.learns ? &seen : nullptr};
}

bool Engine::may_move_files(SiteId site) const {
  const Counts& all = counts();
  const std::uint32_t to_start = draining().empty() ? all.pending + all.staging + all.waiting : 0;
  const std::size_t shared = impl_->workload.file_bytes.size();
  for (std::size_t file = 0; file < shared && to_start > 0; ++file)
    if (!impl_->files.there(FileId(static_cast<std::uint32_t>(file)), site)) return true;
  const bool makes_files = impl_->workload.output_bytes || impl_->learned_outputs.seen_here() > 0;
  return makes_files && to_start + all.handed_over + all.running > 0;
}

SiteId Engine::Impl::fetch(FileId file, SiteId to, TimePoint now, std::vector<Action>& actions) {
  if (!files.may_move(file, to, now)) return kHome;
  const schedule::FileSource source =
      map.ways.empty() ? schedule::FileSource{kHome, now}
                       : choose_source(traffic(now), file, to, files.failed_source(file, to));
  move(file, source, to, now, actions);
  return source.site;
}

void Engine::Impl::move(FileId file, const schedule::FileSource& from, SiteId to, TimePoint now,
                        std::vector<Action>& actions) {
  files.move(file, from, to, now);
  if (files.there(file, from.site)) actions.emplace_back(MoveFile{file, from.site, to});
}

}  // namespace gantry::engine
