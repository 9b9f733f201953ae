#include "simulate/trace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

namespace gantry::simulate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Trace trace_of(std::vector<TraceStep> steps, std::optional<double> period = {}) {
  auto trace = Trace::make(std::move(steps), period);
  EXPECT_TRUE(trace) << trace.error().message;
  return *trace;
}

TEST(Trace, HoldsEachValueUntilTheNext) {
  const Trace trace = trace_of({{0, 2}, {10, 0}, {15, 4}});
  EXPECT_EQ(trace.value(0), 2);
  EXPECT_EQ(trace.value(9.999), 2);
  EXPECT_EQ(trace.value(10), 0);
  EXPECT_EQ(trace.value(1e9), 4);
  EXPECT_EQ(trace.integral(0, 20), 2 * 10 + 4 * 5);
  EXPECT_EQ(trace.integral(5, 12), 2 * 5);
  EXPECT_EQ(trace.integral(11, 14), 0);
  EXPECT_EQ(trace.integral(15, 15), 0);
}

TEST(Trace, KnowsItsLargestValue) {
  EXPECT_EQ(trace_of({{0, 2}, {10, 5}, {15, 4}}).largest(), 5);
  EXPECT_EQ(trace_of({{0, 2}, {10, 5}, {15, 4}}, 20).shifted(16).largest(), 5);
  EXPECT_EQ(Trace(3).largest(), 3);
}

TEST(Trace, TellsWhenWorkIsDone) {
  const Trace trace = trace_of({{0, 2}, {10, 0}, {15, 4}});
  EXPECT_EQ(trace.when_done(3, 0), 3);
  EXPECT_EQ(trace.when_done(0, 10), 5);
  EXPECT_EQ(trace.when_done(0, 20), 10);     // the first moment, not the end of the pause
  EXPECT_EQ(trace.when_done(12, 0), 12);     // nothing to do: at once, also in a pause
  EXPECT_EQ(trace.when_done(0, 24), 16);     // 20 until 10, then 4 at 4 a second from 15
  EXPECT_EQ(trace.when_done(12, 400), 115);  // 100 s from 15
  EXPECT_EQ(trace.when_done(0, kForever), kForever);
}

TEST(Trace, NeverIsForEver) {
  EXPECT_EQ(trace_of({{0, 1}, {10, 0}}).when_done(0, 10), 10);
  EXPECT_EQ(trace_of({{0, 1}, {10, 0}}).when_done(0, 10.5), kForever);
  EXPECT_EQ(trace_of({{0, 1}, {10, 0}}).when_done(50, 1e-9), kForever);
  EXPECT_EQ(trace_of({{0, 0}, {10, 0}}, 20).when_done(3, 1), kForever);
  EXPECT_EQ(Trace(0).when_done(3, 1), kForever);
  EXPECT_EQ(Trace(0).when_done(3, 0), 3);
}

TEST(Trace, StartsAgainAfterItsPeriod) {
  // 3 on [0,10), 1 on [10,20): 40 a period.
  const Trace trace = trace_of({{0, 3}, {10, 1}}, 20);
  EXPECT_EQ(trace.value(45), 3);
  EXPECT_EQ(trace.value(59.5), 1);
  EXPECT_EQ(trace.integral(0, 200), 400);
  EXPECT_EQ(trace.integral(15, 25), 5 + 15);
  EXPECT_EQ(trace.when_done(0, 40), 20);  // comes out even: the end of this period
  EXPECT_EQ(trace.when_done(0, 400), 200);
  EXPECT_EQ(trace.when_done(5, 15 + 10 + 400 + 3), 20 + 200 + 1);
  EXPECT_EQ(trace.when_done(15, 6), 20 + 1 / 3.0);
}

TEST(Trace, APauseAtTheEndOfAPeriodIsNotWaitedFor) {
  const Trace trace = trace_of({{0, 1}, {10, 0}}, 20);
  EXPECT_EQ(trace.when_done(0, 30), 50);  // not 60
  EXPECT_EQ(trace.when_done(12, 10), 30);
}

