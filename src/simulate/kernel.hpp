#pragma once
/// The event kernel of the simulated grid: virtual time, hosts that compute, links that carry. Its
/// driver starts activities and asks for the next event; between two events nothing happens. An
/// event costs O(log activities). A value: a copy is another future of the same world. One thread
/// at a time. docs/simulation.md says how the parts behave.

#include <cstdint>
#include <optional>
#include <vector>

#include "simulate/event_heap.hpp"
#include "simulate/kernel_parts.hpp"
#include "simulate/kernel_world.hpp"

namespace gantry::simulate {

/// Something happened at `time`.
struct KernelEvent {
  enum class Kind : std::uint8_t {
    done,       ///< a computation or transfer
    failed,     ///< a computation or transfer, because its host or link was not up
    timer,      ///
    host_down,  ///< an outage began; what was there fails right after this
    host_up,    ///< it is over
    link_down,  ///
    link_up,    ///
  };
  double time = 0;
  Kind kind = Kind::done;
  Token token{};     ///< the caller's, of the activity
  HostIndex host{};  ///< of computations and host_* events
  LinkIndex link{};  ///< of transfers and link_* events
  double left = 0;   ///< how much of a failed activity was not done
  friend bool operator==(const KernelEvent&, const KernelEvent&) = default;
};

class Kernel {
 public:
  [[nodiscard]] double now() const { return now_; }

  // --- The world. May change at any time; an index is never used again. Numbers are finite and not
  // negative, speeds positive, outages in order and apart.
  HostIndex add_host(const HostSpec& spec);
  LinkIndex add_link(const LinkSpec& spec);

  /// What is at a host or link that goes down has failed; the events come next. What is started
  /// there fails at once, until it is up again. An outage of the specification adds to this.
  void fail_host(HostIndex index);
  void restore_host(HostIndex index);
  void fail_link(LinkIndex index);
  void restore_link(LinkIndex index);
  [[nodiscard]] bool is_up(HostIndex host) const { return hosts_[host.value()].up(); }
  [[nodiscard]] bool is_up(LinkIndex link) const { return links_[link.value()].up(); }

  // --- Activities. Those that find no free slot or stream wait their turn, first come, first
  // served.
  /// `work` is seconds on an unloaded host of speed 1. REQUIRES: 1 <= slots <= the host's.
  ActivityId start_computation(HostIndex on, double work, Token token, std::uint32_t slots = 1);
  ActivityId start_transfer(LinkIndex over, double bytes, Token token);
  /// REQUIRES: at >= now().
  ActivityId start_timer(double at, Token token);

  /// No event will come of it; false when its event was there already.
  bool cancel(ActivityId id);
  /// How much of a computation or transfer is still to do. REQUIRES: its event was not there yet.
  [[nodiscard]] double left(ActivityId id) const;

  /// Goes on to the next event; nothing when nothing will ever happen again. Of equal times, what
  /// was started first comes first; ends of work come before outages.
  std::optional<KernelEvent> next();
  /// So many have happened, the silent ones (the end of a latency) included.
  [[nodiscard]] std::uint64_t events() const { return events_; }

 private:
  using Index = std::uint32_t;

  // kernel.cpp
  Index new_activity(ActivityKind kind, Index resource, double amount, Token token);
  void release(Index index);
  [[nodiscard]] std::optional<Index> find(ActivityId id) const;
  [[nodiscard]] ActivityId id_of(Index index) const;
  void schedule(Index index, double at);
  void schedule(Index index, double at, std::uint64_t order);
  void append(ActivityList& list, Index index);
  void remove(ActivityList& list, Index index);
  void fail(Index index, double left);
  KernelEvent deliver(Index index, KernelEvent::Kind kind, double left = 0);
  std::optional<KernelEvent> fire(Index index);
  void plan_outages(Outages& outages, ActivityKind alarm, Index resource);
  void change_outage(Outages& outages);

  // kernel_hosts.cpp
  void start_waiting_computations(Host& host);
  [[nodiscard]] double computation_left(Index index) const;
  void leave_host(Index index);
  void fail_computations(Host& host);
  std::optional<KernelEvent> change_host(Index index);

  // kernel_links.cpp
  void start_waiting_transfers(Link& link);
  void start_flow(Index index);
  [[nodiscard]] double clock_now(const Link& link) const;
  void read_clock(Link& link);
  void plan_first_flow(Link& link);
  KernelEvent end_first_flow(Index index);
  [[nodiscard]] double transfer_left(Index index) const;
  void leave_link(Index index);
  void fail_transfers(Link& link);
  std::optional<KernelEvent> change_link(Index index);

  double now_ = 0;
  std::uint64_t next_order_ = 0;
  std::uint64_t events_ = 0;
  std::vector<Activity> activities_;
  EventHeap::Places places_;  ///< of activities, in queue_ or in their link's heap
  std::vector<Index> free_;
  ActivityList failed_;  ///< their events come next
  EventHeap queue_;      ///< what happens when; keys are times
  std::vector<Host> hosts_;
  std::vector<Link> links_;
};

}  // namespace gantry::simulate
