#pragma once
/// How the relative cost is spread over a sweep: what a task costs on average from a given one to
/// the last. Samples a thousand tasks at most, because a million costs are too many to calculate
/// before the first start.

#include <cstdint>
#include <functional>
#include <vector>

namespace gantry::forecast {

class CostProfile {
 public:
  using CostOf = std::function<double(std::uint32_t index)>;

  /// `cost_of` is asked for indices in [0, count) and not kept. Empty = every task costs 1.
  CostProfile(std::uint32_t count, const CostOf& cost_of);

  /// Mean cost of the tasks [index, count); of the last sampled one when there are none.
  [[nodiscard]] double mean_from(std::uint32_t index) const;

 private:
  std::uint32_t stride_ = 1;       ///< one sample stands for so many tasks
  std::vector<double> mean_from_;  ///< by sample: the mean of it and all later samples
};

}  // namespace gantry::forecast
