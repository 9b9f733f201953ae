#pragma once
/// The attempts of a run that hosts have and that have not ended. At most two of a task count, on
/// different hosts: the first and its twin. A leftover no longer counts, because its task has its
/// result from the other attempt. Also knows what waits at each host, and attempts whose end is not
/// known. Knows neither hosts nor states of tasks: Run keeps those in step. A value, owned by its
/// run.

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "forecast/memory_book.hpp"
#include "model/ids.hpp"
#include "schedule/packing.hpp"

namespace gantry::engine {

/// An attempt within one run.
using AttemptKey = std::pair<TaskId, AttemptId>;

/// An attempt that was handed over and has not ended.
struct Outstanding {
  AttemptId attempt;
  HostId host;
  schedule::Load load = 0;
  TimePoint started = kNever;
  Duration expected{0};  ///< forecast of its run time when it started; 0 = not known
  bool running = false;
  bool computed = false;  ///< it no longer occupies its host; its outputs are on their way home
  bool ending = false;    ///< it is being cancelled
  bool alone = false;     ///< it must not get a twin
  std::optional<double> begun{};  ///< GridForecast::work_done() of its host at the start, if known
  forecast::GivenMemory memory{};
};

class Attempts {
 public:
  // Those that count.
  // -----------------------------------------------------------------------------------------
  /// nullptr (here and below) if there is none.
  [[nodiscard]] Outstanding* find(const AttemptKey& key);
  [[nodiscard]] const Outstanding* find(const AttemptKey& key) const;
  [[nodiscard]] bool none() const { return first_.empty(); }
  [[nodiscard]] bool has(TaskId task) const { return first_.contains(task); }
  /// The task's first attempt, which decides its state; the other is its twin.
  [[nodiscard]] const Outstanding* first(TaskId task) const;
  [[nodiscard]] Outstanding* first(TaskId task);
  [[nodiscard]] Outstanding* twin(TaskId task);
  /// No task has a twin, and there are no leftovers.
  [[nodiscard]] bool all_first() const { return twins_.empty() && leftovers_.empty(); }
  [[nodiscard]] bool has_twin(TaskId task) const { return twins_.contains(task); }
  /// One of the task's attempts runs. REQUIRES: has(task).
  [[nodiscard]] bool is_running(TaskId task) const;
  /// Attempts on the host, in order.
  [[nodiscard]] std::vector<AttemptKey> on(HostId host) const;
  /// Adds an attempt that waits at its host. REQUIRES: the task has fewer than two.
  void add(TaskId task, const Outstanding& attempt);
  /// The attempt runs now. REQUIRES: !attempt.running.
  void start(Outstanding& attempt, TimePoint at);
  /// Removes an attempt that has ended or no longer counts; its twin takes its place. REQUIRES:
  /// find(key).
  Outstanding remove(const AttemptKey& key);

  // Leftovers.
  // -----------------------------------------------------------------------------------------
  [[nodiscard]] bool any_leftover() const { return !leftovers_.empty(); }
  [[nodiscard]] bool is_leftover(const AttemptKey& key) const { return leftovers_.contains(key); }
  void add_leftover(TaskId task, const Outstanding& attempt) {
    leftovers_.emplace(AttemptKey{task, attempt.attempt}, attempt);
  }
  /// Nothing if it is not a leftover.
  std::optional<Outstanding> remove_leftover(const AttemptKey& key);
  [[nodiscard]] std::vector<AttemptKey> leftovers_on(HostId host) const;

  /// One that counts, or a leftover.
  [[nodiscard]] Outstanding* find_any(const AttemptKey& key);
  [[nodiscard]] const Outstanding* find_any(const AttemptKey& key) const;
  template <class Condition>
  [[nodiscard]] bool any_host(const Condition& condition) const;

  // Those that are to end.
  // -----------------------------------------------------------------------------------------
  void tell_to_end(TaskId task, Outstanding& attempt);
  /// Attempts that were told to end since the last call and have not ended, with their hosts.
  std::vector<std::pair<AttemptKey, HostId>> take_told();

  // Those whose end is not known: their host vanished, or a later one was heard of first.
  // -----------------------------------------------------------------------------------------
  [[nodiscard]] bool is_missing(const AttemptKey& key) const { return missing_.contains(key); }
  void add_missing(const AttemptKey& key, SiteId site) { missing_.insert_or_assign(key, site); }
  /// Its number was skipped, so its host is not known.
  void pass_over(const AttemptKey& key) { missing_.try_emplace(key, kHome); }
  void remove_missing(const AttemptKey& key) { missing_.erase(key); }
  [[nodiscard]] const std::map<AttemptKey, SiteId>& missing() const { return missing_; }

  // What waits at hosts.
  // -----------------------------------------------------------------------------------------
  /// Recalls everything that waits at the host. False if nothing does, or it was already recalled.
  bool recall(HostId host);
  /// The host is up again: forgets the recall.
  void reset_recall(HostId host);
  void forget_queue(HostId host) { queues_.erase(host); }
  /// When what waits there was last recalled for the sake of idle hosts.
  [[nodiscard]] TimePoint& shared(HostId host) { return queues_[host].shared; }

 private:
  /// Attempts that a host has and has not started.
  struct HostQueue {
    std::uint32_t handed_over = 0;
    bool recalled = false;  ///< all of them were recalled
    TimePoint shared = kNever;
  };
  /// If the attempt waits at its host, removes it from that queue.
  void unqueue(const Outstanding& attempt);

  std::unordered_map<TaskId, Outstanding> first_;  ///< never iterated where the order matters
  std::map<TaskId, Outstanding> twins_;            ///< of tasks in `first_`
  std::map<AttemptKey, Outstanding> leftovers_;    ///< they keep their place until they end
  std::map<AttemptKey, SiteId> missing_;
  std::vector<AttemptKey> told_;
  std::unordered_map<HostId, HostQueue> queues_;  ///< never iterated
};

template <class Condition>
bool Attempts::any_host(const Condition& condition) const {
  const auto is_met = [&](const auto& entry) { return condition(entry.second.host); };
  return std::ranges::any_of(first_, is_met) || std::ranges::any_of(twins_, is_met) ||
         std::ranges::any_of(leftovers_, is_met);
}

}  // namespace gantry::engine
