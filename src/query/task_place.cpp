#include "query/task_place.hpp"

#include <algorithm>

namespace gantry::query {
namespace {

using store::LiveHost;
using store::LiveSite;
using store::LiveState;

constexpr std::size_t kOthersTold = 3;
constexpr double kMostSeconds = 1e9;

Duration ago(TimePoint time, TimePoint now) {
  return std::max(now - time, Duration{0});
}

const LiveSite* site_of(const LiveState& live, const LiveHost& host) {
  return host.site < live.sites.size() ? &live.sites[host.site] : nullptr;
}

std::string site_name(const LiveState& live, const LiveHost& host) {
  const LiveSite* site = site_of(live, host);
  return site != nullptr ? site->name : "";
}

HostChoice choice_of(const LiveState& live, const LiveHost& host, double cost) {
  return {host.name, site_name(live, host), host.slots, host.busy,
          std::min(host.pace * cost, kMostSeconds)};
}

FileTransfer transfer_to(const LiveSite& site, const std::string& path) {
  if (site.sending != path) return {path, site.name};
  return {path, site.name, true, site.sent_part, site.bytes_per_second};
}

/// The host, and by which figures it was chosen.
TaskAtHost at_host(const LiveState& live, const LiveHost& chosen, double cost) {
  TaskAtHost at{.host = choice_of(live, chosen, cost)};
  at.was_chosen = live.hosts.size() + live.more_hosts > 1;
  std::vector<const LiveHost*> others;
  for (const LiveHost& host : live.hosts)
    if (&host != &chosen && host.pace > 0 && host.condition == HostCondition::up)
      others.push_back(&host);
  std::ranges::stable_sort(others, {}, &LiveHost::pace);
  others.resize(std::min(others.size(), kOthersTold));
  for (const LiveHost* host : others) at.others.push_back(choice_of(live, *host, cost));
  return at;
}

TaskAtHost with_agent(const LiveState& live, const LiveHost& host, const store::LiveTask& task,
                      double cost, TimePoint now) {
  TaskAtHost at = at_host(live, host, task.cost > 0 ? task.cost : cost);
  const bool started = task.started != kNever;
  at.stage = started ? TaskAtHost::Stage::running : TaskAtHost::Stage::next;
  at.task = task;
  if (started) at.since = ago(task.started, now);
  return at;
}

TaskAtHost coming_home(const LiveState& live, const LiveHost& host,
                       const store::LiveArrival& arrival, TimePoint now) {
  TaskAtHost at{.stage = TaskAtHost::Stage::coming_home,
                .host = choice_of(live, host, 1),
                .since = ago(arrival.since, now),
                .task = {arrival.task, arrival.attempt}};
  if (const LiveSite* site = site_of(live, host)) {
    at.link_bytes_per_second = site->bytes_per_second;
    at.homeward = site->homeward;
  }
  return at;
}

TaskAtHost awaiting_files(const LiveState& live, const store::LiveWait& wait, double cost) {
  const LiveHost& host = live.hosts[wait.host - 1];
  TaskAtHost at = at_host(live, host, wait.cost > 0 ? wait.cost : cost);
  at.stage = TaskAtHost::Stage::awaits_files;
  const LiveSite* site = site_of(live, host);
  for (const auto& file : wait.files)
    at.files.push_back(site != nullptr ? transfer_to(*site, file) : FileTransfer{file});
  return at;
}

SlotWait slot_wait(const LiveState& live, RunId run, TimePoint now) {
  SlotWait wait{.draining = live.draining, .staging = live.staging};
  if (const store::LiveRun* one = live.find(run)) wait.draining = one->draining;
  for (const LiveSite& site : live.sites) {
    wait.slots += site.slots;
    wait.busy += site.busy;
    if (!site.sending.empty()) wait.transfers.push_back(transfer_to(site, site.sending));
  }
  for (const LiveHost& host : live.hosts) {
    wait.queued += host.condition == HostCondition::queued ? 1 : 0;
    wait.connecting += host.condition == HostCondition::connecting ? 1 : 0;
    if (host.condition != HostCondition::suspended && host.condition != HostCondition::lost)
      continue;
    AbsentHost absent{host.name, site_name(live, host), host.condition, {}, host.why};
    if (host.since != kNever) absent.since = ago(host.since, now);
    wait.absent.push_back(std::move(absent));
  }
  return wait;
}

}  // namespace

bool TaskPlace::is_running() const {
  return std::ranges::any_of(at, [](const TaskAtHost& each) {
    return each.stage == TaskAtHost::Stage::running || each.stage == TaskAtHost::Stage::coming_home;
  });
}

TaskPlace place_of(const LiveState& live, RunId run, TaskId task, double cost, TimePoint now) {
  TaskPlace place{.scheduler = live.scheduler, .one_site = live.sites.size() == 1};
  const auto is_it = [&](const auto& item) {
    return item.task == task.value() && live.is_of(item, run);
  };
  for (const LiveHost& host : live.hosts)
    for (const auto& one : host.tasks)
      if (is_it(one)) place.at.push_back(with_agent(live, host, one, cost, now));
  for (const LiveHost& host : live.hosts)
    for (const auto& one : host.arrivals)
      if (is_it(one)) place.at.push_back(coming_home(live, host, one, now));
  if (!place.at.empty()) return place;
  for (const auto& wait : live.waits) {
    if (!is_it(wait)) continue;
    if (wait.host > 0 && wait.host <= live.hosts.size())
      place.at.push_back(awaiting_files(live, wait, cost));
    else if (wait.until != kNever)
      place.tried_again_in = std::max(wait.until - now, Duration{0});
    else
      continue;
    return place;
  }
  place.slot_wait = slot_wait(live, run, now);
  return place;
}

}  // namespace gantry::query
