#pragma once
/// What a run has learnt and what it expects: observations in, forecasts out, of run times, memory,
/// outputs and the run's end, and how good forecasts of run times were. Owned by the engine's run,
/// one thread. Knows tasks by their number and hosts by what is told of them; no clock.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <utility>

#include "base/time.hpp"
#include "forecast/eta_history.hpp"
#include "forecast/learned_outputs.hpp"
#include "forecast/memory_book.hpp"
#include "forecast/open_run.hpp"
#include "forecast/run_time_accuracy.hpp"
#include "forecast/time_book.hpp"
#include "model/eta.hpp"
#include "model/outcome.hpp"
#include "model/run_snapshot.hpp"

namespace gantry::forecast {

/// What is known of a run's tasks beforehand.
struct KnownTasks {
  std::uint32_t count = 0;
  std::function<double(TaskId)> cost{};        ///< as declared; empty = it is learnt
  std::function<Features(TaskId)> features{};  ///< empty = nothing is learnt from them
  bool learns_memory = false;                  ///< REQUIRES: features
  bool learns_outputs = false;                 ///< where there are features
  // What earlier runs have taught.
  RunTimeModel times{};
  LearnedMemory memory{};
  RunTimeModel outputs{};
};

class Bookkeeper {
 public:
  /// So long after the first pass() forecasts stay as they are; 0 = they never do.
  Bookkeeper(KnownTasks known, GridForecast grid, Duration learn_for);

  // Observations.
  // -----------------------------------------------------------------------------------------
  /// It is that late, and so many tasks have ended. The first call begins the run.
  void pass(TimePoint now, std::uint32_t ended);
  /// Whether observations still count.
  [[nodiscard]] bool learns() const {
    return learn_for_ <= Duration{0} || began_ == kNever || now_ - began_ < learn_for_;
  }
  /// Tasks have been added: there are so many now. True: costs are others.
  bool extend(std::uint32_t count);

  struct Ended {
    const AttemptReport& report;
    HostId host;
    bool is_replayed = false;       ///< it ended in an earlier session
    bool is_tried_again = false;    ///< a failed task's work was in vain, unless it is given up
    bool learns_memory = false;     ///< of the task
    std::uint64_t slots = 0;        ///< on all hosts, for tasks of the usual kind
    std::optional<double> begun{};  ///< GridForecast::work_done() when it started
  };
  /// True: costs are others now.
  bool observe(const Ended& attempt);
  /// It died of memory, being given so much.
  void died_of_memory(const Ended& attempt, std::uint64_t given);
  /// A forecast has come due. `site`: of its host, if that is up.
  void score(const AttemptReport& report, Duration expected, std::optional<SiteId> site);
  /// An attempt took so many seconds besides its run time.
  void launched(SiteId site, double seconds, TimePoint ended);
  /// A task that succeeded made so many bytes of output.
  void made(TaskId task, std::uint64_t output_bytes);
  void end_replay();
  /// What replayed attempts have told, until end_replay(): all that a snapshot needs.
  void keep(RunSnapshot& snapshot) const;
  void restore(const RunSnapshot& snapshot);
  /// The task has its result, is given up, or begins anew.
  void start_over(TaskId task) { times_.start_over(task); }
  /// A host is down.
  void hosts_gone() { times_.forget_gone_hosts(); }

  /// Which forecasts say something else after refresh().
  struct Refreshed {
    bool memory = false;
    bool outputs = false;
  };
  Refreshed refresh();

  // Forecasts.
  // -----------------------------------------------------------------------------------------
  [[nodiscard]] const TimeBook& times() const { return times_; }
  [[nodiscard]] const MemoryBook& memory() const { return memory_; }
  [[nodiscard]] const LearnedOutputs& outputs() const { return outputs_; }
  [[nodiscard]] const RunTimeAccuracy& accuracy() const { return accuracy_; }
  /// When an attempt last ended at a site that was not late.
  [[nodiscard]] const std::map<SiteId, TimePoint>& on_time() const { return on_time_; }
  /// For planners, quick to ask and in coarse steps; nothing before enough was seen.
  [[nodiscard]] std::optional<double> output_bytes(TaskId task) const;
  /// The same with its interval.
  [[nodiscard]] std::optional<RunTimeModel::Prediction> expected_outputs(TaskId task) const;

  /// Some task has ended: there is something to tell.
  [[nodiscard]] bool knows_times() const { return times_.run_times().observations() > 0; }
  /// How long the rest takes. REQUIRES: the run is not finished.
  [[nodiscard]] Eta eta(const OpenRun& run, TimePoint now) const;
  /// Is it time to remember what is expected, when so many tasks of all have ended?
  [[nodiscard]] bool is_look_due(std::uint32_t ended, std::uint32_t total) const {
    return knows_times() && history_.is_due(share_done(ended, total));
  }
  void look_back(const OpenRun& run, TimePoint now);

 private:
  /// Of the tasks that were to be done when it began.
  [[nodiscard]] double share_done(std::uint32_t ended, std::uint32_t total) const;
  void observe_use(const Ended& attempt);
  bool observe_time(const Ended& attempt);

  std::uint32_t count_;
  std::function<Features(TaskId)> features_;
  bool learns_outputs_;
  Duration learn_for_;
  TimePoint now_ = kNever;
  TimePoint began_ = kNever;
  std::uint32_t ended_before_ = 0;  ///< tasks, when it began

  TimeBook times_;
  MemoryBook memory_;
  LearnedOutputs outputs_;
  RunTimeAccuracy accuracy_;
  std::map<SiteId, TimePoint> on_time_;
  EtaHistory history_;
  std::deque<std::pair<TaskId, std::uint64_t>> replayed_memory_;  ///< the last ones
};

}  // namespace gantry::forecast
