#include "simulate/kernel.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace gantry::simulate {

namespace {

/// Added to the order of outages: of equal times they come last.
constexpr std::uint64_t kLast = std::uint64_t{1} << 63U;

std::uint64_t order_of(ActivityKind kind, std::uint64_t number) {
  const bool last = kind == ActivityKind::host_change || kind == ActivityKind::link_change;
  return last ? number | kLast : number;
}

}  // namespace

Kernel::Index Kernel::new_activity(ActivityKind kind, Index resource, double amount, Token token) {
  Index index = 0;
  if (free_.empty()) {
    index = static_cast<Index>(activities_.size());
    activities_.emplace_back();
    places_.push_back(EventHeap::kNowhere);
  } else {
    index = free_.back();
    free_.pop_back();
  }
  Activity& activity = activities_[index];
  const std::uint32_t generation = activity.generation + 1;
  activity = {.token = token,
              .order = order_of(kind, next_order_++),
              .amount = amount,
              .resource = resource,
              .generation = generation,
              .kind = kind,
              .state = ActivityState::asleep};
  return index;
}

void Kernel::release(Index index) {
  queue_.erase(index, places_);
  activities_[index].state = ActivityState::free;
  free_.push_back(index);
}

ActivityId Kernel::id_of(Index index) const {
  return ActivityId(std::uint64_t{activities_[index].generation} << 32U | index);
}

std::optional<Kernel::Index> Kernel::find(ActivityId id) const {
  const auto index = static_cast<Index>(id.value());
  if (index >= activities_.size()) return std::nullopt;
  const Activity& activity = activities_[index];
  if (activity.state == ActivityState::free || id_of(index) != id) return std::nullopt;
  return index;
}

void Kernel::schedule(Index index, double at) {
  schedule(index, at, activities_[index].order);
}

void Kernel::schedule(Index index, double at, std::uint64_t order) {
  assert(!std::isnan(at));
  if (at == kForever) return queue_.erase(index, places_);
  queue_.set({std::max(at, now_), order, index}, places_);
}

void Kernel::append(ActivityList& list, Index index) {
  Activity& activity = activities_[index];
  activity.before = list.last;
  activity.after = kNone;
  (list.last == kNone ? list.first : activities_[list.last].after) = index;
  list.last = index;
}

void Kernel::remove(ActivityList& list, Index index) {
  const Activity& activity = activities_[index];
  (activity.before == kNone ? list.first : activities_[activity.before].after) = activity.after;
  (activity.after == kNone ? list.last : activities_[activity.after].before) = activity.before;
}

ActivityId Kernel::start_timer(double at, Token token) {
  assert(at >= now_);
  const Index index = new_activity(ActivityKind::timer, kNone, 0, token);
  schedule(index, at);
  return id_of(index);
}

/// REQUIRES: in no list, in no heap.
void Kernel::fail(Index index, double left) {
  Activity& activity = activities_[index];
  activity.state = ActivityState::failed;
  activity.amount = left;
  append(failed_, index);
}

bool Kernel::cancel(ActivityId id) {
  const auto found = find(id);
  if (!found) return false;
  const Activity& activity = activities_[*found];
  if (activity.state == ActivityState::failed) {
    remove(failed_, *found);
  } else if (activity.kind == ActivityKind::computation) {
    leave_host(*found);
  } else if (activity.kind == ActivityKind::transfer) {
    leave_link(*found);
  }
  release(*found);
  return true;
}

double Kernel::left(ActivityId id) const {
  const auto found = find(id);
  assert(found);
  const Activity& activity = activities_[*found];
  if (activity.state == ActivityState::failed) return activity.amount;
  assert(activity.kind == ActivityKind::computation || activity.kind == ActivityKind::transfer);
  return activity.kind == ActivityKind::computation ? computation_left(*found)
                                                    : transfer_left(*found);
}

KernelEvent Kernel::deliver(Index index, KernelEvent::Kind kind, double left) {
  const Activity& activity = activities_[index];
  KernelEvent event{.time = now_, .kind = kind, .token = activity.token, .left = left};
  if (activity.kind == ActivityKind::computation) event.host = HostIndex(activity.resource);
  if (activity.kind == ActivityKind::transfer) event.link = LinkIndex(activity.resource);
  release(index);
  return event;
}

std::optional<KernelEvent> Kernel::fire(Index index) {
  const Activity& activity = activities_[index];
  switch (activity.kind) {
    case ActivityKind::timer:
      return deliver(index, KernelEvent::Kind::timer);
    case ActivityKind::computation:
      leave_host(index);
      return deliver(index, KernelEvent::Kind::done);
    case ActivityKind::transfer:
      if (activity.state == ActivityState::latency) {
        start_flow(index);
        return std::nullopt;
      }
      leave_link(index);
      return deliver(index, KernelEvent::Kind::done);
    case ActivityKind::first_flow:
      return end_first_flow(activity.resource);
    case ActivityKind::host_change:
      return change_host(activity.resource);
    case ActivityKind::link_change:
      return change_link(activity.resource);
  }
  return std::nullopt;
}

std::optional<KernelEvent> Kernel::next() {
  for (;;) {
    if (failed_.first != kNone) {
      const Index index = failed_.first;
      remove(failed_, index);
      ++events_;
      return deliver(index, KernelEvent::Kind::failed, activities_[index].amount);
    }
    if (queue_.empty()) return std::nullopt;
    const EventHeap::Entry first = queue_.top();
    now_ = first.key;
    ++events_;
    if (auto event = fire(first.item)) return event;
  }
}

/// The alarm of a host's or link's outages rings at the next change.
void Kernel::plan_outages(Outages& outages, ActivityKind alarm, Index resource) {
  if (outages.list.empty()) return;
  if (outages.alarm == kNone) {
    outages.alarm = new_activity(alarm, resource, 0, Token());
    while (outages.next < outages.list.size() && outages.list[outages.next].until <= now_) {
      ++outages.next;
    }
    outages.down = outages.next < outages.list.size() && outages.list[outages.next].from <= now_;
  }
  schedule(outages.alarm, outages.next_change());
}

void Kernel::change_outage(Outages& outages) {
  if (outages.down) ++outages.next;
  outages.down = !outages.down;
  schedule(outages.alarm, outages.next_change());
}

}  // namespace gantry::simulate
