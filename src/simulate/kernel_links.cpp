// Links: streams of their own for one transfer each, or bandwidth in equal shares.
#include <algorithm>
#include <cassert>
#include <cmath>

#include "simulate/kernel.hpp"

namespace gantry::simulate {

LinkIndex Kernel::add_link(const LinkSpec& spec) {
  assert(std::isfinite(spec.latency) && spec.latency >= 0);
  assert(spec.sharing == LinkSharing::fair || spec.streams > 0);
  const auto index = static_cast<Index>(links_.size());
  Link& link = links_.emplace_back();
  link.bandwidth = spec.bandwidth;
  link.latency = spec.latency;
  link.sharing = spec.sharing;
  link.streams = link.fair() ? std::numeric_limits<std::uint32_t>::max() : spec.streams;
  link.free_streams = link.streams;
  link.outages.list = spec.outages;
  plan_outages(link.outages, ActivityKind::link_change, index);
  if (link.fair()) link.first_flow = new_activity(ActivityKind::first_flow, index, 0, Token());
  return LinkIndex(index);
}

ActivityId Kernel::start_transfer(LinkIndex over, double bytes, Token token) {
  assert(std::isfinite(bytes) && bytes >= 0);
  Link& link = links_[over.value()];
  const Index index = new_activity(ActivityKind::transfer, over.value(), bytes, token);
  if (!link.up()) {
    fail(index, bytes);
  } else {
    activities_[index].state = ActivityState::waiting;
    append(link.waiting, index);
    start_waiting_transfers(link);
  }
  return id_of(index);
}

void Kernel::start_waiting_transfers(Link& link) {
  while (link.waiting.first != kNone && link.free_streams > 0) {
    const Index index = link.waiting.first;
    remove(link.waiting, index);
    append(link.running, index);
    --link.free_streams;
    if (link.latency > 0) {
      activities_[index].state = ActivityState::latency;
      schedule(index, now_ + link.latency);
    } else {
      start_flow(index);
    }
  }
}

void Kernel::start_flow(Index index) {
  Activity& activity = activities_[index];
  Link& link = links_[activity.resource];
  activity.state = ActivityState::running;
  activity.started = now_;
  if (!link.fair()) {
    schedule(index, link.bandwidth.when_done(now_, activity.amount));
    return;
  }
  queue_.erase(index, places_);
  read_clock(link);
  link.flows.set({link.clock + activity.amount, activity.order, index}, places_);
  plan_first_flow(link);
}

double Kernel::clock_now(const Link& link) const {
  if (link.flows.empty()) return 0;
  const double got = link.bandwidth.integral(link.clock_at, now_);
  // Rounding must not carry the clock past the end of a transfer.
  return std::min(link.clock + got / static_cast<double>(link.flows.size()), link.flows.top().key);
}

/// To be done before the number of flows changes.
void Kernel::read_clock(Link& link) {
  link.clock = clock_now(link);
  link.clock_at = now_;
}

/// REQUIRES: the clock was read now.
void Kernel::plan_first_flow(Link& link) {
  if (link.flows.empty()) return queue_.erase(link.first_flow, places_);
  const EventHeap::Entry& first = link.flows.top();
  const double bytes = (first.key - link.clock) * static_cast<double>(link.flows.size());
  schedule(link.first_flow, link.bandwidth.when_done(now_, bytes), first.order);
}

KernelEvent Kernel::end_first_flow(Index index) {
  Link& link = links_[index];
  const EventHeap::Entry first = link.flows.top();
  link.clock = first.key;
  link.clock_at = now_;
  leave_link(first.item);
  return deliver(first.item, KernelEvent::Kind::done);
}

double Kernel::transfer_left(Index index) const {
  const Activity& activity = activities_[index];
  if (activity.state != ActivityState::running) return activity.amount;
  const Link& link = links_[activity.resource];
  if (link.fair()) return link.flows.key_of(index, places_) - clock_now(link);
  return std::max(0.0, activity.amount - link.bandwidth.integral(activity.started, now_));
}

/// Takes a transfer off its link, and lets the next one begin.
void Kernel::leave_link(Index index) {
  const Activity& activity = activities_[index];
  Link& link = links_[activity.resource];
  if (activity.state == ActivityState::waiting) {
    remove(link.waiting, index);
    return;
  }
  remove(link.running, index);
  ++link.free_streams;
  if (link.fair() && activity.state == ActivityState::running) {
    read_clock(link);
    link.flows.erase(index, places_);
    plan_first_flow(link);
  } else {
    queue_.erase(index, places_);
  }
  start_waiting_transfers(link);
}

void Kernel::fail_transfers(Link& link) {
  if (link.fair()) read_clock(link);
  for (Index index = link.running.first; index != kNone; index = activities_[index].after) {
    activities_[index].amount = transfer_left(index);
  }
  for (ActivityList* list : {&link.running, &link.waiting}) {
    while (list->first != kNone) {
      const Index index = list->first;
      remove(*list, index);
      const bool flows = link.fair() && activities_[index].state == ActivityState::running;
      (flows ? link.flows : queue_).erase(index, places_);
      fail(index, activities_[index].amount);
    }
  }
  link.free_streams = link.streams;
  if (link.fair()) queue_.erase(link.first_flow, places_);
}

void Kernel::fail_link(LinkIndex index) {
  Link& link = links_[index.value()];
  link.failed = true;
  fail_transfers(link);
}

void Kernel::restore_link(LinkIndex index) {
  links_[index.value()].failed = false;
}

std::optional<KernelEvent> Kernel::change_link(Index index) {
  Link& link = links_[index];
  const bool was_up = link.up();
  change_outage(link.outages);
  if (link.up() == was_up) return std::nullopt;
  if (was_up) fail_transfers(link);
  return KernelEvent{.time = now_,
                     .kind = was_up ? KernelEvent::Kind::link_down : KernelEvent::Kind::link_up,
                     .link = LinkIndex(index)};
}

}  // namespace gantry::simulate
