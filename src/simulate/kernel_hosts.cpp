// Hosts, their slots, and the batch queues that lend hosts.
#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "simulate/kernel.hpp"

namespace gantry::simulate {

Kernel::Index Kernel::new_host(const HostSpec& spec) {
  assert(std::isfinite(spec.speed) && spec.speed > 0 && spec.slots > 0);
  const auto index = static_cast<Index>(hosts_.size());
  Host& host = hosts_.emplace_back();
  host.speed = spec.speed;
  host.availability = spec.availability;
  host.slots = host.free_slots = spec.slots;
  host.outages.list = spec.outages;
  plan_outages(host.outages, ActivityKind::host_change, index);
  return index;
}

HostIndex Kernel::add_host(const HostSpec& spec) {
  return HostIndex(new_host(spec));
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

void Kernel::remove_host(HostIndex index) {
  Host& host = hosts_[index.value()];
  if (host.absent) return;
  host.absent = true;
  fail_computations(host);
  for (Index* alarm : {&host.outages.alarm, &host.loan_end}) {
    if (*alarm != kNone) release(std::exchange(*alarm, kNone));
  }
  if (host.batch_queue != kNone) free_place(batch_queues_[host.batch_queue]);
}

// --- Batch queues

BatchIndex Kernel::add_batch_queue(const BatchSpec& spec) {
  assert(spec.limit > 0);
  batch_queues_.push_back({.wait = spec.wait, .free_places = spec.limit, .waiting = {}});
  return BatchIndex(static_cast<Index>(batch_queues_.size() - 1));
}

ActivityId Kernel::request_host(BatchIndex from, const HostSpec& spec, double walltime,
                                Token token) {
  assert(walltime >= 0);
  const Index index = new_host(spec);
  Host& host = hosts_[index];
  host.absent = true;
  host.batch_queue = from.value();
  host.walltime = walltime;
  host.loan_token = token;
  const Index loan = new_activity(ActivityKind::loan, index, 0, token);
  schedule(loan, now_ + batch_queues_[from.value()].wait.value(now_));
  return id_of(loan);
}

/// The wait of a loan is over, or a place was kept for it.
std::optional<KernelEvent> Kernel::lend(Index loan) {
  Activity& activity = activities_[loan];
  const Index index = activity.resource;
  Host& host = hosts_[index];
  BatchQueue& queue = batch_queues_[host.batch_queue];
  if (activity.state != ActivityState::running) {
    if (queue.free_places == 0) {
      queue_.erase(loan, places_);
      activity.state = ActivityState::waiting;
      append(queue.waiting, loan);
      return std::nullopt;
    }
    --queue.free_places;
  }
  release(loan);
  host.absent = false;
  host.loan_end = new_activity(ActivityKind::loan_end, index, 0, Token());
  schedule(host.loan_end, now_ + host.walltime);
  return KernelEvent{.time = now_,
                     .kind = KernelEvent::Kind::host_appeared,
                     .token = host.loan_token,
                     .host = HostIndex(index)};
}

KernelEvent Kernel::take_back(Index index) {
  remove_host(HostIndex(index));
  return {.time = now_,
          .kind = KernelEvent::Kind::host_vanished,
          .token = hosts_[index].loan_token,
          .host = HostIndex(index)};
}

void Kernel::leave_batch_queue(Index loan) {
  const Activity& activity = activities_[loan];
  Host& host = hosts_[activity.resource];
  BatchQueue& queue = batch_queues_[host.batch_queue];
  if (host.outages.alarm != kNone) release(std::exchange(host.outages.alarm, kNone));
  if (activity.state == ActivityState::waiting) remove(queue.waiting, loan);
  if (activity.state == ActivityState::running) free_place(queue);
}

/// Keeps the place for the next one who waits; its host appears in an event of its own.
void Kernel::free_place(BatchQueue& queue) {
  const Index loan = queue.waiting.first;
  if (loan == kNone) {
    ++queue.free_places;
    return;
  }
  remove(queue.waiting, loan);
  activities_[loan].state = ActivityState::running;
  schedule(loan, now_);
}

}  // namespace gantry::simulate
