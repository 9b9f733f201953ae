#include "schedule/gantt/load_program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <cmath>

namespace gantry::schedule {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

TEST(LoadProgram, AnAlternativeMayLoadSeveralResources) {
  // The item either loads 0 with 4 and 1 with 2, or 1 with 8. A part x of the first: 4 x against
  // 2 x + 8 (1 - x), equal at x = 0.8: 3.2.
  LoadProgram program;
  program.loads = {0, 0};
  program.add_use(0, 4);
  program.add_use(1, 2);
  program.end_alternative();
  program.add_use(1, 8);
  program.end_alternative();
  program.end_item();
  const auto found = balance(program, {});
  EXPECT_NEAR(found.bound, 3.2, 1e-7);
  EXPECT_THAT(found.parts, ElementsAre(DoubleNear(0.8, 1e-6), DoubleNear(0.2, 1e-6)));
}

TEST(LoadProgram, NoItemsLeaveTheLoads) {
  LoadProgram program;
  program.loads = {3, 5};
  EXPECT_NEAR(balance(program, {}).bound, 5, 1e-9);
}

LoadProgram any_program() {
  const auto number = [](int low, int high) {
    return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(low, high + 1));
  };
  LoadProgram program;
  const int resources = number(1, 6);
  for (int i = 0; i < resources; ++i) program.loads.push_back(number(0, 3) * 10);
  for (int item = number(0, 12); item > 0; --item) {
    for (int alternative = number(1, 4); alternative > 0; --alternative) {
      for (std::uint32_t resource = 0; resource < program.loads.size(); ++resource)
        if (number(0, 1) == 0) program.add_use(resource, number(0, 100));
      program.end_alternative();
    }
    program.end_item();
  }
  return program;
}

TEST(LoadProgram, ItsPartsLoadNothingMoreThanItsBound) {
  EXPECT_TRUE(rc::check([] {
    const LoadProgram program = any_program();
    const auto found = balance(program, {});
    std::vector<double> loads = program.loads;
    for (std::size_t item = 0; item < program.items(); ++item) {
      double whole = 0;
      for (std::size_t a = program.item_begin[item]; a < program.item_begin[item + 1]; ++a) {
        RC_ASSERT(found.parts[a] >= 0);
        whole += found.parts[a];
        for (const auto& use : program.uses_of(a)) loads[use.resource] += found.parts[a] * use.load;
      }
      RC_ASSERT(std::abs(whole - 1) < 1e-6);
    }
    // Weak duality gives the other direction: both at once only hold at the optimum.
    RC_ASSERT(*std::ranges::max_element(loads) <= found.bound + 1e-5 * (1 + found.bound));
  }));
}

/// As bounds ask it: what it finds before it stops is on the same side of the limit as the optimum.
TEST(LoadProgram, WhereItStopsEarlyTheSideOfTheLimitIsKnown) {
  EXPECT_TRUE(rc::check([] {
    const LoadProgram program = any_program();
    const double best = balance(program, {}).bound;
    for (const double part : {0.1, 0.9, 0.999, 1.001, 1.1, 10.0}) {
      const double limit = part * best;
      const BalanceLimits limits{.enough = std::nextafter(limit, 2 * limit), .little = limit};
      RC_ASSERT((balance(program, limits).bound <= limit) == (best <= limit));
    }
  }));
}

}  // namespace
}  // namespace gantry::schedule
