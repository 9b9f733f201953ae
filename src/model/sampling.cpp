#include "model/sampling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/random/sobol.hpp>
#include <numeric>

#include "base/chance.hpp"
#include "model/decimal.hpp"

namespace gantry {

namespace {

// A Latin hypercube keeps one permutation a dimension in memory.
constexpr std::uint64_t kMaxPermuted = 50'000'000;
constexpr std::size_t kMaxSobolDimensions = 3667;  // boost's table of direction numbers

/// 64 random bits that depend on (seed, a, b) only.
std::uint64_t random_bits(std::uint64_t seed, std::uint64_t a, std::uint64_t b) {
  return mixed(mixed(mixed(seed) ^ a) ^ b);
}

/// A number below n without modulo bias worth speaking of: the high word of a 96-bit product.
std::uint32_t below(std::uint64_t bits, std::uint32_t n) {
  return static_cast<std::uint32_t>((static_cast<WideInt>(bits) * n) >> 64U);
}

std::vector<std::uint32_t> permutation(std::uint32_t n, std::uint64_t seed,
                                       std::uint64_t dimension) {
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0U);
  for (std::uint32_t i = n; i > 1; --i) {
    std::swap(order[i - 1], order[below(random_bits(~seed, dimension, i), i)]);
  }
  return order;
}

}  // namespace

struct Sampler::Sobol {
  explicit Sobol(std::size_t dimensions) : engine(dimensions), shift(dimensions, 0) {}
  boost::random::sobol engine;
  std::vector<std::uint64_t> shift;

  void point(std::uint32_t index, std::span<double> out) {
    // The engine leaves out the origin: its point 0 is the sequence's point 1.
    if (index > 0) engine.seed(index - 1);
    for (std::size_t d = 0; d < out.size(); ++d) {
      out[d] = unit_of((index > 0 ? engine() : 0) ^ shift[d]);
    }
  }
};

Sampler::Sampler(SampleMethod method, std::uint32_t points, std::uint64_t seed)
    : method_(method), points_(points), seed_(seed) {}
Sampler::Sampler(Sampler&&) noexcept = default;
Sampler& Sampler::operator=(Sampler&&) noexcept = default;
Sampler::~Sampler() = default;

Result<Sampler> Sampler::make(SampleMethod method, std::uint32_t points, std::size_t dimensions,
                              std::uint64_t seed) {
  Sampler sampler(method, points, seed);
  if (method == SampleMethod::latin_hypercube) {
    if (static_cast<std::uint64_t>(points) * dimensions > kMaxPermuted) {
      return fail(ErrorCode::usage,
                  fmt::format("a Latin hypercube of {} points in {} dimensions is too large",
                              points, dimensions),
                  "use method: random or sobol, or fewer points");
    }
    for (std::size_t d = 0; d < dimensions; ++d) {
      sampler.permutations_.push_back(permutation(points, seed, d));
    }
  }
  if (method == SampleMethod::sobol) {
    if (dimensions > kMaxSobolDimensions) {
      return fail(ErrorCode::usage,
                  fmt::format("a Sobol' sample has at most {} parameters", kMaxSobolDimensions));
    }
    sampler.sobol_ = std::make_unique<Sobol>(dimensions);
    for (std::size_t d = 0; d < dimensions; ++d) sampler.sobol_->shift[d] = random_bits(seed, d, 0);
  }
  return sampler;
}

void Sampler::point(std::uint32_t index, std::span<double> out) {
  if (method_ == SampleMethod::sobol) return sobol_->point(index, out);
  for (std::size_t d = 0; d < out.size(); ++d) {
    const double u = unit_of(random_bits(seed_, d, index));
    if (method_ == SampleMethod::random) {
      out[d] = u;
    } else {
      // The quotient may round up to 1, which is outside.
      out[d] = std::min((permutations_[d][index] + u) / points_, 0x1.fffffffffffffp-1);
    }
  }
}

}  // namespace gantry
