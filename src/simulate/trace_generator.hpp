#pragma once
/// Seeded traces of CPU availability and of bandwidth. Both are first-order autoregressive
/// processes behind a transformation that gives the wanted mean and deviation; docs/simulation.md
/// derives them and says what they leave out. Pure values.

#include <cstdint>

#include "base/result.hpp"
#include "simulate/trace.hpp"

namespace gantry::simulate {

/// What a generated trace should look like.
struct TraceShape {
  double mean = 1;
  double deviation = 0;  ///< standard deviation
  double step = 60;      ///< seconds that a value holds
  /// Seconds after which the underlying process remembers 1/e of where it was: two values that are
  /// d seconds apart have its correlation exp(-d / correlation_time). 0: no memory.
  double correlation_time = 600;
  std::uint32_t steps = 1440;  ///< then it starts again
};

/// x[k+1] = mean + memory (x[k] - mean) + noise, in its stationary state from the start.
struct Autoregression {
  double mean = 0;
  double deviation = 0;
  double memory = 0;  ///< the correlation of two neighbours
};

struct TraceModel {
  TraceShape shape;
  Autoregression process;
  double (*transform)(double) = nullptr;  ///< from the process to what the trace shows

  /// The next trace of this source of chance.
  [[nodiscard]] Trace generate(Random& random) const;
};

/// What other users leave of a CPU: 1 / (1 + load), where the load (how many others want to run) is
/// log-normal. Values in (0, 1); the process is of the logarithm of availability / (1 -
/// availability). Fails unless 0 < mean < 1, the deviation is one that such a mean leaves room for
/// (always well below sqrt(mean (1 - mean))), and the times make sense.
[[nodiscard]] Result<TraceModel> availability_model(const TraceShape& shape);

/// Log-normal bandwidth, in the unit of the mean. Fails unless the mean is positive and the times
/// make sense.
[[nodiscard]] Result<TraceModel> bandwidth_model(const TraceShape& shape);

}  // namespace gantry::simulate