TEST(Trace, IsShiftedByAnOffset) {
  const Trace trace = trace_of({{0, 3}, {10, 1}}, 20);
  EXPECT_EQ(trace.shifted(12).value(0), 1);
  EXPECT_EQ(trace.shifted(12).value(8), 3);
  EXPECT_EQ(trace.shifted(12).shifted(9).value(0), 3);  // 21 is 1 into the next period
  EXPECT_EQ(trace.shifted(15).when_done(0, 5 + 3), 6);
  EXPECT_EQ(trace_of({{0, 3}, {10, 1}}).shifted(5).integral(0, 10), 5 * 3 + 5 * 1);
  EXPECT_EQ(Trace(2).shifted(5).value(1), 2);

  Random random(1);
  Random again(1);
  EXPECT_EQ(trace.shifted_at_random(random).integral(0, 7),
            trace.shifted_at_random(again).integral(0, 7));
}

TEST(Trace, TheFirstValueAlsoHoldsBefore) {
  const Trace trace = trace_of({{5, 7}, {6, 1}});
  EXPECT_EQ(trace.value(0), 7);
  EXPECT_THAT(trace.steps(), ElementsAre(TraceStep{0, 7}, TraceStep{6, 1}));
}

TEST(Trace, RefusesWhatIsNoFunctionOfTime) {
  const double nan = std::nan("");
  const auto problem = [](std::vector<TraceStep> steps, std::optional<double> period = {}) {
    const auto trace = Trace::make(std::move(steps), period);
    return trace ? std::string("accepted") : trace.error().message;
  };
  EXPECT_EQ(problem({}), "a trace needs at least one step");
  EXPECT_EQ(problem({{0, 1}, {1, nan}}), "step 2: the value nan is not finite");
  EXPECT_EQ(problem({{nan, 1}}), "step 1: the time nan is not finite");
  EXPECT_EQ(problem({{0, kForever}}), "step 1: the value inf is not finite");
  EXPECT_EQ(problem({{0, -1}}), "step 1: the value -1 is negative");
  EXPECT_EQ(problem({{-1, 1}}), "step 1: the time -1 is negative");
  EXPECT_EQ(problem({{0, 1}, {5, 1}, {4, 1}}), "step 3: the time 4 does not come after 5");
  EXPECT_EQ(problem({{0, 1}, {0, 1}}), "step 2: the time 0 does not come after 0");
  EXPECT_EQ(problem({{0, 1}, {5, 1}}, 5), "the period 5 does not come after the last step, 5");
  EXPECT_EQ(problem({{0, 1}, {5, 1}}, nan), "the period nan does not come after the last step, 5");
  EXPECT_THAT(problem({{0, 1e308}, {1e300, 1}}), HasSubstr("too large"));
}

// --- Properties: against a loop over the steps, which is slow and plainly right

struct Case {
  std::vector<TraceStep> steps;
  std::optional<double> period;
  double offset = 0;
  [[nodiscard]] Trace trace() const { return trace_of(steps, period).shifted(offset); }

  /// Walks from step to step.
  [[nodiscard]] double integral(double from, double to) const {
    double sum = 0;
    for (double at = from + offset; at < to + offset;) {
      const double base = period ? std::floor(at / *period) * *period : 0;
      std::size_t i = steps.size() - 1;
      while (i > 0 && base + steps[i].time > at) --i;
      double end = to + offset;
      if (i + 1 < steps.size()) {
        end = base + steps[i + 1].time;
      } else if (period) {
        end = base + *period;
      }
      end = std::min(std::max(end, std::nextafter(at, kForever)), to + offset);
      sum += (end - at) * steps[i].value;
      at = end;
    }
    return sum;
  }
};

/// Times and values are small whole numbers divided by powers of two: equal times and exact sums
/// happen often, which is where mistakes hide.
Case any_case() {
  Case made;
  double time = 0;
  const int count = *rc::gen::inRange(1, 12);
  for (int i = 0; i < count; ++i) {
    made.steps.push_back({time, *rc::gen::inRange(0, 5) / 2.0});
    time += *rc::gen::inRange(1, 40) / 8.0;
  }
  if (*rc::gen::inRange(0, 2) == 1) made.period = time;
  made.offset = *rc::gen::inRange(0, 200) / 16.0;
  return made;
}

double any_time() {
  return *rc::gen::inRange(0, 4000) / 16.0;
}

TEST(TraceProperty, TheIntegralIsTheSumOverTheSteps) {
  EXPECT_TRUE(rc::check([] {
    const Case made = any_case();
    const double from = any_time();
    const double to = from + any_time();
    RC_ASSERT(std::abs(made.trace().integral(from, to) - made.integral(from, to)) < 1e-9);
  }));
}

