#pragma once
/// Chance that is the same on every machine, which the distributions of the standard library are
/// not. Pure functions.

#include <cstdint>

namespace gantry {

/// splitmix64: neighbours in, strangers out.
constexpr std::uint64_t mixed(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111eb;
  return z ^ (z >> 31U);
}

/// The top 53 bits as a number in [0, 1).
constexpr double unit_of(std::uint64_t bits) {
  return static_cast<double>(bits >> 11U) * 0x1.0p-53;
}

}  // namespace gantry
