#pragma once
/// Points of a sample in the unit cube: random, Latin hypercube or Sobol'. Point i is made from its
/// index; the same seed gives the same points on every machine. One thread (Sobol' keeps the
/// engine's state between calls).

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace gantry {

enum class SampleMethod : std::uint8_t { random, latin_hypercube, sobol };

class Sampler {
 public:
  /// Fails when the method cannot serve that many points or dimensions.
  static Result<Sampler> make(SampleMethod method, std::uint32_t points, std::size_t dimensions,
                              std::uint64_t seed);
  Sampler(Sampler&&) noexcept;
  Sampler& operator=(Sampler&&) noexcept;
  ~Sampler();

  /// Every coordinate in [0,1). REQUIRES: index < points, out.size() == dimensions.
  void point(std::uint32_t index, std::span<double> out);

 private:
  struct Sobol;
  Sampler(SampleMethod method, std::uint32_t points, std::uint64_t seed);

  SampleMethod method_;
  std::uint32_t points_;
  std::uint64_t seed_;
  std::vector<std::vector<std::uint32_t>>
      permutations_;  ///< Latin hypercube: which stratum, by dimension
  std::unique_ptr<Sobol> sobol_;
};

}  // namespace gantry
