#pragma once
/// Numbers drawn by chance that are the same on every machine, which the distributions of the
/// standard library are not. Pure functions of the source they are given.

#include <cmath>
#include <cstdint>
#include <string_view>

#include "simulate/trace.hpp"

namespace gantry::simulate {

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

/// A source of its own for each thing that is made from a seed: what one thing draws does not
/// change another.
inline Random chance_for(std::uint64_t seed, std::string_view thing, std::uint64_t index) {
  std::uint64_t key = mixed(seed);
  for (const char letter : thing) key = mixed(key ^ static_cast<unsigned char>(letter));
  return Random(mixed(key ^ mixed(index)));
}

/// One of low .. high, each as likely: the papers' U(low, high). REQUIRES: low <= high.
inline std::uint32_t whole_between(Random& random, std::uint32_t low, std::uint32_t high) {
  return low + static_cast<std::uint32_t>(unit_of(random()) * (double(high) - double(low) + 1));
}

inline double between(Random& random, double low, double high) {
  return low + (high - low) * unit_of(random());
}

/// Its logarithm is uniform. REQUIRES: 0 < low <= high.
inline double log_between(Random& random, double low, double high) {
  return low * std::pow(high / low, unit_of(random()));
}

}  // namespace gantry::simulate
