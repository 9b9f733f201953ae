#include "forecast/bookkeeper.hpp"

#include <algorithm>
#include <cmath>

#include "forecast/rest_forecast.hpp"

namespace gantry::forecast {

namespace {

/// An attempt that takes so many times what was expected is late.
constexpr int kLate = 2;

LearnedMemory memory_of(KnownTasks& known) {
  if (!known.learns_memory || known.count == 0) return {};
  return known.memory.knows(known.features(TaskId(1))) ? std::move(known.memory) : LearnedMemory{};
}

LearnedOutputs outputs_of(KnownTasks& known) {
  const bool learns = known.learns_outputs && known.features && known.count > 0;
  if (!learns || !known.outputs.takes(known.features(TaskId(1)).size())) return {};
  return LearnedOutputs(std::move(known.outputs));
}

bool has_run(const AttemptReport& report) {
  return report.started != kNever && report.ended != kNever;
}

}  // namespace

Bookkeeper::Bookkeeper(KnownTasks known, GridForecast grid, Duration learn_for)
    : count_(known.count),
      features_(known.features),
      learns_outputs_(known.learns_outputs && features_),
      learn_for_(learn_for),
      times_(known.count, std::move(known.cost), known.features, std::move(known.times),
             std::move(grid)),
      memory_(known.features, memory_of(known)),
      outputs_(outputs_of(known)) {}

void Bookkeeper::pass(TimePoint now, std::uint32_t ended) {
  now_ = now;
  if (began_ != kNever) return;
  began_ = now;
  ended_before_ = ended;
}

bool Bookkeeper::extend(std::uint32_t count) {
  count_ = count;
  return times_.extend(count);
}

bool Bookkeeper::observe(const Ended& attempt) {
  if (attempt.learns_memory && attempt.report.cause == FailureCause::none) observe_use(attempt);
  const FailureCause cause = attempt.report.cause;
  if (cause == FailureCause::lost || cause == FailureCause::cancelled ||
      cause == FailureCause::checkpointed || !has_run(attempt.report))
    return false;
  return observe_time(attempt);
}

void Bookkeeper::observe_use(const Ended& attempt) {
  const TaskId task = attempt.report.key.task;
  const std::uint64_t used = attempt.report.usage.max_rss;
  memory_.succeeded(task);
  if (attempt.is_replayed)
    push_bounded(replayed_memory_, {task, used}, RunTimeModel::kKept);
  else if (learns())
    memory_.learn_use(task, used);
}

bool Bookkeeper::observe_time(const Ended& attempt) {
  const AttemptReport& report = attempt.report;
  if (attempt.is_replayed) times_.replayed(report.key.task, report.ended - report.started);
  if (attempt.is_replayed || !learns()) return false;
  const TimeBook::Attempt ran{report.key.task, attempt.host, report.started, report.ended,
                              attempt.begun};
  if (report.cause != FailureCause::none) {
    times_.failed(ran, attempt.slots, attempt.is_tried_again);
    return false;
  }
  const bool knew_costs = times_.learned().known();
  if (!times_.succeeded(ran, attempt.slots)) return false;
  // What was foretold while all tasks seemed alike says nothing of what is foretold now.
  if (!knew_costs) history_ = {};
  return true;
}

void Bookkeeper::died_of_memory(const Ended& attempt, std::uint64_t given) {
  const TaskId task = attempt.report.key.task;
  const bool is_first = memory_.died(task, given, attempt.report.usage.max_rss);
  // One that takes more and more says nothing of others after that.
  if (is_first && !attempt.is_replayed && learns()) memory_.learn_death(task, given);
}

void Bookkeeper::score(const AttemptReport& report, Duration expected, std::optional<SiteId> site) {
  if (report.cause != FailureCause::none || !has_run(report)) return;
  const Duration took = report.ended - report.started;
  accuracy_.score(seconds(expected), seconds(took));
  if (site && took <= kLate * expected) on_time_[*site] = report.ended;
}

void Bookkeeper::launched(SiteId site, double seconds, TimePoint ended) {
  if (learns()) times_.launched(site, seconds, ended);
}

void Bookkeeper::made(TaskId task, std::uint64_t output_bytes) {
  if (learns_outputs_ && learns()) outputs_.observe(features_(task), output_bytes);
}

void Bookkeeper::end_replay() {
  times_.end_replay();
  const auto replayed = std::exchange(replayed_memory_, {});
  // What is kept has seen these, too, but for the last minute of a gantry that was killed: counted
  // twice, each would seem to foretell the other.
  if (memory_.learned().seen() > 0) return;
  for (const auto& [task, bytes] : replayed) memory_.learn_use(task, bytes);
}

void Bookkeeper::keep(RunSnapshot& snapshot) const {
  for (const auto& [task, took] : times_.replayed_times())
    snapshot.run_times.emplace_back(task, took);
  snapshot.memory.assign(replayed_memory_.begin(), replayed_memory_.end());
  snapshot.deaths = memory_.deaths();
}

void Bookkeeper::restore(const RunSnapshot& snapshot) {
  for (const auto& [task, took] : snapshot.run_times) times_.replayed(task, took);
  replayed_memory_.assign(snapshot.memory.begin(), snapshot.memory.end());
  for (const MemoryDeath& death : snapshot.deaths) memory_.restore(death);
}

Bookkeeper::Refreshed Bookkeeper::refresh() {
  if (!learns()) return {};
  Refreshed refreshed{.memory = memory_.refresh(), .outputs = outputs_.is_due()};
  if (refreshed.outputs) outputs_.refresh();
  return refreshed;
}

std::optional<double> Bookkeeper::output_bytes(TaskId task) const {
  const RunTimeModel& model = outputs_.used();
  if (model.observations() == 0) return std::nullopt;
  // Neighbours take long to ask for all tasks.
  if (model.family() == ModelFamily::neighbours && count_ > LearnedCosts::kMostByNeighbours)
    return std::nullopt;
  return outputs_.expected(features_(task));
}

std::optional<RunTimeModel::Prediction> Bookkeeper::expected_outputs(TaskId task) const {
  if (outputs_.used().observations() == 0) return std::nullopt;
  return outputs_.used().predict(features_(task));
}

double Bookkeeper::share_done(std::uint32_t ended, std::uint32_t total) const {
  const std::uint32_t now = ended - std::min(ended, ended_before_);
  const std::uint32_t all = total - std::min(total, ended_before_);
  return all > 0 ? static_cast<double>(now) / all : 1;
}

Eta Bookkeeper::eta(const OpenRun& run, TimePoint now) const {
  const RestInput rest{times_, run, now};
  const Eta chance = rest_by_chance(rest);
  if (chance.expected <= Duration{0}) return {};
  const Duration passed = began_ == kNever ? Duration{0} : now - began_;
  const double share = share_done(run.ended, run.total);
  return widened_rest(rest, history_.spread(share, passed, chance.expected), chance);
}

void Bookkeeper::look_back(const OpenRun& run, TimePoint now) {
  const Eta chance = rest_by_chance({times_, run, now});
  if (chance.expected <= Duration{0}) return;
  // So many standard deviations is what four of five lie in.
  constexpr double kDeviations = 2.56;
  const Duration passed = now - began_;
  history_.look(
      share_done(run.ended, run.total), passed + chance.expected,
      std::log(seconds(passed + chance.latest) / seconds(passed + chance.soonest)) / kDeviations);
}

}  // namespace gantry::forecast
