#include "forecast/time_book.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace gantry::forecast {

namespace {
/// Attempts that are counted again when costs change: of each host, and in all.
constexpr std::size_t kRanOnHost = 64;
constexpr std::size_t kRanInAll = 512;
/// Declared costs can be absurd, and with them what is calculated.
constexpr double kLongestExpected = 1e9;
}  // namespace

// Where a person says what tasks cost, that counts.
TimeBook::TimeBook(std::uint32_t count, CostOf cost, LearnedCosts::FeaturesOf features,
                   RunTimeModel known, GridForecast seen)
    : cost_(std::move(cost)),
      learned_(count, cost_ ? LearnedCosts::FeaturesOf{} : std::move(features), std::move(known)),
      seen_(std::move(seen)) {
  profile_declared(count);
  if (learned_.known()) count_again();
}

void TimeBook::profile_declared(std::uint32_t count) {
  if (!cost_) return;
  declared_ = {count, [this](std::uint32_t index) { return cost_(TaskId(index + 1)); }};
}

bool TimeBook::extend(std::uint32_t count) {
  profile_declared(count);
  learned_.extend(count);
  if (learned_.known()) count_again();
  return learned_.known();
}

void TimeBook::replayed(TaskId task, Duration took) {
  push_bounded(replayed_, {task, took}, RunTimeForecast::kMemory);
}

void TimeBook::end_replay() {
  const auto replayed = std::exchange(replayed_, {});
  // What other runs took does not count any more.
  if (!replayed.empty() && learned_.known()) run_times_ = {};
  for (const auto& [task, took] : replayed) {
    run_times_.observe(cost_of(task), took);
    remember({task, took});
  }
}

void TimeBook::remember(const TaskTime& time) {
  if (learned_.learns()) push_bounded(ran_, time, kRanInAll);
}

void TimeBook::took(const Attempt& attempt, double cost, std::uint64_t slots) {
  const Duration took = attempt.ended - attempt.started;
  efficiency_.observe(attempt.ended, took, slots);
  // What an earlier run took stands in only until this one knows better.
  if (is_of_another_run()) run_times_ = {};
  run_times_.observe(cost, took);
  remember({attempt.task, took});
}

void TimeBook::failed(const Attempt& attempt, std::uint64_t slots, bool is_tried_again) {
  took(attempt, cost_of(attempt.task), slots);
  if (!is_tried_again) return;
  const Duration took = attempt.ended - attempt.started;
  const double spent = seen_.spent(attempt.host, took, attempt.ended, attempt.begun);
  const double speed = seen_.declared_speed(attempt.host).value_or(1);
  if (spent > 0) wasted_[attempt.task] += spent * usable_cost(speed);
}

bool TimeBook::succeeded(const Attempt& attempt, std::uint64_t slots) {
  const auto& [task, host, started, ended, begun] = attempt;
  const double cost = cost_of(task);
  const Duration took = ended - started;
  this->took(attempt, cost, slots);
  note_quickest(cost, took);
  const double spent = seen_.spent(host, took, ended, begun);
  if (!(spent > 0)) return false;
  const double speed = seen_.declared_speed(host).value_or(1);
  const auto before = wasted_.extract(task);
  const double lost = before.empty() ? 0 : before.mapped() / usable_cost(speed);
  const bool is_usual = seen_.ran(host, cost, took, ended, begun) > 0;
  // One that took far longer than all before is no news of its host, but that there are such tasks.
  observe_time(host, started, (spent + lost) / usable_cost(cost));
  if (!learned_.learns() || !is_usual) return false;
  push_bounded(ran_on_[host], {task, spent, started, ended, lost}, kRanOnHost);
  if (!learned_.ran(task, host, speed, spent)) return false;
  count_again();
  return true;
}

void TimeBook::note_quickest(double cost, Duration took) {
  if (took <= Duration{0}) return;
  quickest_ = std::min(quickest_, seconds(took) / usable_cost(cost));
  ++timed_;
}

void TimeBook::observe_time(HostId host, TimePoint started, double seconds) {
  auto sample = samples_.find(host);
  if (sample == samples_.end()) {
    const auto speed = seen_.declared_speed(host);
    if (!speed) return;  // the host is gone
    sample = samples_.emplace(host, HostSample{*speed}).first;
  }
  sample->second.times.observe(started, seconds);
}

void TimeBook::forget_gone_hosts() {
  for (auto it = samples_.begin(); it != samples_.end() && samples_.size() > 1;)
    it = seen_.declared_speed(it->first) ? std::next(it) : samples_.erase(it);
}

void TimeBook::count_again() {
  run_times_ = {};
  for (const auto& [task, took] : ran_) run_times_.observe(cost_of(task), took);
  quickest_ = std::numeric_limits<double>::infinity();
  timed_ = 0;
  if (ran_.empty()) run_times_.observe(1, from_seconds(std::min(learned_.unit(), 1e9)));
  seen_.forget_paces();
  for (auto& [host, sample] : samples_) sample.times = {};
  for (const auto& [host, all] : ran_on_) {
    for (const Ran& one : all) {
      const double cost = cost_of(one.task);
      seen_.ran_again(host, cost, one.seconds, one.ended);
      observe_time(host, one.started, (one.seconds + one.wasted) / usable_cost(cost));
    }
  }
  std::erase_if(samples_, [](const auto& entry) { return entry.second.times.empty(); });
  forget_gone_hosts();
}

std::optional<Duration> TimeBook::expected(TaskId task, HostId host) const {
  const double cost = usable_cost(cost_of(task));
  const auto speed = seen_.declared_speed(host);
  if (!speed) return run_times_.expected(cost);
  const auto unit = pace(host, *speed);
  if (!unit) return std::nullopt;
  const double all = *unit * cost;
  return from_seconds(all < kLongestExpected ? all : kLongestExpected);  // or if it is no number
}

std::optional<double> TimeBook::pace(HostId host, double speed) const {
  if (const auto pace = seen_.pace(host)) return pace;
  const auto unit = run_times_.expected(1);
  if (!unit) return std::nullopt;
  return seconds(*unit) / (is_of_another_run() && speed > 0 ? speed : 1);
}

// What runs over its forecast is expected to take as long again as it is over: "any moment now"
// would be wrong for as long as it is shown.
double TimeBook::left_of(HostId host, double whole, TimePoint started, std::optional<double> begun,
                         TimePoint now) const {
  if (started == kNever) return whole;
  return std::abs(whole - std::max(seen_.done_of(host, started, begun, now), 0.0));
}

std::optional<double> TimeBook::quickest() const {
  constexpr std::uint32_t kEnoughTimed = 20;  // of fewer the quickest is too much like the mean
  return timed_ >= kEnoughTimed ? std::optional(quickest_) : std::nullopt;
}

}  // namespace gantry::forecast
