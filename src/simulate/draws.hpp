#pragma once
/// Random draws of the experiments. Pure functions of the source they are given.

#include <cmath>
#include <cstdint>
#include <string_view>

#include "base/chance.hpp"
#include "simulate/trace.hpp"

namespace gantry::simulate {

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
