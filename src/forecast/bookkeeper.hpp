#pragma once
/// What a run has learnt and expects: observations in, forecasts out (run times, memory, outputs,
/// the run's end), and how good forecasts of run times were. Owned by the engine's Run; one thread,
/// no clock.

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

/// What is known about a run's tasks beforehand.
struct KnownTasks {
  std::uint32_t count = 0;
  std::function<double(TaskId)> cost{};        ///< as declared; empty = it is learnt
  std::function<Features(TaskId)> features{};  ///< empty = nothing is learnt from them
  bool learns_memory = false;                  ///< REQUIRES: features
  bool learns_outputs = false;                 ///< only if there are features
  // Learnt in earlier runs.
  RunTimeModel times{};
  LearnedMemory memory{};
  RunTimeModel outputs{};
};

class Bookkeeper {
 public:
  /// Forecasts are frozen `learn_for` after the first pass(); 0 = never.
  Bookkeeper(KnownTasks known, GridForecast grid, Duration learn_for);

  // Observations.
  // -----------------------------------------------------------------------------------------
  /// It is `now`, and `ended` tasks have ended. The first call begins the run.
  void pass(TimePoint now, std::uint32_t ended);
  /// Whether observations still count.
  [[nodiscard]] bool learns() const {
    return learn_for_ <= Duration{0} || began_ == kNever || now_ - began_ < learn_for_;
  }
  /// Tasks were added: there are `count` now. True if costs have changed.
  bool extend(std::uint32_t count);

  struct Ended {
    const AttemptReport& report;
    HostId host;
    bool is_replayed = false;       ///< it ended in an earlier session
    bool is_tried_again = false;    ///< it failed, and its task is tried again
    bool learns_memory = false;     ///< of the task
    std::uint64_t slots = 0;        ///< on all hosts, for typical tasks
    std::optional<double> begun{};  ///< GridForecast::work_done() when it started
  };
  /// True if costs have changed.
  bool observe(const Ended& attempt);
  /// The attempt ran out of memory; it was given `given` bytes.
  void died_of_memory(const Ended& attempt, std::uint64_t given);
  /// An attempt has ended: scores the forecast of its run time. `site`: that of its host, if the
  /// host is up.
  void score(const AttemptReport& report, Duration expected, std::optional<SiteId> site);
  /// An attempt took this many seconds besides its run time.
  void launched(SiteId site, double seconds, TimePoint ended);
  /// A successful task wrote this many bytes of output.
  void made(TaskId task, std::uint64_t output_bytes);
  void end_replay();
  /// Writes the observations of replayed attempts to a snapshot, and restores them. Only before
  /// end_replay().
  void keep(RunSnapshot& snapshot) const;
  void restore(const RunSnapshot& snapshot);
  /// The task has its result, is given up, or starts anew.
  void start_over(TaskId task) { times_.start_over(task); }
  /// A host is down.
  void hosts_gone() { times_.forget_gone_hosts(); }

  /// Which forecasts changed in refresh().
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
  /// By site: when an attempt last ended there on time.
  [[nodiscard]] const std::map<SiteId, TimePoint>& on_time() const { return on_time_; }
  /// For planners: fast, in coarse steps. Nothing before enough was observed.
  [[nodiscard]] std::optional<double> output_bytes(TaskId task) const;
  /// The same with its 80% interval.
  [[nodiscard]] std::optional<RunTimeModel::Prediction> expected_outputs(TaskId task) const;

  /// Whether a run time has been observed.
  [[nodiscard]] bool knows_times() const { return times_.run_times().observations() > 0; }
  /// How long the rest takes. REQUIRES: the run is not finished.
  [[nodiscard]] Eta eta(const OpenRun& run, TimePoint now) const;
  /// Whether it is time to record the forecast of the run's end, now that `ended` tasks of `total`
  /// have ended.
  [[nodiscard]] bool is_look_due(std::uint32_t ended, std::uint32_t total) const {
    return knows_times() && history_.is_due(share_done(ended, total));
  }
  void look_back(const OpenRun& run, TimePoint now);

 private:
  /// The fraction of tasks that have ended, of those that were left when the session began.
  [[nodiscard]] double share_done(std::uint32_t ended, std::uint32_t total) const;
  void observe_use(const Ended& attempt);
  bool observe_time(const Ended& attempt);

  std::uint32_t count_;
  std::function<Features(TaskId)> features_;
  bool learns_outputs_;
  Duration learn_for_;
  TimePoint now_ = kNever;
  TimePoint began_ = kNever;
  std::uint32_t ended_before_ = 0;  ///< tasks that had ended when the session began

  TimeBook times_;
  MemoryBook memory_;
  LearnedOutputs outputs_;
  RunTimeAccuracy accuracy_;
  std::map<SiteId, TimePoint> on_time_;
  EtaHistory history_;
  std::deque<std::pair<TaskId, std::uint64_t>> replayed_memory_;  ///< the last ones
};

}  // namespace gantry::forecast
