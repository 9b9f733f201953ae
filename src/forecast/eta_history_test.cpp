#include "forecast/eta_history.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace gantry::forecast {
namespace {

Duration whole(int s) {
  return std::chrono::seconds(s);
}

/// Of the interval, as a part of the whole run.
double eta_width(const EtaHistory& history, double share, Duration elapsed, Duration rest) {
  const Eta eta = history.spread(share, elapsed, rest);
  EXPECT_EQ(eta.expected, rest);
  EXPECT_LE(eta.soonest, eta.expected);
  EXPECT_GE(eta.latest, eta.expected);
  return gantry::seconds(eta.latest - eta.soonest) / gantry::seconds(elapsed + rest);
}

TEST(EtaHistory, BeforeAnythingIsKnownAnIntervalIsWide) {
  const EtaHistory none;
  const Eta eta = none.spread(0, whole(0), whole(100));
  EXPECT_EQ(eta.expected, whole(100));
  EXPECT_LT(eta.soonest, whole(95));
  EXPECT_GT(eta.latest, whole(110));
}

TEST(EtaHistory, ARunThatKeepsItsPromisesBecomesSure) {
  EtaHistory history;
  double before = 10;
  for (double share = 0.01; share < 0.9; share *= 2) {
    ASSERT_TRUE(history.is_due(share));
    history.look(share, whole(1000));
    EXPECT_FALSE(history.is_due(share * 1.2));
    const auto elapsed = from_seconds(1000 * share);
    const double now = eta_width(history, share, elapsed, whole(1000) - elapsed);
    EXPECT_LT(now, before);
    before = now;
  }
  EXPECT_LT(before, 0.05);
}

TEST(EtaHistory, ARunWhoseEndMovesIsNotSureAndEndsRatherLater) {
  EtaHistory history;
  int in_all = 1000;
  for (double share = 0.01; share <= 0.2; share *= 2) history.look(share, whole(in_all += 300));
  const Eta eta = history.spread(0.2, whole(500), whole(2000));
  EXPECT_GT(eta_width(history, 0.2, whole(500), whole(2000)), 0.4);
  EXPECT_GT(eta.latest - eta.expected, eta.expected - eta.soonest);
}

TEST(EtaHistory, WhatMovedLongAgoIsForgotten) {
  EtaHistory wild;
  wild.look(0.01, whole(100));
  wild.look(0.02, whole(3000));
  EXPECT_GT(eta_width(wild, 0.02, whole(60), whole(2940)), 2);
  EXPECT_LT(eta_width(wild, 0.02, whole(60), whole(2940)), 5) << "more would tell nothing";
  for (double share = 0.04; share <= 0.64; share *= 2) wild.look(share, whole(1000));
  EXPECT_LT(eta_width(wild, 0.64, whole(640), whole(360)), 0.8);
}

TEST(EtaHistory, WhatChanceExplainsIsNotCounted) {
  // Every look moves by a tenth, which is what run times make it move by anyway.
  EtaHistory explained;
  EtaHistory not_explained;
  int in_all = 1000;
  for (double share = 0.05; share <= 0.4; share *= 2) {
    explained.look(share, whole(in_all), 0.15);
    not_explained.look(share, whole(in_all));
    in_all += in_all / 10;
  }
  EXPECT_LT(2 * eta_width(explained, 0.4, whole(500), whole(700)),
            eta_width(not_explained, 0.4, whole(500), whole(700)));
}

TEST(EtaHistory, HowWrongTheFirstLookWasDoesNotMatter) {
  EtaHistory wrong;
  EtaHistory absurd;
  wrong.look(0.05, whole(10));
  absurd.look(0.05, from_seconds(0.001));
  for (double share = 0.1; share <= 0.4; share *= 2) {
    wrong.look(share, whole(1000));
    absurd.look(share, whole(1000));
  }
  EXPECT_DOUBLE_EQ(eta_width(wrong, 0.4, whole(400), whole(600)),
                   eta_width(absurd, 0.4, whole(400), whole(600)));
}

TEST(EtaHistory, NonsenseChangesNothing) {
  EtaHistory history;
  history.look(0.1, whole(0));
  history.look(0.1, whole(-5));
  history.look(0, whole(5));
  history.look(0.1, whole(5), std::numeric_limits<double>::quiet_NaN());
  EXPECT_TRUE(history.is_due(0.1));
  const Eta eta = history.spread(1, whole(-7), whole(0));
  EXPECT_EQ(eta.expected, whole(0));
  EXPECT_EQ(eta.soonest, whole(0));
  EXPECT_EQ(eta.latest, whole(0));
  const Eta far = history.spread(0, Duration{0}, from_seconds(1e9));
  EXPECT_GT(far.latest, far.expected);
}

}  // namespace
}  // namespace gantry::forecast
