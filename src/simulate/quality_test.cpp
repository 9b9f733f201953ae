#include "simulate/quality.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <array>

#include "schedule/gantt/random_case.hpp"
#include "schedule/steady_estimates.hpp"

namespace gantry::simulate {
namespace {

using schedule::Estimates;
using schedule::Seconds;
using testing::AllOf;
using testing::Each;
using testing::Ge;
using testing::Le;

/// Gives copies of the same estimates at all times.
template <class Kind>
struct SameEverywhere final : public schedule::EstimateSource {
  explicit SameEverywhere(Kind estimates) : given(std::move(estimates)) {}
  [[nodiscard]] std::unique_ptr<Estimates> at(const schedule::World&,
                                              std::span<const gantry::Host* const>,
                                              std::span<const SiteId>) const override {
    return std::make_unique<Kind>(given);
  }
  Kind given;
};

struct Asked {
  std::vector<gantry::Host> hosts;
  std::vector<const gantry::Host*> slots;
  std::vector<SiteId> sites;
};

Asked asked(std::uint32_t hosts, std::uint32_t sites) {
  Asked result;
  for (std::uint32_t i = 0; i < hosts; ++i)
    result.hosts.push_back({.id = HostId(i + 1), .name = {}});
  for (const gantry::Host& host : result.hosts) result.slots.push_back(&host);
  for (std::uint32_t i = 0; i < sites; ++i) result.sites.emplace_back(i + 1);
  return result;
}

std::unique_ptr<Estimates> estimates_at(const schedule::EstimateSource& source, const Asked& what,
                                        std::int64_t second = 0) {
  const forecast::RunTimeForecast nothing_learnt;
  const schedule::World world{.now = TimePoint{} + std::chrono::seconds(second),
                              .classes = {},
                              .hosts = {},
                              .run_times = nothing_learnt};
  return source.at(world, what.slots, what.sites);
}

/// Tasks of 100 s take 100 s, files of 100 bytes as well.
std::shared_ptr<const schedule::EstimateSource> steady(std::uint32_t hosts, std::uint32_t sites) {
  return std::make_shared<SameEverywhere<schedule::SteadyEstimates>>(schedule::SteadyEstimates(
      std::vector(hosts, 1.0), std::vector(sites, schedule::SteadyEstimates::Link{})));
}

TEST(Quality, WithoutErrorsNothingChanges) {
  const auto exact = steady(1, 1);
  EXPECT_EQ(with_quality(exact, {}), exact);
  EXPECT_EQ(with_quality(exact, {.kind = ErrorKind::uniform, .error = 0}), exact);
}

TEST(Quality, UniformErrorsFillTheirRange) {
  constexpr std::uint32_t kMany = 4000;
  const Asked what = asked(kMany, kMany);
  const auto estimates = estimates_at(
      *with_quality(steady(kMany, kMany), {.kind = ErrorKind::uniform, .error = 0.3}), what);
  for (const bool hosts : {true, false}) {
    std::vector<double> factors;
    double sum = 0;
    double squares = 0;
    for (std::uint32_t i = 0; i < kMany; ++i) {
      const Seconds took =
          hosts ? estimates->computed(i, 50, 100) - 50 : estimates->moved(i, 50, 100, false) - 50;
      factors.push_back(took / 100);
      sum += took / 100 - 1;
      squares += (took / 100 - 1) * (took / 100 - 1);
    }
    EXPECT_THAT(factors, Each(AllOf(Ge(0.7 - 1e-9), Le(1.3 + 1e-9))));
    EXPECT_NEAR(sum / kMany, 0, 0.01);
    EXPECT_NEAR(squares / kMany, 0.3 * 0.3 / 3, 0.002);  // of a uniform number in ±0.3
  }
}

TEST(Quality, AHostHasOneErrorForTheEvent) {
  const auto source = with_quality(steady(2, 1), {.kind = ErrorKind::uniform, .error = 0.5});
  Asked what = asked(2, 1);
  what.slots = {&what.hosts[0], &what.hosts[0]};
  const auto estimates = estimates_at(*source, what, 10);
  EXPECT_EQ(estimates->computed(0, 5, 100), estimates->computed(1, 5, 100));
  EXPECT_NEAR(estimates->computed(0, 0, 100), 10 * estimates->computed(0, 0, 10), 1e-9);
  EXPECT_EQ(estimates->moved(0, 0, 100, false), estimates->moved(0, 0, 100, true));
  EXPECT_EQ(estimates_at(*source, what, 10)->computed(0, 0, 100), estimates->computed(0, 0, 100));
  EXPECT_NE(estimates_at(*source, what, 11)->computed(0, 0, 100), estimates->computed(0, 0, 100));
  EXPECT_NE(estimates_at(*source, what, 11)->moved(0, 0, 100, false),
            estimates->moved(0, 0, 100, false));
  // The planner's numbers do not matter: the host is the same.
  what.slots = {&what.hosts[1], &what.hosts[0]};
  EXPECT_EQ(estimates_at(*source, what, 10)->computed(1, 5, 100), estimates->computed(0, 5, 100));
  EXPECT_NE(estimates_at(*source, what, 10)->computed(0, 5, 100), estimates->computed(0, 5, 100));
}

TEST(Quality, TheSeedDecides) {
  const Asked what = asked(1, 1);
  const auto end = [&](std::uint64_t seed) {
    return estimates_at(*with_quality(steady(1, 1),
                                      {.kind = ErrorKind::uniform, .error = 0.5, .seed = seed}),
                        what)
        ->computed(0, 0, 100);
  };
  EXPECT_EQ(end(1), end(1));
  EXPECT_NE(end(1), end(2));
}

// Whatever the errors are
// -------------------------------------------------------------------------------------------------

QualityOptions any_quality() {
  using schedule::random_case::from_to;
  return {.kind = ErrorKind::uniform,
          .error = from_to(1, 10) / 10.0,
          .seed = static_cast<std::uint64_t>(from_to(0, 1000))};
}

std::unique_ptr<Estimates> wrong(const schedule::RandomCase& c, const QualityOptions& options,
                                 Asked& what) {
  what = asked(static_cast<std::uint32_t>(c.situation.hosts.size()),
               static_cast<std::uint32_t>(c.situation.sites.size()));
  const auto exact = std::make_shared<SameEverywhere<schedule::SteppedEstimates>>(c.estimates);
  return estimates_at(*with_quality(exact, options), what);
}

RC_GTEST_PROP(Quality, WrongEstimatesAreStillEstimates, ()) {
  using schedule::random_case::from_to;
  const auto c = schedule::random_case::any();
  Asked what;
  const auto estimates = wrong(c, any_quality(), what);
  const auto host = static_cast<std::uint32_t>(from_to(0, static_cast<int>(what.hosts.size()) - 1));
  const auto site = static_cast<std::uint32_t>(from_to(0, static_cast<int>(what.sites.size()) - 1));
  const Seconds from = from_to(0, 640) / 10.0;
  const Seconds later = from + from_to(0, 100) / 10.0;
  const double work = from_to(0, 300) / 10.0;
  const double more = work + from_to(0, 100) / 10.0;
  RC_ASSERT(estimates->computed(host, from, work) >= from + work / estimates->fastest(host));
  RC_ASSERT(estimates->computed(host, later, work) >= estimates->computed(host, from, work));
  RC_ASSERT(estimates->computed(host, from, more) >= estimates->computed(host, from, work));
  RC_ASSERT(estimates->moved(site, from, work, false) >= from);
  RC_ASSERT(estimates->moved(site, later, work, false) >=
            estimates->moved(site, from, work, false));
  RC_ASSERT(estimates->moved(site, from, more, false) >= estimates->moved(site, from, work, false));
  const std::array works{work, more};
  std::array<Seconds, 2> ends{};
  estimates->computed_each(host, from, works, ends);
  RC_ASSERT(ends[0] == estimates->computed(host, from, work));
  RC_ASSERT(ends[1] == estimates->computed(host, from, more));
  const std::array starts{from, later};
  estimates->moved_each(site, starts, work, true, ends);
  RC_ASSERT(ends[0] == estimates->moved(site, from, work, true));
  RC_ASSERT(ends[1] == estimates->moved(site, later, work, true));
}

/// sched() itself asserts that what it chose is what it got.
RC_GTEST_PROP(Quality, PlansFromWrongEstimatesAreSound, ()) {
  const auto c = schedule::random_case::any();
  Asked what;
  const auto estimates = wrong(c, any_quality(), what);
  const auto plan = schedule::sched(c.situation, *estimates, c.options);
  std::vector<Seconds> free;
  for (const auto& host : c.situation.hosts) free.push_back(std::max(host.free_from, 0.0));
  std::vector<std::uint32_t> left;
  for (const auto& task_class : c.situation.classes) left.push_back(task_class.waiting);
  for (const auto& task : plan.tasks) {
    RC_ASSERT(left[task.task_class] > 0U);
    --left[task.task_class];
    RC_ASSERT(task.start >= free[task.host]);
    RC_ASSERT(task.end >= task.start);
    free[task.host] = task.end;
  }
}

}  // namespace
}  // namespace gantry::simulate
