#pragma once
/// When a running task must be ended: its time is up, it holds too much memory, or somebody
/// cancelled it. Says what to do and when to look again; signals are sent by whoever asks. A plain
/// value; time is handed in, from a clock that nobody sets.

#include <chrono>
#include <cstdint>
#include <optional>

#include "agent/causes.hpp"
#include "base/time.hpp"

namespace gantry::agent {

using SteadyTime = std::chrono::steady_clock::time_point;

struct Limits {
  Duration timeout{0};       ///< 0 = none
  std::uint64_t memory = 0;  ///< bytes; 0 = none
  Duration grace{0};         ///< between SIGTERM and SIGKILL
};

class LimitWatch {
 public:
  static constexpr Duration kMemoryInterval = std::chrono::milliseconds(50);
  /// Between one SIGKILL and the next, for what was forked meanwhile.
  static constexpr Duration kKillInterval = std::chrono::milliseconds(100);

  enum class Do { nothing, terminate, kill };

  LimitWatch() = default;
  LimitWatch(const Limits& limits, SteadyTime now);

  /// How long nothing has to be looked at; nothing when there is no limit.
  [[nodiscard]] std::optional<Duration> until_next_check(SteadyTime now) const;
  [[nodiscard]] bool memory_is_due(SteadyTime now) const { return now >= memory_check_; }

  /// What the time demands.
  Do on_time(SteadyTime now);
  /// What the task's memory demands, once memory_is_due.
  Do on_memory(std::uint64_t bytes, SteadyTime now);
  Do on_cancel(SteadyTime now);

  /// Why it has to end; `none` while it may go on.
  [[nodiscard]] Cause reason() const { return reason_; }
  /// It was asked to end and has time left to do so.
  [[nodiscard]] bool in_grace() const { return reason_ != Cause::none && !killing_; }

 private:
  static constexpr SteadyTime kNotEver = SteadyTime::max();
  Do stop(Cause why, SteadyTime now);
  Do kill(SteadyTime now);

  Limits limits_;
  SteadyTime deadline_ = kNotEver;
  SteadyTime kill_at_ = kNotEver;
  SteadyTime memory_check_ = kNotEver;
  Cause reason_ = Cause::none;
  bool killing_ = false;
};

}  // namespace gantry::agent
