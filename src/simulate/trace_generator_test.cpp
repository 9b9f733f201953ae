#include "simulate/trace_generator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace gantry::simulate {
namespace {

using ::testing::HasSubstr;

struct Moments {
  double mean = 0;
  double deviation = 0;
  double next = 0;  ///< correlation of neighbours
};

Moments moments_of(const std::vector<double>& values) {
  Moments found;
  const auto n = static_cast<double>(values.size());
  for (const double v : values) found.mean += v / n;
  double variance = 0;
  double shared = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    variance += (values[i] - found.mean) * (values[i] - found.mean) / n;
    if (i > 0) shared += (values[i] - found.mean) * (values[i - 1] - found.mean) / n;
  }
  found.deviation = std::sqrt(variance);
  found.next = shared / variance;
  return found;
}

std::vector<double> values_of(const Trace& trace) {
  std::vector<double> values;
  for (const TraceStep& step : trace.steps()) values.push_back(step.value);
  return values;
}

TEST(AvailabilityModel, HasTheMeanAndDeviationAskedFor) {
  for (const auto& [mean, deviation] :
       {std::pair{0.5, 0.1}, {0.7, 0.25}, {0.9, 0.2}, {0.1, 0.05}}) {
    const auto model = availability_model({.mean = mean,
                                           .deviation = deviation,
                                           .step = 10,
                                           .correlation_time = 20,
                                           .steps = 400000});
    ASSERT_TRUE(model) << model.error().message;
    Random random(7);
    const auto values = values_of(model->generate(random));
    const Moments found = moments_of(values);
    // 400,000 values that forget within two steps: about 100,000 independent ones, so that the mean
    // is good to deviation / 316. Four times that.
    EXPECT_NEAR(found.mean, mean, 4 * deviation / 316);
    EXPECT_NEAR(found.deviation, deviation, 0.02 * deviation);
    for (const double v : values) ASSERT_TRUE(v > 0 && v < 1);

    std::vector<double> logits;
    for (const double v : values) logits.push_back(std::log(v / (1 - v)));
    EXPECT_NEAR(moments_of(logits).next, std::exp(-10.0 / 20), 0.01);
    EXPECT_NEAR(moments_of(logits).mean, model->process.mean, 0.05);
    // The transformation costs some of the correlation, most where values crowd at an end; it never
    // adds to it.
    EXPECT_LE(found.next, std::exp(-10.0 / 20) + 0.01);
    EXPECT_GE(found.next, 0.75 * std::exp(-10.0 / 20));
  }
}

TEST(BandwidthModel, HasTheMeanAndDeviationAskedFor) {
  const TraceShape shape{
      .mean = 5e6, .deviation = 2e6, .step = 10, .correlation_time = 20, .steps = 400000};
  const auto model = bandwidth_model(shape);
  ASSERT_TRUE(model) << model.error().message;
  Random random(7);
  const Trace trace = model->generate(random);
  const Moments found = moments_of(values_of(trace));
  EXPECT_NEAR(found.mean, 5e6, 4 * 2e6 / 316);
  EXPECT_NEAR(found.deviation, 2e6, 0.03 * 2e6);
  // Neighbours: (exp(s² memory) - 1) / (exp(s²) - 1).
  const double variance = std::log1p(0.4 * 0.4);
  EXPECT_NEAR(found.next, std::expm1(variance * std::exp(-0.5)) / std::expm1(variance), 0.01);
  EXPECT_EQ(trace.period(), 4e6);
}

TEST(TraceGenerator, WithoutDeviationIsConstant) {
  Random random(1);
  const auto cpu = availability_model({.mean = 0.3, .deviation = 0});
  const auto link = bandwidth_model({.mean = 20, .deviation = 0});
  ASSERT_TRUE(cpu && link);
  for (const double v : values_of(cpu->generate(random))) EXPECT_NEAR(v, 0.3, 1e-9);
  for (const double v : values_of(link->generate(random))) EXPECT_NEAR(v, 20, 1e-9);
}

TEST(TraceGenerator, WithoutMemoryNeighboursAreIndependent) {
  Random random(1);
  const auto model =
      bandwidth_model({.mean = 1, .deviation = 0.5, .correlation_time = 0, .steps = 100000});
  ASSERT_TRUE(model);
  EXPECT_NEAR(moments_of(values_of(model->generate(random))).next, 0, 0.02);
}

TEST(TraceGenerator, SameSeedSameTrace) {
  const auto model = availability_model({.mean = 0.6, .deviation = 0.2, .steps = 50});
  ASSERT_TRUE(model);
  Random a(3);
  Random b(3);
  const Trace first = model->generate(a);
  EXPECT_EQ(first.steps(), model->generate(b).steps());
  EXPECT_NE(first.steps(), model->generate(b).steps());  // its second trace is another
}

TEST(TraceGenerator, RefusesWhatCannotBe) {
  const auto cpu = [](const TraceShape& shape) {
    const auto model = availability_model(shape);
    return model ? std::string("accepted") : model.error().message;
  };
  EXPECT_THAT(cpu({.mean = 1}), HasSubstr("not between 0 and 1"));
  EXPECT_THAT(cpu({.mean = 0}), HasSubstr("not between 0 and 1"));
  EXPECT_THAT(cpu({.mean = 0.9, .deviation = 0.3}),
              HasSubstr("cannot deviate by 0.3: at most 0.2"));
  EXPECT_THAT(cpu({.mean = 0.5, .deviation = -0.1}), HasSubstr("not negative"));
  EXPECT_THAT(cpu({.mean = 0.5, .step = 0}), HasSubstr("positive step"));
  EXPECT_THAT(cpu({.mean = 0.5, .steps = 0}), HasSubstr("positive step"));
  EXPECT_THAT(cpu({.mean = std::nan("")}), HasSubstr("finite"));
  EXPECT_FALSE(bandwidth_model({.mean = 0}));
  EXPECT_FALSE(bandwidth_model({.mean = kForever}));
}

}  // namespace
}  // namespace gantry::simulate
