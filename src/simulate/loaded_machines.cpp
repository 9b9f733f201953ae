#include "simulate/loaded_machines.hpp"

#include <cmath>

#include "simulate/draws.hpp"
#include "simulate/trace_generator.hpp"

namespace gantry::simulate {

namespace {

constexpr double kFourDays = 4 * 86400;
constexpr double kLoadStep = 60;
constexpr auto kSteps = static_cast<std::uint32_t>(kFourDays / kLoadStep);

}  // namespace

Trace loaded_cpu(Random& random) {
  TraceShape shape{.step = kLoadStep, .steps = kSteps};
  shape.mean = between(random, 0.7, 0.95);
  // As a part of what an availability that is either 0 or 1 would have.
  shape.deviation = between(random, 0.15, 0.35) * std::sqrt(shape.mean * (1 - shape.mean));
  shape.correlation_time = log_between(random, 300, 7200);
  return availability_model(shape).value().generate(random);
}

LinkSpec wide_area_link(Random& random, double mean_bandwidth) {
  TraceShape shape{.mean = mean_bandwidth, .step = kLoadStep, .steps = kSteps};
  shape.deviation = between(random, 0.2, 0.5) * mean_bandwidth;
  shape.correlation_time = log_between(random, 300, 7200);
  const double latency = between(random, 0.02, 0.2);
  return {.bandwidth = bandwidth_model(shape).value().generate(random), .latency = latency};
}

}  // namespace gantry::simulate
