#pragma once
/// For tests: a small random grid and a driver that carries random tasks through it (input,
/// computation, output), tries again what failed, and keeps a ledger of everything that was
/// started.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "simulate/kernel.hpp"

namespace gantry::simulate {

/// How large, and which one of that size.
struct PlayerSize {
  std::uint32_t hosts = 2;
  std::uint32_t links = 2;
  std::uint32_t tasks = 6;
  bool outages = false;
  bool loans = false;
  std::uint64_t seed = 0;
};

class KernelPlayer {
 public:
  /// What one activity did: between two moments, `amount - left` of it.
  struct Entry {
    std::uint32_t task = 0;
    std::uint8_t phase = 0;
    bool transfer = false;
    std::uint32_t resource = 0;
    double amount = 0;
    ActivityId id = {};
  };

  explicit KernelPlayer(const PlayerSize& size) : size_(size), random_(size.seed) {
    for (std::uint32_t i = 0; i < size.hosts; ++i) hosts.push_back(kernel.add_host(any_host()));
    for (std::uint32_t i = 0; i < size.links; ++i) links.push_back(kernel.add_link(any_link()));
    if (size.loans) {
      const BatchIndex queue = kernel.add_batch_queue({.wait = any_trace(), .limit = 1});
      for (std::uint64_t i = 0; i < 3; ++i) {
        kernel.request_host(queue, any_host(), 1.0 + dice(60), Token(kLoans + i));
      }
    }
    for (std::uint32_t task = 0; task < size.tasks; ++task) {
      kernel.start_timer(dice(40) / 4.0, Token(kStarts + task));
    }
  }

  /// Until nothing happens any more; `look` sees every event before the driver reacts to it.
  void play(const std::function<void(const KernelEvent&)>& look = {}) {
    while (step(look)) {
    }
  }

  bool step(const std::function<void(const KernelEvent&)>& look = {}) {
    const auto event = kernel.next();
    if (!event) return false;
    if (event->time < last_time_) throw std::logic_error("time runs backwards");
    last_time_ = event->time;
    history.push_back(*event);
    if (look) look(*event);
    react(*event);
    if (history.size() > 100'000) throw std::logic_error("no end in sight");
    return true;
  }

  /// As the driver would: gives up one activity and tries it again later.
  void cancel(std::uint64_t token) {
    const auto found = open.find(token);
    if (found == open.end()) return;
    if (!kernel.cancel(found->second.id)) throw std::logic_error("an open activity is unknown");
    retry(found->second);
    open.erase(found);
  }

  Kernel kernel;
  std::vector<HostIndex> hosts;  ///< with the lent ones that have appeared
  std::vector<LinkIndex> links;
  std::map<std::uint64_t, Entry> open;  ///< started, and no event yet; by token
  std::vector<KernelEvent> history;
  std::uint32_t tasks_done = 0;

 private:
  static constexpr std::uint64_t kStarts = 1'000'000;  ///< + task: begin or go on with it
  static constexpr std::uint64_t kLoans = 2'000'000;
  static constexpr std::uint8_t kPhases = 3;

  std::uint32_t dice(std::uint32_t sides) { return static_cast<std::uint32_t>(random_() % sides); }

  Trace any_trace() {
    std::vector<TraceStep> steps;
    double time = 0;
    for (std::uint32_t i = 0; i <= dice(5); ++i) {
      steps.push_back({time, dice(9) / 4.0});
      time += 1 + dice(40) / 2.0;
    }
    steps.push_back({time, 0.5 + dice(4)});  // something is done in every period
    return Trace::make(std::move(steps), time + 10).value().shifted_at_random(random_);
  }

  std::vector<Outage> any_outages() {
    std::vector<Outage> outages;
    double time = dice(20);
    for (std::uint32_t i = 0; size_.outages && i < dice(4); ++i) {
      outages.push_back({time, time + 1 + dice(10)});
      time += 12 + dice(20);
    }
    return outages;
  }

  HostSpec any_host() {
    return {.speed = 0.5 + dice(4),
            .availability = any_trace(),
            .slots = 1 + dice(3),
            .outages = any_outages()};
  }

  LinkSpec any_link() {
    return {.bandwidth = any_trace(),
            .latency = dice(3) / 2.0,
            .sharing = dice(2) == 0 ? LinkSharing::fifo : LinkSharing::fair,
            .streams = 1 + dice(2),
            .outages = any_outages()};
  }

  void start(std::uint32_t task, std::uint8_t phase) {
    const std::uint64_t token = next_token_++;
    Entry entry{.task = task, .phase = phase, .transfer = phase != 1, .amount = dice(200) / 8.0};
    if (entry.transfer) {
      entry.resource = dice(static_cast<std::uint32_t>(links.size()));
      entry.id = kernel.start_transfer(links[entry.resource], entry.amount, Token(token));
    } else {
      entry.resource = dice(static_cast<std::uint32_t>(hosts.size()));
      entry.id = kernel.start_computation(hosts[entry.resource], entry.amount, Token(token));
    }
    open[token] = entry;
  }

  void retry(const Entry& entry) {
    phases_[entry.task] = entry.phase;
    kernel.start_timer(kernel.now() + 0.5 + dice(8), Token(kStarts + entry.task));
  }

  void react(const KernelEvent& event) {
    const std::uint64_t token = event.token.value();
    if (event.kind == KernelEvent::Kind::timer) {
      const auto task = static_cast<std::uint32_t>(token - kStarts);
      return start(task, phases_[task]);
    }
    if (event.kind == KernelEvent::Kind::host_appeared) hosts.push_back(event.host);
    if (event.kind == KernelEvent::Kind::host_vanished) std::erase(hosts, event.host);
    if (event.kind > KernelEvent::Kind::timer) return;

    const auto found = open.find(token);
    if (found == open.end()) throw std::logic_error("an event for what was not open");
    const Entry entry = found->second;
    open.erase(found);
    if (event.kind == KernelEvent::Kind::failed) return retry(entry);
    if (entry.phase + 1 == kPhases) {
      ++tasks_done;
    } else {
      start(entry.task, static_cast<std::uint8_t>(entry.phase + 1));
    }
  }

  PlayerSize size_;
  Random random_;
  double last_time_ = 0;
  std::uint64_t next_token_ = 1;
  std::map<std::uint32_t, std::uint8_t> phases_;  ///< by task: where it goes on
};

}  // namespace gantry::simulate
