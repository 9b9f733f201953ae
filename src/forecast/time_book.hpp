#pragma once
/// How long the tasks of a run take: what each costs, as declared or learnt from its parameters,
/// and how long a cost of 1 takes on each host. Part of the Bookkeeper. A value, but for what is
/// learnt of the grid, which runs share; bounded memory; one thread.

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

/// The last few of many: the oldest makes way when there are `most` already.
template <class Item>
void push_bounded(std::deque<Item>& items, Item item, std::size_t most) {
  if (items.size() == most) items.pop_front();
  items.push_back(std::move(item));
}

/// Run times that were seen on a host, for a cost of 1. Its speed outlives it.
struct HostSample {
  double speed = 1;
  RunTimeSample times{};
};

class TimeBook {
 public:
  using TaskTime = std::pair<TaskId, Duration>;
  using CostOf = std::function<double(TaskId)>;

  /// Of tasks 1 .. count. Without declared costs they are learnt; `known` is what earlier runs have
  /// taught.
  TimeBook(std::uint32_t count, CostOf cost, LearnedCosts::FeaturesOf features, RunTimeModel known,
           GridForecast seen);

  // What happened. True: costs are others now.
  // -----------------------------------------------------------------------------------------
  /// Tasks have been added: there are so many now.
  bool extend(std::uint32_t count);

  /// An attempt that has run.
  struct Attempt {
    TaskId task;
    HostId host;
    TimePoint started;
    TimePoint ended;
    std::optional<double> begun{};  ///< GridForecast::work_done() when it started
  };
  /// While there were so many slots on all hosts.
  bool succeeded(const Attempt& attempt, std::uint64_t slots);
  /// If its task is tried again, what it took is part of what the task takes. It says nothing else
  /// of its host: one that fails at once would make it look fast.
  void failed(const Attempt& attempt, std::uint64_t slots, bool is_tried_again);
  /// In an earlier session. Counts when end_replay() is called: calculating a million costs to
  /// forget most of them would be slow.
  void replayed(TaskId task, Duration took);
  [[nodiscard]] const std::deque<TaskTime>& replayed_times() const { return replayed_; }
  void end_replay();
  /// What attempts of the task have wasted so far counts no more.
  void start_over(TaskId task) { wasted_.erase(task); }
  /// Of hosts that are gone what was seen counts no more, unless there is nothing else.
  void forget_gone_hosts();
  void launched(SiteId site, double seconds, TimePoint ended) {
    seen_.launched(site, seconds, ended);
  }

  // What to expect.
  // -----------------------------------------------------------------------------------------
  /// As declared, or else as learnt; 1 when nothing is known.
  [[nodiscard]] double cost_of(TaskId task) const {
    return cost_ ? cost_(task) : learned_.cost(task);
  }
  /// Of tasks [index, count) on average.
  [[nodiscard]] double mean_cost_from(std::uint32_t index) const {
    return learned_.known() ? learned_.mean_from(index) : declared_.mean_from(index);
  }
  /// How long an attempt of the task takes on the host; nothing when nothing is known.
  [[nodiscard]] std::optional<Duration> expected(TaskId task, HostId host) const;
  /// Seconds for a cost of 1 on a host that is declared to be of this speed; nothing when nothing
  /// is known.
  [[nodiscard]] std::optional<double> pace(HostId host, double speed) const;
  /// Seconds that are left of an attempt which takes `whole` seconds in all.
  [[nodiscard]] double left_of(HostId host, double whole, TimePoint started,
                               std::optional<double> begun, TimePoint now) const;
  /// Seconds for a cost of 1, of the task that was done quickest; nothing before enough were.
  [[nodiscard]] std::optional<double> quickest() const;
  /// What is known is from an earlier run alone: of a host of speed 1.
  [[nodiscard]] bool is_of_another_run() const { return learned_.known() && ran_.empty(); }

  [[nodiscard]] const RunTimeForecast& run_times() const { return run_times_; }
  /// The grid's, and how fast hosts do tasks of this run.
  [[nodiscard]] const GridForecast& seen() const { return seen_; }
  [[nodiscard]] const LearnedCosts& learned() const { return learned_; }
  [[nodiscard]] const std::map<HostId, HostSample>& samples() const { return samples_; }
  /// Which part of their time the slots run tasks.
  [[nodiscard]] double efficiency() const { return efficiency_.value(); }

 private:
  /// What counts for a host's pace.
  struct Ran {
    TaskId task;
    double seconds = 0;
    TimePoint started;
    TimePoint ended;
    double wasted = 0;  ///< by its attempts that died before; counts for the ETA only
  };

  void profile_declared(std::uint32_t count);
  void took(const Attempt& attempt, double cost, std::uint64_t slots);
  void remember(const TaskTime& time);
  void note_quickest(double cost, Duration took);
  void observe_time(HostId host, TimePoint started, double seconds);
  /// Costs are others now: what was seen is counted again.
  void count_again();

  CostOf cost_;
  CostProfile declared_{0, {}};
  LearnedCosts learned_;
  RunTimeForecast run_times_;
  GridForecast seen_;
  SlotEfficiency efficiency_;
  std::map<HostId, HostSample> samples_;
  /// Seconds, on a host of speed 1, of attempts that died, by tasks that are tried again.
  std::map<TaskId, double> wasted_;
  double quickest_ = std::numeric_limits<double>::infinity();
  std::uint32_t timed_ = 0;  ///< tasks of which that is the quickest
  /// What ran of late, by host and in all, to be counted again when costs are others.
  std::map<HostId, std::deque<Ran>> ran_on_;
  std::deque<TaskTime> ran_;
  std::deque<TaskTime> replayed_;  ///< the last ones
};

}  // namespace gantry::forecast