TEST(TraceProperty, IntegralsAddUp) {
  EXPECT_TRUE(rc::check([] {
    const Trace trace = any_case().trace();
    const double a = any_time();
    const double b = a + any_time();
    const double c = b + any_time();
    const double whole = trace.integral(a, c);
    const double parts = trace.integral(a, b) + trace.integral(b, c);
    RC_ASSERT(std::abs(whole - parts) <= 1e-12 * (1 + whole));
  }));
}

TEST(TraceProperty, WhenDoneUndoesTheIntegral) {
  EXPECT_TRUE(rc::check([] {
    const Case made = any_case();
    const Trace trace = made.trace();
    const double from = any_time();
    const double to = from + any_time();
    const double amount = trace.integral(from, to);
    const double done = trace.when_done(from, amount);
    // Done at `to`, or at the beginning of the pause that `to` lies in.
    RC_ASSERT(done <= to + 1e-9);
    RC_ASSERT(std::abs(trace.integral(from, std::max(done, from)) - amount) < 1e-9);
    if (amount > 0 && done > from + 1e-6) {
      RC_ASSERT(trace.integral(from, done - 1e-7) < amount);  // not a moment earlier
    }
  }));
}

TEST(TraceProperty, TheIntegralUndoesWhenDone) {
  EXPECT_TRUE(rc::check([] {
    const Case made = any_case();
    const Trace trace = made.trace();
    const double from = any_time();
    const double amount = any_time();
    const double done = trace.when_done(from, amount);
    if (done == kForever) {
      RC_ASSERT(trace.integral(from, 1e7) < amount);
    } else {
      RC_ASSERT(done >= from);
      RC_ASSERT(std::abs(trace.integral(from, done) - amount) <= 1e-9 * (1 + amount));
    }
  }));
}

TEST(TraceProperty, ShiftingIsLookingLater) {
  EXPECT_TRUE(rc::check([] {
    const Trace trace = any_case().trace();
    const double offset = any_time();
    const double at = any_time();
    RC_ASSERT(trace.shifted(offset).value(at) == trace.value(at + offset));
  }));
}

/// With pauses, and steps that are longer than many amounts take.
Trace any_long_steps() {
  std::vector<TraceStep> steps;
  double time = 0;
  for (const auto value : *rc::gen::nonEmpty<std::vector<std::uint8_t>>()) {
    steps.push_back({time, value % 4 == 0 ? 0.0 : value / 7.0});
    time += *rc::gen::inRange(1, 20);
  }
  const auto period = *rc::gen::element(std::optional<double>{}, std::optional(time));
  return Trace::make(steps, period).value().shifted(*rc::gen::inRange(0, 300));
}

TEST(TraceProperty, FromManyMomentsAnAmountIsDoneAsFromEach) {
  EXPECT_TRUE(rc::check([] {
    const Trace trace = any_long_steps();
    std::vector<double> from;
    for (const auto moment : *rc::gen::arbitrary<std::vector<std::uint16_t>>())
      from.push_back(moment % 1000 / 3.0);
    if (*rc::gen::arbitrary<bool>()) std::ranges::sort(from);
    const double amount = *rc::gen::inRange(0, 200) / 8.0;
    std::vector<double> moments = from;
    trace.when_done_from_each(moments, amount);
    for (std::size_t i = 0; i < from.size(); ++i)
      RC_ASSERT(moments[i] == trace.when_done(from[i], amount));
  }));
}

TEST(TraceProperty, ManyAmountsAreDoneWhenEachIs) {
  EXPECT_TRUE(rc::check([] {
    const Trace trace = any_long_steps();
    std::vector<double> amounts;
    for (const auto amount : *rc::gen::arbitrary<std::vector<std::uint16_t>>())
      amounts.push_back(amount / 8.0);
    std::ranges::sort(amounts);
    const double from = *rc::gen::inRange(0, 1000) / 3.0;
    std::vector<double> moments = amounts;
    trace.when_done_each(from, moments);
    for (std::size_t i = 0; i < amounts.size(); ++i)
      RC_ASSERT(moments[i] == trace.when_done(from, amounts[i]));
  }));
}

}  // namespace
}  // namespace gantry::simulate
