#include "forecast/regression.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>

namespace gantry::forecast {
namespace {

constexpr double kHardlyAny = 1e-9;

TEST(RidgeFit, FindsALine) {
  // y = 3 + 2 x
  const Table table{1, {0, 1, 2, 3, 10}};
  const std::vector<double> values{3, 5, 7, 9, 23};
  const RidgeFit fit(table, values, kHardlyAny);
  EXPECT_NEAR(fit.predict(std::vector{5.0}), 13, 1e-5);
  EXPECT_NEAR(fit.predict(std::vector{100.0}), 203, 1e-3);
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(fit.left_out()[i], values[i], 1e-4);
}

TEST(RidgeFit, WhatIsLeftOutIsPredictedByTheOthers) {
  // Three points; without the last, the line through the other two: 1 + x says 3 at 2.
  const Table table{1, {0, 1, 2}};
  const RidgeFit all(table, std::vector<double>{1, 2, 9}, kHardlyAny);
  EXPECT_NEAR(all.left_out()[2], 3, 1e-5);
}

TEST(RidgeFit, ColumnsThatSayNothingDoNoHarm) {
  // A constant column, one twice, one a multiple of another.
  Table table{4, {}};
  std::vector<double> values;
  for (int i = 0; i < 20; ++i) {
    const double x = i;
    table.cells.insert(table.cells.end(), {x, 7, x, -3 * x});
    values.push_back(5 + x);
  }
  const RidgeFit fit(table, values, 1e-6);
  EXPECT_NEAR(fit.predict(std::vector<double>{30, 7, 30, -90}), 35, 0.01);
}

TEST(RidgeFit, MoreColumnsThanPoints) {
  const Table table{4, {1, 0, 0, 2, 0, 1, 0, 4}};
  const RidgeFit fit(table, std::vector<double>{1, 2}, 1e-3);
  EXPECT_NEAR(fit.predict(table.row(0)), 1, 0.01);
  EXPECT_NEAR(fit.predict(table.row(1)), 2, 0.01);
}

TEST(RidgeFit, AStrongRidgeGivesTheMean) {
  const Table table{1, {0, 1, 2, 3}};
  const RidgeFit fit(table, std::vector<double>{0, 1, 2, 3}, 1e9);
  EXPECT_NEAR(fit.predict(std::vector{3.0}), 1.5, 1e-6);
}

TEST(RidgeFit, FarFromWhatWasSeenIsFar) {
  const Table table{1, {0, 1, 2, 3, 4}};
  const RidgeFit fit(table, std::vector<double>{0, 1, 2, 3, 4}, 1e-6);
  EXPECT_NEAR(fit.distance(std::vector{2.0}), 0, 1e-9);
  EXPECT_LT(fit.distance(std::vector{4.0}), 1);
  EXPECT_GT(fit.distance(std::vector{100.0}), 100);
}

/// Leverage is a shortcut: the same must come out when each point is really left out, up to the
/// ridge and the scale, which are of all points.
TEST(RidgeFitProperty, LeavingOutAgreesWithFittingTheOthers) {
  EXPECT_TRUE(rc::check([] {
    const auto points = *rc::gen::inRange<std::size_t>(6, 20);
    Table table{2, {}};
    std::vector<double> values;
    for (std::size_t i = 0; i < points; ++i) {
      table.cells.push_back(static_cast<double>(i));
      table.cells.push_back(*rc::gen::inRange(0, 50));
      values.push_back(*rc::gen::inRange(0, 1000));
    }
    const RidgeFit all(table, values, kHardlyAny);
    const auto out = *rc::gen::inRange<std::size_t>(0, points);
    Table others = table;
    auto rest = values;
    others.cells.erase(others.cells.begin() + static_cast<std::ptrdiff_t>(2 * out),
                       others.cells.begin() + static_cast<std::ptrdiff_t>(2 * out + 2));
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(out));
    const double said = RidgeFit(others, rest, kHardlyAny).predict(table.row(out));
    const double varies = all.distance(table.row(out)) + 1.0 / static_cast<double>(points);
    if (varies > 0.99) return;  // that point alone has something in the second column
    RC_ASSERT(std::abs(all.left_out()[out] - said) < 1e-3 * (1 + std::abs(said)));
  }));
}

TEST(RidgeFitProperty, NumbersOfAnySizeGiveFiniteFits) {
  EXPECT_TRUE(rc::check([] {
    const auto any = [] {
      return *rc::gen::element(0.0, 1.0, -1.0, 1e-300, 5e-324, 1e-50, 1e100, -1e100, 3.0, 1e16);
    };
    Table table{3, {}};
    std::vector<double> values;
    const auto points = *rc::gen::inRange(2, 12);
    for (int i = 0; i < points; ++i) {
      for (int j = 0; j < 3; ++j) table.cells.push_back(any());
      values.push_back(any());
    }
    const RidgeFit fit(table, values, 1e-6);
    for (const double said : fit.left_out()) RC_ASSERT(std::isfinite(said));
    for (std::size_t i = 0; i < table.rows(); ++i)
      RC_ASSERT(std::isfinite(fit.predict(table.row(i))));
  }));
}

}  // namespace
}  // namespace gantry::forecast
