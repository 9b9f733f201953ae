#pragma once
/// How long a run's tasks take: the cost of each, declared or learnt from its parameters, and how
/// long a cost of 1 takes on each host. Part of the Bookkeeper. A value, except that runs share
/// what is learnt about the grid; bounded memory; one thread.

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "base/time.hpp"
#include "forecast/cost_profile.hpp"
#include "forecast/grid_forecast.hpp"
#include "forecast/learned_costs.hpp"
#include "forecast/run_time.hpp"
#include "forecast/run_time_sample.hpp"
#include "forecast/slot_efficiency.hpp"
#include "model/ids.hpp"

namespace gantry::forecast {

/// Appends an item; drops the oldest if there are `most` already.
template <class Item>
void push_bounded(std::deque<Item>& items, Item item, std::size_t most) {
  if (items.size() == most) items.pop_front();
  items.push_back(std::move(item));
}

/// Run times observed on a host, for a cost of 1. Its speed is kept after the host has gone.
struct HostSample {
  double speed = 1;
  RunTimeSample times{};
};

class TimeBook {
 public:
  using TaskTime = std::pair<TaskId, Duration>;
  using CostOf = std::function<double(TaskId)>;

  /// For tasks 1 .. count. Costs that are not declared are learnt; `known` was learnt in earlier
  /// runs.
  TimeBook(std::uint32_t count, CostOf cost, LearnedCosts::FeaturesOf features, RunTimeModel known,
           GridForecast seen);

  // Observations. True if costs have changed.
  // -----------------------------------------------------------------------------------------
  /// Tasks were added: there are `count` now.
  bool extend(std::uint32_t count);

  /// An attempt that has run.
  struct Attempt {
    TaskId task;
    HostId host;
    TimePoint started;
    TimePoint ended;
    std::optional<double> begun{};  ///< GridForecast::work_done() when it started
  };
  /// `slots`: on all hosts while it ran.
  bool succeeded(const Attempt& attempt, std::uint64_t slots);
  /// If the task is tried again, the attempt's time counts towards the task's. It says nothing
  /// about the host's speed: an attempt that fails at once would make the host look fast.
  void failed(const Attempt& attempt, std::uint64_t slots, bool is_tried_again);
  /// A success of an earlier session. It is taken in by end_replay(): computing a million costs
  /// only to drop most of them would be slow.
  void replayed(TaskId task, Duration took);
  [[nodiscard]] const std::deque<TaskTime>& replayed_times() const { return replayed_; }
  void end_replay();
  /// Forgets the time that failed attempts of the task have wasted.
  void start_over(TaskId task) { wasted_.erase(task); }
  /// Drops observations of hosts that are gone, unless there are no others.
  void forget_gone_hosts();
  void launched(SiteId site, double seconds, TimePoint ended) {
    seen_.launched(site, seconds, ended);
  }

  // Forecasts.
  // -----------------------------------------------------------------------------------------
  /// The declared cost, or else the learnt one; 1 if neither is known.
  [[nodiscard]] double cost_of(TaskId task) const {
    return cost_ ? cost_(task) : learned_.cost(task);
  }
  /// The mean cost of tasks [index, count).
  [[nodiscard]] double mean_cost_from(std::uint32_t index) const {
    return learned_.known() ? learned_.mean_from(index) : declared_.mean_from(index);
  }
  /// How long an attempt of the task takes on the host; nothing if not known.
  [[nodiscard]] std::optional<Duration> expected(TaskId task, HostId host) const;
  /// Seconds for a cost of 1 on a host of this declared speed; nothing if not known.
  [[nodiscard]] std::optional<double> pace(HostId host, double speed) const;
  /// Seconds left of an attempt that takes `whole` seconds in all.
  [[nodiscard]] double left_of(HostId host, double whole, TimePoint started,
                               std::optional<double> begun, TimePoint now) const;
  /// Seconds for a cost of 1 of the fastest task; nothing before enough tasks have ended.
  [[nodiscard]] std::optional<double> quickest() const;
  /// Whether everything known comes from earlier runs, that is for a host of speed 1.
  [[nodiscard]] bool is_of_another_run() const { return learned_.known() && ran_.empty(); }

  [[nodiscard]] const RunTimeForecast& run_times() const { return run_times_; }
  /// What was learnt about the grid, with the hosts' paces for this run's tasks.
  [[nodiscard]] const GridForecast& seen() const { return seen_; }
  [[nodiscard]] const LearnedCosts& learned() const { return learned_; }
  [[nodiscard]] const std::map<HostId, HostSample>& samples() const { return samples_; }
  /// The fraction of their time in which slots run tasks.
  [[nodiscard]] double efficiency() const { return efficiency_.value(); }

 private:
  /// An observation for a host's pace.
  struct Ran {
    TaskId task;
    double seconds = 0;
    TimePoint started;
    TimePoint ended;
    double wasted = 0;  ///< seconds of its earlier failed attempts; counts for the ETA only
  };

  void profile_declared(std::uint32_t count);
  void took(const Attempt& attempt, double cost, std::uint64_t slots);
  void remember(const TaskTime& time);
  void note_quickest(double cost, Duration took);
  void observe_time(HostId host, TimePoint started, double seconds);
  /// Costs have changed: takes in all observations again.
  void count_again();

  CostOf cost_;
  CostProfile declared_{0, {}};
  LearnedCosts learned_;
  RunTimeForecast run_times_;
  GridForecast seen_;
  SlotEfficiency efficiency_;
  std::map<HostId, HostSample> samples_;
  /// By task that is tried again: seconds of its failed attempts, on a host of speed 1.
  std::map<TaskId, double> wasted_;
  double quickest_ = std::numeric_limits<double>::infinity();
  std::uint32_t timed_ = 0;  ///< tasks among which quickest() was found
  /// Recent observations, by host and in all, to be taken in again when costs change.
  std::map<HostId, std::deque<Ran>> ran_on_;
  std::deque<TaskTime> ran_;
  std::deque<TaskTime> replayed_;  ///< the last ones
};

}  // namespace gantry::forecast
