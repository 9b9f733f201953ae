#pragma once
/// Several numbers in one step, where a loop is worth it: compilers do not see by themselves that
/// these loops need no branches. A step is written once, for `Lanes` and for the plain numbers that
/// are left at the end: comparisons, &, | and ?: mean the same for both.

#include <cstddef>
#include <cstring>

namespace gantry::schedule {

/// What every 64-bit x86 and Arm has.
using Lanes [[gnu::vector_size(16)]] = double;
inline constexpr std::size_t kLanes = sizeof(Lanes) / sizeof(double);

template <class Number>
[[nodiscard]] inline Number load(const double* from) {
  Number number;
  std::memcpy(&number, from, sizeof number);
  return number;
}

template <class Number>
inline void store(double* to, const Number& number) {
  std::memcpy(to, &number, sizeof number);
}

/// Calls step(i, zero) for all i < count, with a zero of the type that it is to work with there.
template <class Step>
inline void for_lanes(std::size_t count, const Step& step) {
  std::size_t i = 0;
  for (; i + kLanes <= count; i += kLanes) step(i, Lanes{});
  for (; i < count; ++i) step(i, double{});
}

/// Is step(i, zero) true for any i < count?
template <class Step>
[[nodiscard]] inline bool any_lane(std::size_t count, const Step& step) {
  // To look into lanes takes longer than a step: once for several.
  constexpr std::size_t kSteps = 4;
  const auto is_any = [](const auto& found) {
    auto any = found[0];
    for (std::size_t lane = 1; lane < kLanes; ++lane) any |= found[lane];
    return any != 0;
  };
  std::size_t i = 0;
  for (; i + kSteps * kLanes <= count; i += kSteps * kLanes) {
    auto found = step(i, Lanes{});
    for (std::size_t k = 1; k < kSteps; ++k) found |= step(i + k * kLanes, Lanes{});
    if (is_any(found)) return true;
  }
  for (; i + kLanes <= count; i += kLanes)
    if (is_any(step(i, Lanes{}))) return true;
  for (; i < count; ++i)
    if (step(i, double{})) return true;
  return false;
}

}  // namespace gantry::schedule
