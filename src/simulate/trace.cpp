#include "simulate/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <span>

#include "base/chance.hpp"
#include "simulate/search_guide.hpp"

namespace gantry::simulate {

/// time and done have one entry more than value: where the last step ends (for ever, or the
/// period), and the integral up to there. done[i] is the integral from 0 to time[i].
struct Trace::Steps {
  std::vector<double> time;
  std::vector<double> value;
  std::vector<double> done;
  double period = kForever;
  double largest = 0;
  SearchGuide by_time;
  SearchGuide by_done;

  [[nodiscard]] bool periodic() const { return period < kForever; }
  [[nodiscard]] Place place(double at) const;
  [[nodiscard]] double when_done(double from, const Place& place, double amount) const;
  [[nodiscard]] double reach(double amount, std::size_t begin) const;
  [[nodiscard]] double moment(double amount, std::size_t end, std::size_t begin) const;
};

struct Trace::Place {
  double periods = 0;
  double time = 0;  ///< within its period
  std::size_t step = 0;
};

Trace::Place Trace::Steps::place(double at) const {
  Place place{0, at, 0};
  if (at >= period) {
    // Both exact, where at - floor(at / period) * period is not.
    place.time = at < 2 * period ? at - period : std::fmod(at, period);
    place.periods = std::round((at - place.time) / period);
  }
  const std::span begins(time.data(), value.size());
  place.step = by_time.find(begins, 1, place.time, std::less_equal{}) - 1;
  return place;
}

/// The first time within the period at which the integral from 0 is `amount`; kForever when it
/// never is. REQUIRES: not reached before step `begin`.
double Trace::Steps::reach(double amount, std::size_t begin) const {
  const std::size_t end = by_done.find(done, begin, amount, std::less{});
  return end == done.size() ? kForever : moment(amount, end, begin);
}

/// The same, for an `end` that is the first place from `begin` on where `amount` is done.
double Trace::Steps::moment(double amount, std::size_t end, std::size_t begin) const {
  if (end == begin) return time[begin];
  // done rises over step end - 1, so its value is not 0.
  return std::min(time[end - 1] + (amount - done[end - 1]) / value[end - 1], time[end]);
}

/// When `amount`, finite and not 0, is done that was begun at `from`, which is at `place`.
double Trace::Steps::when_done(double from, const Place& place, double amount) const {
  const double rate = value[place.step];
  const double room = rate > 0 ? (time[place.step + 1] - place.time) * rate : 0;
  if (amount <= room) return from + amount / rate;

  amount -= room;
  const double to_next_step = done[place.step + 1];
  const double rest = done.back() - to_next_step;
  if (!periodic() || amount <= rest) {
    return from + (reach(to_next_step + amount, place.step + 1) - place.time);
  }
  const double total = done.back();
  if (total == 0) return kForever;
  amount -= rest;
  // The last period is not a whole one, also when what is left comes out even.
  const double periods = std::max(0.0, std::ceil(amount / total) - 1);
  const double last = std::clamp(amount - periods * total, 0.0, total);
  return from + ((period - place.time) + periods * period + reach(last, 0));
}

std::optional<std::string> trace_step_problem(const TraceStep* before, const TraceStep& step) {
  if (!std::isfinite(step.time)) return fmt::format("the time {} is not finite", step.time);
  if (!std::isfinite(step.value)) return fmt::format("the value {} is not finite", step.value);
  if (step.time < 0) return fmt::format("the time {} is negative", step.time);
  if (step.value < 0) return fmt::format("the value {} is negative", step.value);
  if (before != nullptr && step.time <= before->time) {
    return fmt::format("the time {} does not come after {}", step.time, before->time);
  }
  return std::nullopt;
}

Trace::Trace(double constant) : constant_(constant) {
  assert(std::isfinite(constant) && constant >= 0);
}

Result<Trace> Trace::make(std::vector<TraceStep> steps, std::optional<double> period) {
  if (steps.empty()) return fail(ErrorCode::usage, "a trace needs at least one step");
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (const auto problem = trace_step_problem(i == 0 ? nullptr : &steps[i - 1], steps[i])) {
      return fail(ErrorCode::usage, fmt::format("step {}: {}", i + 1, *problem));
    }
  }
  if (period && !(std::isfinite(*period) && *period > steps.back().time)) {
    return fail(ErrorCode::usage, fmt::format("the period {} does not come after the last step, {}",
                                              *period, steps.back().time));
  }
  if (steps.size() == 1) return Trace(steps[0].value);

