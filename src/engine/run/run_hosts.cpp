// What hosts that come and go mean for a run.
#include <algorithm>
#include <utility>

#include "engine/run/run.hpp"

namespace gantry::engine {

void Run::hosts_changed() {
  needs_changed = workload.learns_memory;
  ready.judge_again();
}

void Run::host_came(HostId host) {
  reset_queue(host);
  hosts_changed();
  newcomers = true;
}

void Run::lose_host(HostId host) {
  const HostState* state = grid.find(host);
  const SiteId site = state != nullptr ? state->host.site : kHome;
  std::vector<AttemptKey> there;
  for (const auto& [task, attempt] : outstanding)
    if (attempt.host == host) there.emplace_back(task, attempt.attempt);
  for (const auto& [task, attempt] : twins)
    if (attempt.host == host) there.emplace_back(task, attempt.attempt);
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
    if (entry.second.host != host) return false;
    missing[entry.first] = site;
    free_place(entry.first.first, entry.second);
    return true;
  });
  release_staged_on(host);
  queues.erase(host);
}

}  // namespace gantry::engine
