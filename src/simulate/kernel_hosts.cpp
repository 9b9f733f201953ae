// Hosts and their slots.
#include <algorithm>
#include <cassert>
#include <cmath>

#include "simulate/kernel.hpp"

namespace gantry::simulate {

HostIndex Kernel::add_host(const HostSpec& spec) {
  assert(std::isfinite(spec.speed) && spec.speed > 0 && spec.slots > 0);
  const auto index = static_cast<Index>(hosts_.size());
  Host& host = hosts_.emplace_back();
  host.speed = spec.speed;
  host.availability = spec.availability;
  host.slots = host.free_slots = spec.slots;
  host.outages.list = spec.outages;
  plan_outages(host.outages, ActivityKind::host_change, index);
  return HostIndex(index);
}

ActivityId Kernel::start_computation(HostIndex on, double work, Token token, std::uint32_t slots) {
  Host& host = hosts_[on.value()];
  assert(std::isfinite(work) && work >= 0 && slots > 0 && slots <= host.slots);
  const Index index = new_activity(ActivityKind::computation, on.value(), work, token);
  activities_[index].slots = slots;
  if (!host.up()) {
    fail(index, work);
  } else {
    activities_[index].state = ActivityState::waiting;
    append(host.waiting, index);
    start_waiting_computations(host);
  }
  return id_of(index);
}

void Kernel::start_waiting_computations(Host& host) {
  while (host.waiting.first != kNone && activities_[host.waiting.first].slots <= host.free_slots) {
    const Index index = host.waiting.first;
    remove(host.waiting, index);
    append(host.running, index);
    Activity& activity = activities_[index];
    host.free_slots -= activity.slots;
    activity.state = ActivityState::running;
    activity.started = now_;
    schedule(index, host.availability.when_done(now_, activity.amount / host.speed));
  }
}

double Kernel::computation_left(Index index) const {
  const Activity& activity = activities_[index];
  if (activity.state != ActivityState::running) return activity.amount;
  const Host& host = hosts_[activity.resource];
  const double done = host.speed * host.availability.integral(activity.started, now_);
  return std::max(0.0, activity.amount - done);
}

/// Takes a computation off its host, and lets the next one begin.
void Kernel::leave_host(Index index) {
  const Activity& activity = activities_[index];
  Host& host = hosts_[activity.resource];
  if (activity.state == ActivityState::running) {
    remove(host.running, index);
    host.free_slots += activity.slots;
    queue_.erase(index, places_);
  } else {
    remove(host.waiting, index);
  }
  start_waiting_computations(host);
}

void Kernel::fail_computations(Host& host) {
  for (ActivityList* list : {&host.running, &host.waiting}) {
    while (list->first != kNone) {
      const Index index = list->first;
      const double left = computation_left(index);
      remove(*list, index);
      queue_.erase(index, places_);
      fail(index, left);
    }
  }
  host.free_slots = host.slots;
}

void Kernel::fail_host(HostIndex index) {
  Host& host = hosts_[index.value()];
  host.failed = true;
  fail_computations(host);
}

void Kernel::restore_host(HostIndex index) {
  hosts_[index.value()].failed = false;
}

std::optional<KernelEvent> Kernel::change_host(Index index) {
  Host& host = hosts_[index];
  const bool was_up = host.up();
  change_outage(host.outages);
  if (host.up() == was_up) return std::nullopt;
  if (was_up) fail_computations(host);
  return KernelEvent{.time = now_,
                     .kind = was_up ? KernelEvent::Kind::host_down : KernelEvent::Kind::host_up,
                     .host = HostIndex(index)};
}

}  // namespace gantry::simulate
