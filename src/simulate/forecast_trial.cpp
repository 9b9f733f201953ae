#include "simulate/forecast_trial.hpp"

#include <map>
#include <memory>
#include <utility>

#include "schedule/registry.hpp"
#include "simulate/virtual_time.hpp"

namespace gantry::simulate {

namespace {

class Witness {
 public:
  explicit Witness(std::span<const double> shares) : shares_(shares) {}

  void see(TimePoint now, const Event& event, const engine::RunView& run) {
    if (const auto* started = std::get_if<AttemptStarted>(&event)) {
      const auto expected = run.book().times().expected(started->key.task, started->host);
      underway_[{started->key.task, started->host}] = {
          .at = seconds_at(started->at),
          .nth = ended_[started->host],
          .expected = expected ? seconds(*expected) : 0};
    }
    const auto* ended = std::get_if<AttemptEnded>(&event);
    if (ended == nullptr || ended->report.cause != FailureCause::none) return;
    ++ended_[ended->host];
    auto attempt = underway_.extract({ended->report.key.task, ended->host});
    if (!attempt.empty()) {
      attempt.mapped().actual = seconds(ended->report.ended - ended->report.started);
      found_.run_times.push_back(attempt.mapped());
    }
    look_ahead(now, run);
  }

  ForecastTrial result(double makespan) {
    found_.makespan = makespan;
    for (EtaSample& sample : found_.etas) sample.rest = makespan - sample.at;
    return std::move(found_);
  }

 private:
  void look_ahead(TimePoint now, const engine::RunView& run) {
    const auto& counts = run.counts();
    while (found_.etas.size() < shares_.size() &&
           counts.done >= shares_[found_.etas.size()] * counts.total) {
      const Eta eta = run.eta(now);
      found_.etas.push_back({.share = shares_[found_.etas.size()],
                             .at = seconds_at(now),
                             .soonest = seconds(eta.soonest),
                             .expected = seconds(eta.expected),
                             .latest = seconds(eta.latest)});
    }
  }

  std::span<const double> shares_;
  std::map<std::pair<TaskId, HostId>, AttemptSample> underway_;
  std::map<HostId, std::uint32_t> ended_;
  ForecastTrial found_;
};

Result<ForecastTrial> witnessed(const engine::Workload& workload, const VirtualGrid& grid,
                                std::unique_ptr<schedule::Scheduler> strategy,
                                std::span<const double> shares, const FateOf& fate_of) {
  Witness witness(shares);
  TRY_ASSIGN(const Simulated simulated,
             simulate(
                 workload, grid, std::move(strategy),
                 [&](TimePoint now, const Event& event, const engine::RunView& run) {
                   witness.see(now, event, run);
                 },
                 fate_of));
  return witness.result(simulated.makespan);
}

}  // namespace

Result<ForecastTrial> forecast_trial(const Trial& trial, const std::string& scheduler,
                                     std::uint64_t seed, std::span<const double> shares) {
  const engine::Workload workload = workload_of(trial.application);
  TRY_ASSIGN(auto strategy,
             schedule::make_scheduler(scheduler, {.estimates = learned_estimates(trial.grid),
                                                  .interval = trial.interval,
                                                  .seed = seed,
                                                  .choices = trial.choices}));
  return witnessed(workload, trial.grid, std::move(strategy), shares, {});
}

Result<ForecastTrial> forecast_trial(const Unforeseen& run, const std::string& scheduler,
                                     std::uint64_t seed, std::span<const double> shares) {
  TRY_ASSIGN(auto strategy,
             schedule::make_scheduler(scheduler,
                                      {.estimates = learned_estimates(run.grid), .seed = seed}));
  return witnessed(run.workload, run.grid, std::move(strategy), shares, run.fate_of);
}

}  // namespace gantry::simulate