  auto made = std::make_shared<Steps>();
  made->period = period.value_or(kForever);
  steps[0].time = 0;
  double done = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    made->time.push_back(steps[i].time);
    made->value.push_back(steps[i].value);
    made->largest = std::max(made->largest, steps[i].value);
    made->done.push_back(done);
    const double end = i + 1 < steps.size() ? steps[i + 1].time : made->period;
    if (steps[i].value > 0) done += (end - steps[i].time) * steps[i].value;
  }
  made->time.push_back(made->period);
  made->done.push_back(done);
  if (!std::isfinite(made->done[steps.size() - 1]) || (period && !std::isfinite(done))) {
    return fail(ErrorCode::usage, "the values are too large to be added up");
  }
  made->by_time = SearchGuide(std::span(made->time.data(), steps.size()));
  made->by_done = SearchGuide(std::span(made->done.data(), steps.size()));
  Trace trace(steps[0].value);
  trace.steps_ = std::move(made);
  return trace;
}

double Trace::value(double time) const {
  if (!steps_) return constant_;
  return steps_->value[steps_->place(time + offset_).step];
}

double Trace::integral(double from, double to) const {
  assert(from <= to && to < kForever);
  if (!steps_) return constant_ * (to - from);
  if (from == to) return 0;
  const Steps& s = *steps_;
  const Place a = s.place(from + offset_);
  const Place b = s.place(to + offset_);
  if (a.periods == b.periods && a.step == b.step) return (b.time - a.time) * s.value[a.step];
  // The rest of a's step, whole steps, the beginning of b's: small differences stay exact however
  // long the trace has run.
  const double rest = (s.time[a.step + 1] - a.time) * s.value[a.step];
  const double begun = (b.time - s.time[b.step]) * s.value[b.step];
  const double steps = s.done[b.step] - s.done[a.step + 1];
  const double periods = b.periods == a.periods ? 0 : (b.periods - a.periods) * s.done.back();
  return std::max(0.0, rest + begun + steps + periods);
}

double Trace::when_done(double from, double amount) const {
  assert(amount >= 0);
  if (amount == 0) return from;
  if (amount == kForever) return kForever;
  if (!steps_) return constant_ > 0 ? from + amount / constant_ : kForever;
  return steps_->when_done(from, steps_->place(from + offset_), amount);
}

void Trace::when_done_from_each(std::span<double> moments, double amount) const {
  const bool plain = !steps_ || amount == 0 || amount == kForever;
  for (std::size_t i = 0; i < moments.size(); ++i) {
    if (plain) {
      moments[i] = when_done(moments[i], amount);
      continue;
    }
    const Place place = steps_->place(moments[i] + offset_);
    const double begin = steps_->time[place.step];
    const double end = steps_->time[place.step + 1];
    const double rate = steps_->value[place.step];
    moments[i] = steps_->when_done(moments[i], place, amount);
    // Those that follow often begin and are done in the same step.
    const double takes = amount / rate;
    const auto within = [&](double at) {
      return begin <= at && at < end && amount <= (end - at) * rate;
    };
    while (i + 1 < moments.size() && within(moments[i + 1] + offset_)) moments[++i] += takes;
  }
}

void Trace::when_done_each(double from, std::span<double> amounts) const {
  std::size_t i = 0;
  if (steps_) {
    const Steps& s = *steps_;
    const Place place = s.place(from + offset_);
    const double rate = s.value[place.step];
    const double room = rate > 0 ? (s.time[place.step + 1] - place.time) * rate : 0;
    for (; i < amounts.size() && amounts[i] <= room && amounts[i] > 0; ++i)
      amounts[i] = from + amounts[i] / rate;
    const double to_next_step = s.done[place.step + 1];
    std::size_t end = place.step + 1;
    for (; i < amounts.size() && amounts[i] > room; ++i) {
      const double wanted = to_next_step + (amounts[i] - room);
      while (end < s.done.size() && s.done[end] < wanted) ++end;
      if (end == s.done.size()) break;
      amounts[i] = from + (s.moment(wanted, end, place.step + 1) - place.time);
    }
  }
  for (; i < amounts.size(); ++i) amounts[i] = when_done(from, amounts[i]);
}

Trace Trace::shifted(double offset) const {
  assert(std::isfinite(offset) && offset >= 0);
  Trace copy = *this;
  copy.offset_ += offset;
  if (steps_ && steps_->periodic()) copy.offset_ = std::fmod(copy.offset_, steps_->period);
  return copy;
}

Trace Trace::shifted_at_random(Random& random) const {
  if (!steps_) return *this;
  const double span = steps_->periodic() ? steps_->period : steps_->time[steps_->value.size() - 1];
  return shifted(unit_of(random()) * span);
}

double Trace::largest() const {
  return steps_ ? steps_->largest : constant_;
}

std::vector<TraceStep> Trace::steps() const {
  if (!steps_) return {{0, constant_}};
  std::vector<TraceStep> steps;
  for (std::size_t i = 0; i < steps_->value.size(); ++i) {
    steps.push_back({steps_->time[i], steps_->value[i]});
  }
  return steps;
}

std::optional<double> Trace::period() const {
  return steps_ && steps_->periodic() ? std::optional(steps_->period) : std::nullopt;
}

}  // namespace gantry::simulate
