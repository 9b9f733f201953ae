#include "schedule/gantt/site_hosts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <set>

namespace gantry::schedule {
namespace {

using testing::ElementsAre;

/// Hosts that are always as fast as they can be, and how many of them were asked about.
struct Site {
  SiteHosts hosts;
  std::vector<double> works;
  bool two = false;
  std::set<std::size_t> asked{};
  BestEnds best{};

  void find(Seconds from) {
    best.reset(works, hosts.fastest(), two);
    std::vector<Seconds> ends(works.size());
    hosts.find_best(from, works, best, [&](std::size_t place, Seconds start) {
      const SiteHosts::Host& host = hosts.hosts()[place];
      if (!best.admits(works, start, host.fastest, host.rank)) return;
      asked.insert(place);
      for (std::size_t i = 0; i < works.size(); ++i) ends[i] = start + works[i] / host.fastest;
      best.offer(works, ends, host.rank);
    });
  }
  [[nodiscard]] std::pair<Seconds, std::uint32_t> first(std::size_t i) const {
    return {best.first_ends()[i], best.first_rank(i)};
  }
  [[nodiscard]] std::pair<Seconds, std::uint32_t> second(std::size_t i) const {
    return {best.second_ends()[i], best.second_rank(i)};
  }
};

TEST(SiteHosts, FindsWhereEachWorkEndsFirst) {
  // Rank 0 is slow and free, rank 1 is fast and taken until 4, rank 2 is taken for long.
  Site site{SiteHosts({{0, 1, 0}, {1, 4, 4}, {2, 4, 50}}), {2, 8}, true};
  site.find(0);
  EXPECT_EQ(site.first(0), (std::pair{2.0, 0U}));   // 0 + 2 / 1
  EXPECT_EQ(site.second(0), (std::pair{4.5, 1U}));  // 4 + 2 / 4
  EXPECT_EQ(site.first(1), (std::pair{6.0, 1U}));   // 4 + 8 / 4
  EXPECT_EQ(site.second(1), (std::pair{8.0, 0U}));  // 0 + 8 / 1
  site.find(10);                                    // files arrive then
  EXPECT_EQ(site.first(0), (std::pair{10.5, 1U}));
  EXPECT_EQ(site.second(0), (std::pair{12.0, 0U}));
  site.find(kInfinite);
  EXPECT_EQ(site.best.first_ends()[0], kInfinite);
}

TEST(SiteHosts, KnowsWhichStartsAreTooLate) {
  // Second best are 4.5 for the work of 2 and 8 for that of 8. With a speed of 4 these take 0.5 and
  // 2, so what starts after 6 cannot be among the best.
  Site site{SiteHosts({{0, 1, 0}, {1, 4, 4}, {2, 4, 50}}), {2, 8}, true};
  site.find(0);
  EXPECT_GE(site.best.latest_start(), 6);
  EXPECT_LT(site.best.latest_start(), 6.001);
  EXPECT_EQ(site.hosts.first_free(), 0);
  site.hosts.set_free(2, kInfinite);  // rank 0, the slowest
  EXPECT_EQ(site.hosts.first_free(), 4);
}

TEST(SiteHosts, AHostThatLeftIsNotFound) {
  Site site{SiteHosts({{0, 1, 0}, {1, 2, 0}}), {2}, true};
  site.hosts.set_free(0, kInfinite);  // the faster one, of rank 1
  site.find(0);
  EXPECT_EQ(site.first(0), (std::pair{2.0, 0U}));
  EXPECT_EQ(site.best.second_ends()[0], kInfinite);
}

TEST(SiteHosts, OfManyEqualHostsOnlyTheOneWithTheLowestRankIsAskedAbout) {
  std::vector<SiteHosts::Host> hosts;
  for (std::uint32_t rank = 0; rank < 1000; ++rank) hosts.push_back({999 - rank, 2, 0});
  Site site{SiteHosts(hosts), {7, 8, 9}};
  site.find(5);
  EXPECT_EQ(site.first(2), (std::pair{9.5, 0U}));
  EXPECT_EQ(site.asked.size(), 1U);
}

RC_GTEST_PROP(SiteHosts, FindsWhatAskingEveryHostFinds, ()) {
  const auto from_to = [](int low, int high) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(low, high + 1));
  };
  std::vector<SiteHosts::Host> hosts;
  const int count = from_to(1, 20);
  for (int i = 0; i < count; ++i)
    hosts.push_back({static_cast<std::uint32_t>(i), from_to(1, 4) * 1.0,
                     from_to(0, 5) == 0 ? kInfinite : from_to(0, 20) * 1.0});
  Site site{SiteHosts(hosts), {4, 6, 12}, true};
  const Seconds from = from_to(0, 20);
  site.find(from);
  for (std::size_t i = 0; i < site.works.size(); ++i) {
    std::vector<std::pair<Seconds, std::uint32_t>> all;
    for (const auto& host : hosts)
      if (host.free < kInfinite)
        all.emplace_back(std::max(from, host.free) + site.works[i] / host.fastest, host.rank);
    std::ranges::sort(all);
    RC_ASSERT((site.best.first_ends()[i] < kInfinite) == !all.empty());
    RC_ASSERT((site.best.second_ends()[i] < kInfinite) == (all.size() > 1));
    if (!all.empty()) RC_ASSERT(site.first(i) == all[0]);
    if (all.size() > 1) RC_ASSERT(site.second(i) == all[1]);
  }
}

}  // namespace
}  // namespace gantry::schedule
