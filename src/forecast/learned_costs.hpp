#pragma once
/// What the tasks of a sweep cost, as learnt from their parameters: by those that ended, whatever
/// hosts they ran on, and by earlier runs. Relative: the mean of the sweep is 1. What was learnt
/// replaces what was known only when it makes a difference, because everybody who has planned with
/// the costs has to plan anew then. Owned by the engine. Values only, no I/O; bounded memory.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "forecast/cost_profile.hpp"
#include "forecast/look_ahead.hpp"
#include "forecast/run_time_model.hpp"
#include "model/ids.hpp"

namespace gantry::forecast {

class LearnedCosts {
 public:
  using FeaturesOf = std::function<Features(TaskId)>;
  /// Tasks that take less are not worth it: what is learnt of them is noise, and takes its time.
  static constexpr double kWorthLearning = 0.02;
  /// Neighbours take long to ask: not for more tasks.
  static constexpr std::uint32_t kMostByNeighbours = 20'000;

  /// Of tasks 1 .. count. `kept` is what earlier runs have taught: seconds, on a host of speed 1.
  /// Without features nothing is ever learnt.
  LearnedCosts(std::uint32_t count, FeaturesOf features, RunTimeModel kept);

  /// Tasks have been added: there are so many now.
  void extend(std::uint32_t count);

  [[nodiscard]] bool learns() const { return static_cast<bool>(features_); }
  /// Until then all tasks cost the same.
  [[nodiscard]] bool known() const { return model_.has_value(); }
  /// In steps of 5 %, so that tasks are of few kinds; not below a thousandth. 1 when not known().
  [[nodiscard]] double cost(TaskId task) const;
  /// Seconds for a cost of 1, on a host of speed 1. REQUIRES: known().
  [[nodiscard]] double unit() const { return unit_; }
  /// Of tasks [index, count). REQUIRES: known().
  [[nodiscard]] double mean_from(std::uint32_t index) const {
    return seconds_profile_.mean_from(index) / unit_;
  }
  /// Of tasks [index, count): how far off their sum may be because they are beyond what was seen,
  /// as part of it.
  [[nodiscard]] Margin margin_from(std::uint32_t index) const;

  /// A task took so many seconds on a host that was declared to be of this speed. True: costs are
  /// others now.
  bool ran(TaskId task, HostId host, double speed, double seconds);

  /// In four of five cases a task takes from that to that part of what is expected of it.
  [[nodiscard]] std::optional<std::pair<double, double>> spread(TaskId task) const;
  /// The newest, also if costs are from one before it, because it made no difference; nullptr:
  /// none.
  [[nodiscard]] const RunTimeModel* model() const { return newest_ ? &*newest_ : nullptr; }
  /// For later runs, of all that is known: seconds on the first host, as if its speed were 1.
  /// Nothing when nothing was learnt here.
  [[nodiscard]] std::optional<RunTimeModel> to_keep() const;

 private:
  /// To tell slow hosts from long tasks.
  [[nodiscard]] bool has_enough() const;
  struct Seen {
    TaskId task;
    HostId host;
    double speed = 1;
    double seconds = 0;
  };
  struct Fitted {
    RunTimeModel model;
    double first_host = 1;  ///< seconds there for a second of the model
  };

  [[nodiscard]] bool worth_learning() const;
  [[nodiscard]] Fitted fit() const;
  [[nodiscard]] bool makes_a_difference(const RunTimeModel& model) const;
  void use(RunTimeModel model);
  /// Quick enough to ask it for all tasks.
  [[nodiscard]] bool is_quick(const RunTimeModel& model) const;

  std::uint32_t count_;
  FeaturesOf features_;
  RunTimeModel kept_;
  std::optional<RunTimeModel> model_;  ///< what costs are from
  std::optional<RunTimeModel> newest_;
  double unit_ = 1;
  CostProfile seconds_profile_{0, {}};
  CostProfile below_{0, {}};  ///< what is not known of all of them
  CostProfile above_{0, {}};
  bool beyond_ = false;  ///< some tasks may be

  std::vector<Seen> seen_;  ///< of all, each with the same chance
  std::uint64_t observed_ = 0;
  std::uint64_t next_fit_ = 4;
  double seconds_ = 0;  ///< of all
};

}  // namespace gantry::forecast
