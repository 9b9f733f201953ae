// What happens to hosts and sites.
#include <algorithm>
#include <limits>
#include <utility>

#include "engine/engine_impl.hpp"

namespace gantry::engine {

namespace {
/// A host that is so many times as fast as it was, or as slow, changes plans.
constexpr double kMuchChanged = 1.25;
}  // namespace

void Engine::Impl::on(const HostUp& event) {
  coming.erase(event.host.id);
  HostState& state = hosts[event.host.id];
  state.host = event.host;
  state.draining = state.keeps = state.recalled = false;
  show_hosts();
  ready.judge_again();
  changed = host_came = true;
}

void Engine::Impl::on(const HostDraining& event) {
  const auto host = hosts.find(event.host);
  if (host == hosts.end()) return;
  const bool drained = std::exchange(host->second.draining, true);
  const bool stays = event.waiting == WaitingTasks::stay;
  host->second.keeps = stays && (host->second.keeps || !drained);
  if (drained) return;
  release_staged_on(event.host);
  show_hosts();
  ready.judge_again();
  changed = true;
}

void Engine::Impl::on(const SiteJoined& event) {
  const bool limited = event.depot < std::numeric_limits<double>::infinity();
  if (limited) map.limit_depot(event.site, event.depot);
  if (limited) files.limit(event.site, event.depot);
  if (event.way && map.way(event.way->one, event.way->other) == nullptr)
    map.ways.push_back(*event.way);
}

void Engine::Impl::on(const HostDown& event) {
  const auto host = hosts.find(event.host);
  const SiteId site = host != hosts.end() ? host->second.host.site : kHome;
  std::vector<AttemptKey> there;
  for (const auto& [task, attempt] : outstanding)
    if (attempt.host == event.host) there.emplace_back(task, attempt.attempt);
  for (const auto& [task, attempt] : twins)
    if (attempt.host == event.host) there.emplace_back(task, attempt.attempt);
  std::ranges::sort(there);
  for (const AttemptKey& key : there) {
    const TaskId task = key.first;
    const bool was_running = release(key);
    missing[key] = site;
    if (outstanding.contains(task))
      go_on_after_loss(task, was_running);
    else
      settle_lost(task, was_running);
  }
  std::erase_if(leftovers, [&](const auto& entry) {
    if (entry.second.host != event.host) return false;
    missing[entry.first] = site;
    free_place(entry.first.first, entry.second);
    return true;
  });
  release_staged_on(event.host);
  hosts.erase(event.host);
  forget_gone_samples();
  show_hosts();
  ready.judge_again();
  changed = true;
}

void Engine::Impl::on(const HostLoaded& event) {
  const auto host = hosts.find(event.host);
  if (host == hosts.end() || !learns()) return;
  HostState& state = host->second;
  if (seen.loaded(event.host, event.share, event.at, event.heard) != forecast::Verdict::taken)
    return;
  const double speed = seen.speed(event.host);
  if (state.heeded == 0) state.heeded = speed;
  if (speed < state.heeded * kMuchChanged && speed > state.heeded / kMuchChanged) return;
  state.changed = speed < state.heeded ? HostState::Changed::slower : HostState::Changed::faster;
  state.heeded = speed;
  loads_changed = true;
}

void Engine::Impl::on(const HostQueued& event) {
  if (event.since == kNever) {
    coming.erase(event.host.id);
    return;
  }
  HostQueued& job = coming[event.host.id];
  job = event;
  // All that it will have.
  if (job.host.memory == 0) job.host.memory = std::numeric_limits<std::uint64_t>::max();
}

void Engine::Impl::on(const QueueWaited& event) {
  if (learns()) seen.waited(event.site, event.seconds, event.at);
}

void Engine::Impl::on(const SiteEchoed& event) {
  if (!learns()) return;
  if (event.bytes > 0)
    seen.probed(event.site, event.bytes, event.seconds, event.trip, event.at);
  else
    seen.echoed(event.site, event.seconds, event.at);
}

}  // namespace gantry::engine
