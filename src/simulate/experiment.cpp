#include "simulate/experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <tuple>
#include <utility>

#include "base/parallel.hpp"
#include "schedule/registry.hpp"
#include "simulate/trace_oracle.hpp"

namespace gantry::simulate {

namespace {

schedule::Situation situation_of(const Trial& trial) {
  schedule::Situation situation;
  for (const double bytes : trial.application.file_bytes) situation.files.push_back({bytes});
  using Needs = std::tuple<double, double, double, std::vector<FileId>>;
  std::map<Needs, std::size_t> classes;
  for (const SimulatedTasks::Task& task : trial.application.tasks) {
    const auto [known, is_new] = classes.try_emplace(
        {task.cost, task.private_bytes, task.output_bytes, task.files}, situation.classes.size());
    if (is_new) {
      schedule::TaskClass task_class{.work = task.cost,
                                     .private_bytes = task.private_bytes,
                                     .output_bytes = task.output_bytes};
      for (const FileId file : task.files) task_class.files.push_back(file.value());
      situation.classes.push_back(std::move(task_class));
    }
    ++situation.classes[known->second].waiting;
  }
  for (std::size_t site = 0; site < trial.grid.links.size(); ++site) {
    const double from = trial.grid.links[site] ? schedule::kInfinite : 0;
    situation.sites.push_back(
        {.file_from = std::vector<double>(trial.application.file_bytes.size(), from)});
  }
  for (const auto& [file, site] : trial.grid.staged)
    situation.sites[site.value()].file_from[file.value()] = 0;
  for (const VirtualHost& host : trial.grid.hosts)
    for (std::uint32_t slot = 0; slot < host.spec.slots; ++slot)
      situation.hosts.push_back({.site = host.site.value()});
  return situation;
}

std::shared_ptr<const schedule::EstimateSource> estimates_of(const Trial& trial) {
  if (trial.quality.kind == ErrorKind::learned) return learned_estimates(trial.grid);
  return with_quality(exact_estimates(trial.grid), trial.quality);
}

class Runner {
 public:
  Runner(const Experiment& experiment, const ExperimentOptions& options)
      : experiment_(experiment), options_(options) {
    for (std::size_t point = 0; point < experiment.points.size(); ++point)
      for (std::uint32_t i = 0; i < experiment.repetitions; ++i)
        if (!options.is_known || !options.is_known(point, i)) todo_.emplace_back(point, i);
  }

  Result<void> run() {
    in_parallel(todo_.size(), options_.threads, [this](std::size_t i) { return work(i); });
    if (error_) return tl::make_unexpected(*error_);
    return {};
  }

 private:
  bool work(std::size_t index) {
    if (options_.stop.stop_requested()) return false;
    const auto [point, repetition] = todo_[index];
    auto outcome = run_trial(point, repetition);
    const std::lock_guard lock(mutex_);
    if (outcome) {
      if (options_.ended) options_.ended(*outcome);
      return true;
    }
    if (index < failed_at_) error_ = outcome.error();
    failed_at_ = std::min(failed_at_, index);
    return false;
  }

  [[nodiscard]] Result<TrialOutcome> run_trial(std::size_t point, std::uint32_t repetition) const {
    const Trial trial = experiment_.trial(point, repetition);
    const engine::Workload workload = workload_of(trial.application);
    const auto estimates = estimates_of(trial);
    const auto bounds = bounds_of(trial);
    TrialOutcome outcome{.point = point,
                         .repetition = repetition,
                         .compute_bound = bounds.compute,
                         .data_bound = bounds.data};
    for (const std::string& name : experiment_.schedulers) {
      TRY_ASSIGN(auto strategy, schedule::make_scheduler(name, {.estimates = estimates,
                                                                .interval = trial.interval,
                                                                .seed = repetition + trial.tie_seed,
                                                                .choices = trial.choices}));
      auto simulated = simulate(workload, trial.grid, std::move(strategy));
      if (!simulated)
        return fail(
            simulated.error().code,
            fmt::format("{}, {}, repetition {}, {}: {}", experiment_.name,
                        experiment_.points[point], repetition, name, simulated.error().message));
      outcome.makespans.push_back(simulated->makespan);
      outcome.bytes_moved.push_back(simulated->bytes_moved);
    }
    return outcome;
  }

  const Experiment& experiment_;
  const ExperimentOptions& options_;
  std::vector<std::pair<std::size_t, std::uint32_t>> todo_;
  std::mutex mutex_;
  std::optional<Error> error_;  ///< of the first trial in order that failed
  std::size_t failed_at_ = std::numeric_limits<std::size_t>::max();
};

}  // namespace

schedule::MakespanBounds bounds_of(const Trial& trial) {
  TraceGrid traces;
  for (const VirtualHost& host : trial.grid.hosts)
    for (std::uint32_t slot = 0; slot < host.spec.slots; ++slot) traces.slots.push_back(host.spec);
  for (const auto& link : trial.grid.links) traces.sites.push_back({link, link});
  for (const PeerLink& peer : trial.grid.peers)
    for (const SiteId site : {peer.one, peer.other})
      traces.sites[site.value()].peers.push_back(peer.spec);
  return schedule::makespan_bounds(situation_of(trial), TraceCapacities(std::move(traces)),
                                   {.private_inputs_on_link = false});
}

Result<void> run_experiment(const Experiment& experiment, const ExperimentOptions& options) {
  return Runner(experiment, options).run();
}

}  // namespace gantry::simulate
