#include "schedule/gantt/tournament.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace gantry::schedule {
namespace {

TEST(Tournament, NothingIsNextAtFirst) {
  for (const std::size_t things : {0U, 1U, 2U, 5U}) {
    const Tournament tournament(things);
    EXPECT_EQ(tournament.moment(tournament.next()), kInfinite) << things << " things";
  }
}

TEST(Tournament, OfSeveralThatTieTheLeastNumberIsNext) {
  Tournament tournament(4);
  tournament.set(3, 1);
  tournament.set(1, 1);
  tournament.set(2, 1);
  EXPECT_EQ(tournament.next(), 1U);
}

/// As a loop that looks at all of them; few moments, so that there are ties.
TEST(Tournament, TheEarliestIsNextWhateverWasSetBefore) {
  std::mt19937_64 random(1);
  for (const std::size_t things : {1U, 2U, 3U, 7U, 8U, 9U}) {
    Tournament tournament(things);
    std::vector<Seconds> moments(things, kInfinite);
    for (int step = 0; step < 200; ++step) {
      // Some events of the next one change others before itself.
      const std::uint32_t taken = tournament.next();
      if (moments[taken] < kInfinite) tournament.forget(taken);
      for (std::uint64_t others = random() % 3; others > 0; --others) {
        const auto thing = static_cast<std::uint32_t>(random() % things);
        moments[thing] = static_cast<double>(random() % 5);
        tournament.set(thing, moments[thing]);
      }
      moments[taken] = random() % 3 == 0 ? kInfinite : static_cast<double>(random() % 5);
      tournament.set(taken, moments[taken]);
      const auto earliest = std::ranges::min_element(moments);
      ASSERT_EQ(tournament.moment(tournament.next()), *earliest);
      if (*earliest < kInfinite) {
        ASSERT_EQ(tournament.next(), static_cast<std::uint32_t>(earliest - moments.begin()));
      }
    }
  }
}

}  // namespace
}  // namespace gantry::schedule
