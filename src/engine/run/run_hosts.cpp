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
  attempts.reset_recall(host);
  hosts_changed();
  newcomers = true;
}

void Run::lose_host(HostId host) {
  const HostState* state = grid.find(host);
  const SiteId site = state != nullptr ? state->host.site : kHome;
  for (const AttemptKey& key : attempts.on(host)) {
    const TaskId task = key.first;
    const bool was_running = release(key).running;
    attempts.add_missing(key, site);
    if (attempts.has(task))
      go_on_after_loss(task, was_running);
    else
      settle_lost(task, was_running);
  }
  for (const AttemptKey& key : attempts.leftovers_on(host)) {
    attempts.add_missing(key, site);
    drop_leftover(key);
  }
  release_staged_on(host);
  attempts.forget_queue(host);
}

}  // namespace gantry::engine
