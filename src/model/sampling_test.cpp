#include "model/sampling.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

namespace gantry {
namespace {

using ::testing::ElementsAre;

std::vector<std::vector<double>> points(SampleMethod method, std::uint32_t n,
                                        std::size_t dimensions, std::uint64_t seed) {
  auto sampler = Sampler::make(method, n, dimensions, seed);
  std::vector<std::vector<double>> result(n, std::vector<double>(dimensions));
  for (std::uint32_t i = 0; i < n; ++i) sampler->point(i, result[i]);
  return result;
}

/// Sobol' points are shifted by flipping bits; the origin, point 0, tells which.
std::vector<double> unshifted(const std::vector<double>& point, const std::vector<double>& origin) {
  const auto bits = [](double x) { return static_cast<std::uint64_t>(x * 0x1.0p53); };
  std::vector<double> result;
  for (std::size_t d = 0; d < point.size(); ++d)
    result.push_back(static_cast<double>(bits(point[d]) ^ bits(origin[d])) * 0x1.0p-53);
  return result;
}

// Bratley and Fox's sequence in Gray-code order, as every table lists it.
TEST(Sampling, FirstSobolPoints) {
  const auto shifted = points(SampleMethod::sobol, 6, 3, 42);
  const auto plain = [&](std::size_t i) { return unshifted(shifted[i], shifted[0]); };
  EXPECT_THAT(plain(1), ElementsAre(0.5, 0.5, 0.5));
  EXPECT_THAT(plain(2), ElementsAre(0.75, 0.25, 0.25));
  EXPECT_THAT(plain(3), ElementsAre(0.25, 0.75, 0.75));
  EXPECT_THAT(plain(4), ElementsAre(0.375, 0.375, 0.625));
  EXPECT_THAT(plain(5), ElementsAre(0.875, 0.875, 0.125));
}

// The sample is part of a study's identity: these values must never change.
TEST(Sampling, TheSameSeedGivesTheseVeryPoints) {
  const auto first = [](SampleMethod method) { return points(method, 4, 2, 42)[1]; };
  EXPECT_THAT(first(SampleMethod::random), ElementsAre(0.71293533728579939, 0.33972209554901389));
  EXPECT_THAT(first(SampleMethod::latin_hypercube),
              ElementsAre(0.67823383432144979, 0.83493052388725353));
  EXPECT_THAT(first(SampleMethod::sobol), ElementsAre(0.88697427624004088, 0.077125795355945992));
}

TEST(Sampling, AnyPointCanBeAskedForInAnyOrder) {
  for (const auto method :
       {SampleMethod::random, SampleMethod::latin_hypercube, SampleMethod::sobol}) {
    const auto forward = points(method, 50, 3, 9);
    auto sampler = Sampler::make(method, 50, 3, 9);
    std::vector<double> point(3);
    for (std::uint32_t i = 50; i-- > 0;) {
      sampler->point(i, point);
      EXPECT_EQ(point, forward[i]);
    }
  }
}

TEST(Sampling, LatinHypercubeHasOnePointInEachStratum) {
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    const auto n = *rc::gen::inRange<std::uint32_t>(1, 200);
    const auto sample = points(SampleMethod::latin_hypercube, n, 3, seed);
    for (std::size_t d = 0; d < 3; ++d) {
      std::vector<bool> filled(n, false);
      for (const auto& point : sample) {
        RC_ASSERT(point[d] >= 0 && point[d] < 1);
        filled[std::min(static_cast<std::size_t>(point[d] * n), static_cast<std::size_t>(n - 1))] =
            true;
      }
      RC_ASSERT(std::count(filled.begin(), filled.end(), true) == n);
    }
  }));
}

TEST(Sampling, ShiftedSobolStaysEvenlySpread) {
  // A digital shift permutes the 2^m elementary intervals of each dimension: still one point in
  // each.
  EXPECT_TRUE(rc::check([](std::uint64_t seed) {
    const auto sample = points(SampleMethod::sobol, 64, 4, seed);
    for (std::size_t d = 0; d < 4; ++d) {
      std::vector<bool> filled(64, false);
      for (const auto& point : sample) filled[static_cast<std::size_t>(point[d] * 64)] = true;
      RC_ASSERT(std::count(filled.begin(), filled.end(), true) == 64);
    }
  }));
}

TEST(Sampling, RandomPointsLookUniform) {
  // 40,000 coordinates: the mean's standard deviation is sqrt(1/12/40000) = 0.00144; 5 of them are
  // 0.0072.
  double sum = 0;
  for (const auto& point : points(SampleMethod::random, 10'000, 4, 1)) {
    for (const double u : point) sum += u;
  }
  EXPECT_NEAR(sum / 40'000, 0.5, 0.0072);
}

TEST(Sampling, RefusesWhatItCannotServe) {
  EXPECT_FALSE(Sampler::make(SampleMethod::latin_hypercube, 2'000'000'000, 2, 1));
  EXPECT_FALSE(Sampler::make(SampleMethod::sobol, 10, 5'000, 1));
  EXPECT_TRUE(Sampler::make(SampleMethod::sobol, 2'000'000'000, 3'000, 1));
}

}  // namespace
}  // namespace gantry
