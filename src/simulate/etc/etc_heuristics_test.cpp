#include "simulate/etc/etc_heuristics.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "simulate/etc/etc_generator.hpp"
#include "simulate/etc/etc_reference.hpp"

namespace gantry::simulate {
namespace {

using ::testing::ElementsAre;

EtcMatrix matrix_of(std::size_t machines, std::vector<double> times) {
  const std::size_t tasks = times.size() / machines;
  return EtcMatrix::make(tasks, machines, std::move(times)).value();
}

// Tasks a, b, c on machines 0 and 1.
const std::vector<double> kThree{2, 4,   // a
                                 3, 9,   // b
                                 6, 7};  // c

TEST(EtcHeuristics, MinMinTakesTheShortestFirst) {
  // a ends first (2 on 0). Then b on 0 at 5 (on 1 at 9), c on 1 at 7: b. Then c: 11 on 0, 7 on 1.
  EXPECT_THAT(apply_heuristic(EtcHeuristic::min_min, matrix_of(2, kThree)), ElementsAre(0, 0, 1));
}

TEST(EtcHeuristics, MaxMinTakesTheLongestFirst) {
  // Soonest ends 2, 3, 6: c on 0. Then a 4 on 1, b 9 on both: b, on 0 as it stands first. Then a.
  EXPECT_THAT(apply_heuristic(EtcHeuristic::max_min, matrix_of(2, kThree)), ElementsAre(1, 0, 0));
}

TEST(EtcHeuristics, SufferageTakesTheOneThatLosesMost) {
  // Losses 2, 6, 1: b on 0. Then a: 5 on 0, 4 on 1, loss 1; c: 9 on 0, 7 on 1, loss 2: c on 1.
  // Then a: 5 on 0.
  EXPECT_THAT(apply_heuristic(EtcHeuristic::sufferage, matrix_of(2, kThree)), ElementsAre(0, 0, 1));
}

TEST(EtcHeuristics, SufferageInPassesGivesEachMachineOneTaskAPass) {
  // All want 0 and b loses most. Second pass (0 ready at 3): a 5 or 4, loss 1; c 9 or 7, loss 2;
  // both want 1, c gets it. Third pass: a on 0.
  EXPECT_THAT(apply_heuristic(EtcHeuristic::sufferage_passes, matrix_of(2, kThree)),
              ElementsAre(0, 0, 1));
  // Two that want different machines are both placed in one pass, a tie goes to the first.
  EXPECT_THAT(apply_heuristic(EtcHeuristic::sufferage_passes, matrix_of(2, {1, 5, 5, 1, 1, 5})),
              ElementsAre(0, 1, 0));
}

TEST(EtcHeuristics, TiesGoToTheFirst) {
  for (const EtcHeuristic heuristic : kEtcHeuristics) {
    EXPECT_THAT(apply_heuristic(heuristic, matrix_of(3, std::vector<double>(12, 1.0))),
                ElementsAre(0, 1, 2, 0))
        << heuristic_name(heuristic);
    EXPECT_THAT(apply_heuristic(heuristic, matrix_of(1, {3, 0, 3})), ElementsAre(0, 0, 0))
        << heuristic_name(heuristic);
  }
}

TEST(EtcHeuristics, FastIsTheSameAsTheDefinition) {
  EXPECT_TRUE(rc::check([] {
    const auto machines = *rc::gen::inRange<std::size_t>(1, 7);
    const auto tasks = *rc::gen::inRange<std::size_t>(1, 30);
    // Few different times, so that there are ties.
    const int most = *rc::gen::element(2, 10, 1'000'000);
    const auto times =
        *rc::gen::container<std::vector<int>>(tasks * machines, rc::gen::inRange(0, most));
    const auto matrix = matrix_of(machines, {times.begin(), times.end()});
    for (const auto heuristic :
         {EtcHeuristic::min_min, EtcHeuristic::max_min, EtcHeuristic::sufferage})
      RC_ASSERT(apply_heuristic(heuristic, matrix) == reference_heuristic(heuristic, matrix));
  }));
}

TEST(EtcHeuristics, FastIsTheSameAsTheDefinitionOnEveryClass) {
  for (const EtcClass& etc_class : all_etc_classes()) {
    const auto matrix = generate_etc(etc_class, 128, 16, 3);
    for (const auto heuristic :
         {EtcHeuristic::min_min, EtcHeuristic::max_min, EtcHeuristic::sufferage})
      EXPECT_EQ(apply_heuristic(heuristic, matrix), reference_heuristic(heuristic, matrix))
          << class_name(etc_class) << ' ' << heuristic_name(heuristic);
  }
}

/// Of generate_etc(class, 512, 16, 1), computed by reference_heuristic.
struct GoldenRow {
  std::string_view etc_class;
  std::string_view min_min;
  std::string_view max_min;
  std::string_view sufferage;
};
constexpr GoldenRow kGolden[] = {
    {"u_c_hihi", "8839301.992", "12856416.817", "10886861.893"},
    {"u_c_hilo", "166990.916", "209536.942", "171486.767"},
    {"u_c_lohi", "297510.129", "420500.607", "358421.230"},
    {"u_c_lolo", "5587.541", "7089.899", "5841.684"},
    {"u_i_hihi", "3764085.043", "8035010.086", "3339395.132"},
    {"u_i_hilo", "83866.360", "156112.012", "78825.292"},
    {"u_i_lohi", "129985.867", "270230.358", "110975.294"},
    {"u_i_lolo", "2775.960", "5297.777", "2676.341"},
    {"u_s_hihi", "5312130.107", "9688961.308", "5574492.232"},
    {"u_s_hilo", "110326.380", "186488.346", "109742.384"},
    {"u_s_lohi", "177401.561", "343322.633", "190221.214"},
    {"u_s_lolo", "3710.938", "6158.147", "3682.288"},
};

TEST(EtcHeuristics, MakespansOfGeneratedInstancesStayTheSameToTheLastDigit) {
  for (const GoldenRow& row : kGolden) {
    const auto matrix = generate_etc(parse_class(row.etc_class).value(), 512, 16, 1);
    const auto text = [&](EtcHeuristic heuristic) {
      return fmt::format("{:.3f}", makespan(matrix, apply_heuristic(heuristic, matrix)));
    };
    EXPECT_EQ(text(EtcHeuristic::min_min), row.min_min) << row.etc_class;
    EXPECT_EQ(text(EtcHeuristic::max_min), row.max_min) << row.etc_class;
    EXPECT_EQ(text(EtcHeuristic::sufferage), row.sufferage) << row.etc_class;
  }
}

}  // namespace
}  // namespace gantry::simulate
