#include "forecast/run_time_model.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <cmath>
#include <functional>
#include <limits>
#include <random>

#include "base/chance.hpp"

namespace gantry::forecast {
namespace {

/// Tasks 1, 2, ... with one parameter, from 1 to 40, and what they took, with relative noise.
RunTimeModel learnt(const std::function<double(double)>& takes, double noise = 0.02,
                    int tasks = 60) {
  std::mt19937_64 random(1);
  RunTimeModel model;
  for (int i = 0; i < tasks; ++i) {
    const double x = 1 + 39 * unit_of(random());
    const double off = 1 + noise * (2 * unit_of(random()) - 1);
    EXPECT_TRUE(model.observe(Features{x}, takes(x) * off));
  }
  return model;
}

double said(const RunTimeModel& model, const Features& task) {
  return model.predict(task)->value;
}

TEST(RunTimeModel, KnowsNothingBeforeTheFirstTask) {
  EXPECT_FALSE(RunTimeModel().predict(Features{1.0}));
  EXPECT_EQ(RunTimeModel().family(), ModelFamily::mean);
}

TEST(RunTimeModel, OneTaskIsEnough) {
  RunTimeModel model;
  EXPECT_TRUE(model.observe(Features{3.0, std::string("a")}, 10));
  const auto prediction = model.predict(Features{4.0, std::string("b")});
  EXPECT_EQ(prediction->value, 10);
  EXPECT_LT(prediction->low, 10);
  EXPECT_GT(prediction->high, 10);
  EXPECT_EQ(prediction->family, ModelFamily::mean);
}

TEST(RunTimeModel, TasksWithoutParametersHaveAMean) {
  RunTimeModel model;
  for (const double value : {1.0, 2.0, 3.0, 4.0, 5.0}) EXPECT_TRUE(model.observe({}, value));
  EXPECT_DOUBLE_EQ(said(model, {}), 3);
  EXPECT_EQ(model.family(), ModelFamily::mean);
}

/// A family, something of that kind, and where to ask: between and beyond what was seen.
struct Case {
  ModelFamily family;
  std::function<double(double)> takes;
  std::vector<double> at;
};
class EachFamily : public testing::TestWithParam<Case> {};

TEST_P(EachFamily, IsRecognised) {
  const auto& [family, takes, places] = GetParam();
  const RunTimeModel model = learnt(takes);
  EXPECT_EQ(family_name(model.family()), family_name(family));
  EXPECT_LT(model.error_of_mean(), 0.2);
  for (const double x : places) EXPECT_NEAR(said(model, {x}) / takes(x), 1, 0.1) << x;
}

INSTANTIATE_TEST_SUITE_P(
    RunTimeModel, EachFamily,
    testing::Values(
        Case{ModelFamily::linear, [](double x) { return 10 + 3 * x; }, {2.5, 20, 39, 80}},
        Case{ModelFamily::polynomial,
             [](double x) { return 50 + (x - 20) * (x - 20); },
             {2.5, 20, 39, 60}},
        Case{ModelFamily::logarithmic,
             [](double x) { return 1 + 10 * std::log(x); },
             {2.5, 20, 39, 100}},
        Case{ModelFamily::exponential,
             [](double x) { return 0.1 * std::exp(x / 5); },
             {2.5, 20, 39, 45}},
        Case{ModelFamily::power, [](double x) { return 0.01 * x * x * x; }, {2.5, 20, 39, 100}}),
    [](const auto& one) { return std::string(family_name(one.param.family)); });

// Prodan and Fahringer's LAPW1: work of 7 A N^2 + N^3, for A atoms and matrices of size N.
TEST(RunTimeModel, TwoParametersThatWorkTogether) {
  std::mt19937_64 random(2);
  const auto work = [](double atoms, double size) {
    return (7 * atoms * size * size + size * size * size) * 1e-6;
  };
  RunTimeModel model;
  for (int i = 0; i < 200; ++i) {
    const double atoms = 8 + 56 * unit_of(random());
    const double size = 500 + 5000 * unit_of(random());
    model.observe(Features{atoms, size}, work(atoms, size) * (0.97 + 0.06 * unit_of(random())));
  }
  for (const auto& [atoms, size] : {std::pair{10.0, 1000.0}, {30.0, 3000.0}, {60.0, 5000.0}})
    EXPECT_NEAR(said(model, {atoms, size}) / work(atoms, size), 1, 0.15) << atoms << " " << size;
}

TEST(RunTimeModel, SeedsAndConstantsDoNotMislead) {
  std::mt19937_64 random(3);
  RunTimeModel model;
  for (int i = 0; i < 40; ++i) {
    const double x = 1 + i % 10;
    model.observe(Features{x, 5.0, static_cast<double>(i), std::string("same")},
                  2 * x + 0.1 * unit_of(random()));
  }
  EXPECT_NEAR(said(model, {7.0, 5.0, 100.0, std::string("same")}), 14, 0.5);
}

TEST(RunTimeModel, WordsAreGroups) {
  std::mt19937_64 random(4);
  RunTimeModel model;
  const auto offset = [](const std::string& word) {
    return word == "slow" ? 100.0 : word == "fast" ? 10 : 30;
  };
  for (int i = 0; i < 60; ++i) {
    const std::string word = i % 3 == 0 ? "slow" : i % 3 == 1 ? "fast" : "middling";
    const double x = 10 * unit_of(random());
    model.observe(Features{word, x}, offset(word) + x);
  }
  for (const std::string word : {"slow", "fast", "middling"})
    EXPECT_NEAR(said(model, {word, 5.0}), offset(word) + 5, 3) << word;
  EXPECT_TRUE(std::isfinite(said(model, {std::string("never seen"), 5.0})));
  EXPECT_TRUE(std::isfinite(said(model, {7.0, std::string("not a number")})));
}

TEST(RunTimeModel, WhatIsKnownOfAWordHoldsForOtherNumbers) {
  std::mt19937_64 random(7);
  const auto takes = [&](const std::string& word) {
    const double seconds = word == "large" ? 2 : word == "medium" ? 0.8 : 0.2;
    return seconds + 0.02 * unit_of(random());  // it takes its time to start
  };
  for (int round = 0; round < 40; ++round) {
    RunTimeModel model;
    for (const std::string word : {"small", "medium", "large"})
      for (int seed = 1; seed <= 12; ++seed)
        model.observe(Features{word, static_cast<double>(seed)}, takes(word));
    for (int seed = 21; seed <= 30; ++seed)
      model.observe(Features{std::string("large"), static_cast<double>(seed)}, takes("large"));
    EXPECT_NEAR(said(model, {std::string("medium"), 25.0}), 0.81, 0.1) << round;
    EXPECT_NEAR(said(model, {std::string("small"), 30.0}), 0.21, 0.1) << round;
  }
}

TEST(RunTimeModel, OfTasksThatHardlyDifferNothingIsSaid) {
  std::mt19937_64 random(8);
  for (int round = 0; round < 20; ++round) {
    RunTimeModel model;
    for (int i = 0; i < 36; ++i)
      model.observe(Features{static_cast<double>(i % 6), static_cast<double>(i / 6)},
                    0.5 + 0.03 * std::pow(unit_of(random()), 4));
    EXPECT_EQ(model.family(), ModelFamily::mean) << round;
    const auto prediction = model.predict(Features{3.0, 3.0});
    EXPECT_LE(prediction->low, 0.98 * prediction->value);
    EXPECT_GE(prediction->high, 1.02 * prediction->value);
  }
}

TEST(RunTimeModel, NoiseHasAMean) {
  std::mt19937_64 random(5);
  RunTimeModel model;
  for (int i = 0; i < 100; ++i)
    model.observe(Features{unit_of(random()), unit_of(random())}, 50 + 20 * unit_of(random()));
  EXPECT_EQ(model.family(), ModelFamily::mean);
  EXPECT_NEAR(said(model, {0.5, 0.5}), 60, 2);
  EXPECT_EQ(model.error_of_mean(), 1);
}

TEST(RunTimeModel, WhatNoFormulaDescribesIsAskedOfNeighbours) {
  std::mt19937_64 random(6);
  RunTimeModel model;
  const auto takes = [](double x) { return std::fmod(std::floor(x), 2) == 0 ? 10.0 : 200.0; };
  for (int i = 0; i < 300; ++i) {
    const double x = 8 * unit_of(random());
    model.observe(Features{x}, takes(x));
  }
  EXPECT_EQ(model.family(), ModelFamily::neighbours);
  for (const double x : {0.5, 1.5, 4.5, 7.5}) EXPECT_NEAR(said(model, {x}), takes(x), 5) << x;
}

TEST(RunTimeModel, FourInFiveLieInTheInterval) {
  std::mt19937_64 random(7);
  const auto any = [&] { return 1 + 99 * unit_of(random()); };
  const auto takes = [&](double x) { return 3 * x * (0.7 + 0.6 * unit_of(random())); };
  RunTimeModel model;
  for (int i = 0; i < 200; ++i) {
    const double x = any();
    model.observe(Features{x}, takes(x));
  }
  int inside = 0;
  int small_inside = 0;
  int small = 0;
  for (int i = 0; i < 2000; ++i) {
    const double x = any();
    const double took = takes(x);
    const auto prediction = model.predict(Features{x});
    const bool in = prediction->low <= took && took <= prediction->high;
    inside += in ? 1 : 0;
    small += x < 30 ? 1 : 0;
    small_inside += in && x < 30 ? 1 : 0;
  }
  EXPECT_NEAR(inside / 2000.0, 0.8, 0.08);
  EXPECT_NEAR(static_cast<double>(small_inside) / small, 0.8, 0.12);
}

TEST(RunTimeModel, FarFromWhatWasSeenTheIntervalIsWider) {
  const RunTimeModel model = learnt([](double x) { return 10 + 3 * x; }, 0.1);
  const auto width = [&](double x) {
    const auto prediction = model.predict(Features{x});
    return (prediction->high - prediction->low) / prediction->value;
  };
  EXPECT_GT(width(2000), 3 * width(20));
}

/// So many tasks with a parameter from 1 to 10 that take its power, more or less.
RunTimeModel of_power(double exponent, int tasks, std::uint64_t seed, double noise) {
  std::mt19937_64 random(seed);
  RunTimeModel model;
  for (int i = 0; i < tasks; ++i) {
    const double x = 1 + 9 * unit_of(random());
    const double off = 1 + noise * (2 * unit_of(random()) - 1);
    model.observe(Features{x}, 5 * std::pow(x, exponent) * off);
  }
  return model;
}

TEST(RunTimeModel, ThreeTimesBeyondWhatWasSeenTheTruthIsInTheInterval) {
  for (const double exponent : {0.5, 1.0, 1.5, 2.0, 3.0}) {
    const double truth = 5 * std::pow(30, exponent);
    int inside = 0;
    for (std::uint64_t seed = 1; seed <= 25; ++seed)
      for (const int tasks : {8, 16, 40, 200}) {
        const auto said = *of_power(exponent, tasks, seed, 0.1).predict(Features{30.0});
        inside += said.low <= truth && truth <= said.high ? 1 : 0;
      }
    EXPECT_GE(inside, 90) << "of 100, with exponent " << exponent;
  }
}

TEST(RunTimeModel, WhatWasSeenIsNotDoubtedForWhatWasNot) {
  const RunTimeModel model = of_power(2, 40, 1, 0.1);
  const auto within = *model.predict(Features{8.0});
  const auto beyond = *model.predict(Features{30.0});
  EXPECT_EQ(within.high, within.likely_high);
  EXPECT_LT(within.stretch, 2);
  EXPECT_GT(beyond.stretch, within.stretch);
  EXPECT_GE(beyond.high, beyond.likely_high);
  const auto part = [](const auto& one) { return (one.high - one.low) / one.value; };
  EXPECT_GT(part(beyond), part(within));
  EXPECT_GT(part(*model.predict(Features{100.0})), part(beyond));
}

TEST(RunTimeModel, WhatWasAlwaysTheSameMayMatter) {
  RunTimeModel model;
  for (int i = 1; i <= 20; ++i) model.observe(Features{static_cast<double>(i), 10.0}, 2.0 * i);
  const auto same = *model.predict(Features{5.0, 10.0});
  const auto other = *model.predict(Features{5.0, 40.0});
  EXPECT_EQ(same.value, other.value);
  EXPECT_LT(same.high, 12);
  EXPECT_GE(other.high, 4 * other.value - 1e-9) << "four times the parameter";
  EXPECT_LE(other.low, other.value / 4 + 1e-9);
}

TEST(RunTimeModel, FarFromAllThatWasSeenNobodyIsSure) {
  RunTimeModel model;
  for (int i = 10; i <= 30; ++i)
    model.observe(Features{static_cast<double>(i)}, 3.0 * i - 20 + i % 3);
  const auto low = *model.predict(Features{1.0});
  EXPECT_LT(low.value, 10) << "the smallest was 11";
  EXPECT_GE(low.high, 11);
  const auto high = *model.predict(Features{1000.0});
  EXPECT_GT(high.value, 10 * 70);
  EXPECT_LE(high.low, 10 * 70);
}

TEST(RunTimeModel, MemoryIsBoundedAndLateTasksStillCount) {
  RunTimeModel model;
  for (int i = 0; i < 3000; ++i)
    model.observe(Features{static_cast<double>(i % 50)}, i < 600 ? 1 : 9);
  EXPECT_EQ(model.observations(), 3000U);
  EXPECT_GT(said(model, {25.0}), 5);
  EXPECT_LT(model.to_text().size(), 20 * RunTimeModel::kKept);
}

TEST(RunTimeModel, WhatCannotBeIsNotTaken) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  RunTimeModel model;
  EXPECT_FALSE(model.observe(Features{1.0}, -1));
  EXPECT_FALSE(model.observe(Features{1.0}, std::nan("")));
  EXPECT_FALSE(model.observe(Features{1.0}, kInfinity));
  EXPECT_FALSE(model.observe(Features{1.0}, 1e101));
  EXPECT_FALSE(model.observe(Features{std::nan("")}, 1));
  EXPECT_FALSE(model.observe(Features{1e51}, 1));
  EXPECT_EQ(model.observations(), 0U);
  EXPECT_TRUE(model.observe(Features{1.0}, 1));
  EXPECT_FALSE(model.observe(Features{1.0, 2.0}, 1));
  EXPECT_FALSE(model.predict(Features{1.0, 2.0}));
  EXPECT_FALSE(model.predict(Features{kInfinity}));
}

TEST(RunTimeModel, TextsOfParametersAreNumbersOrWords) {
  EXPECT_EQ(feature_of("2.5"), Feature(2.5));
  EXPECT_EQ(feature_of("-1e3"), Feature(-1000.0));
  EXPECT_EQ(feature_of("fast"), Feature(std::string("fast")));
  EXPECT_EQ(feature_of(""), Feature(std::string()));
  EXPECT_EQ(feature_of("nan"), Feature(std::string("nan")));
  EXPECT_EQ(feature_of("0x10"), Feature(std::string("0x10")));
}

Feature any_feature() {
  return *rc::gen::oneOf(
      rc::gen::map(rc::gen::inRange(-20, 20), [](int v) { return Feature(double(v)); }),
      rc::gen::map(rc::gen::element(0.0, 1e50, -1e50, 1e-300, 1e51, 1e9),
                   [](double v) { return Feature(v); }),
      rc::gen::map(rc::gen::element<std::string>("a", "b", "", "\xff", std::string(100, 'x')),
                   [](const std::string& v) { return Feature(v); }));
}

TEST(RunTimeModelProperty, PredictionsAreFiniteWhateverCame) {
  EXPECT_TRUE(rc::check([] {
    RunTimeModel model;
    const auto parameters = *rc::gen::inRange(0, 4);
    const auto tasks = *rc::gen::inRange(1, 25);
    const auto any_task = [&] {
      Features task;
      for (int j = 0; j < parameters; ++j) task.push_back(any_feature());
      return task;
    };
    for (int i = 0; i < tasks; ++i)
      model.observe(any_task(), *rc::gen::element(0.0, 1.0, 2.0, 3.0, 100.0, 1e-300, 1e100, -1.0));
    const Features task = any_task();
    const auto prediction = model.predict(task);
    RC_ASSERT(prediction.has_value() == model.expected(task).has_value());
    if (!prediction) return;
    RC_ASSERT(prediction->value == *model.expected(task));
    RC_ASSERT(std::isfinite(prediction->value) && std::isfinite(prediction->high));
    RC_ASSERT(0 <= prediction->low && prediction->low <= prediction->value);
    RC_ASSERT(prediction->value <= prediction->high);
  }));
}

TEST(RunTimeModelProperty, WhatIsReadIsWhatWasWritten) {
  EXPECT_TRUE(rc::check([] {
    RunTimeModel model;
    const auto tasks = *rc::gen::inRange(0, 30);
    for (int i = 0; i < tasks; ++i)
      model.observe(Features{*rc::gen::inRange(0, 1000) / 7.0,
                             *rc::gen::element<std::string>("a", "ü", "\"")},
                    *rc::gen::inRange(0, 1000) / 3.0);
    const std::string text = model.to_text();
    const auto read = RunTimeModel::from_text(text);
    RC_ASSERT(read.has_value());
    RC_ASSERT(read->to_text() == text);
    RC_ASSERT(read->observations() == model.observations());
    RC_ASSERT(read->predict(Features{1.0, std::string("a")}).has_value() == (tasks > 0));
  }));
}

TEST(RunTimeModel, WhatWasReadPredictsTheSame) {
  // As many as make both fit with all of them: 1 2 3 4 5 6 7 8 10 12 15 18 22 27 33 41 51.
  const RunTimeModel model = learnt([](double x) { return 5 + x * x; }, 0.05, 51);
  const auto read = RunTimeModel::from_text(model.to_text()).value();
  EXPECT_EQ(read.family(), model.family());
  for (const double x : {1.0, 17.0, 90.0}) {
    EXPECT_EQ(said(read, {x}), said(model, {x}));
    EXPECT_EQ(read.predict(Features{x})->high, model.predict(Features{x})->high);
  }
}

TEST(RunTimeModel, WhatAProgramDoesNowCountsSoonHoweverMuchWasKept) {
  const RunTimeModel before = learnt([](double) { return 100; }, 0.02, 2000);
  auto model = RunTimeModel::from_text(before.to_text());
  ASSERT_TRUE(model);
  model->age();
  // 512 are kept, and each that comes replaces one of them with a chance of 512 to as many as were
  // seen: of 1000 about (1 - 512 / 1512) = 0.66 of all are new then.
  for (int i = 0; i < 1000; ++i) model->observe(Features{1.0 + i % 40}, 10);
  EXPECT_LT(said(*model, {20.0}), 60);
}

TEST(RunTimeModel, ACopyGoesItsOwnWay) {
  RunTimeModel model = learnt([](double x) { return 10 + 3 * x; });
  const RunTimeModel copy = model;
  const double before = said(copy, {20.0});
  for (int i = 0; i < 100; ++i) model.observe(Features{20.0}, 1000);
  EXPECT_EQ(said(copy, {20.0}), before);
  EXPECT_GT(said(model, {20.0}), 5 * before);
}

TEST(RunTimeModel, DamagedTextIsAnError) {
  const std::string good = R"({"seen":2,"tasks":[[1,2,"a"],[3,4,"b"]],"version":1})";
  ASSERT_TRUE(RunTimeModel::from_text(good));
  for (const std::string_view text :
       {"",
        "{",
        "null",
        "[]",
        "7",
        "\"x\"",
        "{}",
        R"({"version":1})",
        R"({"version":"1"})",
        R"({"version":1,"seen":1,"tasks":{}})",
        R"({"version":1,"seen":-1,"tasks":[]})",
        R"({"version":1,"seen":1.5,"tasks":[[1]]})",
        R"({"version":1,"seen":0,"tasks":[[1]]})",
        R"({"version":1,"seen":5,"tasks":[]})",
        R"({"version":1,"seen":1,"tasks":[1]})",
        R"({"version":1,"seen":1,"tasks":[[]]})",
        R"({"version":1,"seen":1,"tasks":[["a"]]})",
        R"({"version":1,"seen":1,"tasks":[[-1]]})",
        R"({"version":1,"seen":1,"tasks":[[1e200]]})",
        R"({"version":1,"seen":1,"tasks":[[1e999]]})",
        R"({"version":1,"seen":1,"tasks":[[1,null]]})",
        R"({"version":1,"seen":1,"tasks":[[1,[2]]]})",
        R"({"version":1,"seen":1,"tasks":[[1,1e60]]})",
        R"({"version":1,"seen":2,"tasks":[[1,2],[1]]})",
        R"({"version":1,"seen":18446744073709551615,"tasks":[[1]]})",
        R"({"version":1,"seen":1,"tasks":[[1,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]]})",
        "{\"version\":1,\"seen\":1,\"tasks\":[[1,\"\xff\"]]}"}) {
    const auto read = RunTimeModel::from_text(text);
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().code, ErrorCode::corrupt) << text;
  }
  EXPECT_EQ(RunTimeModel::from_text(R"({"version":2})").error().code, ErrorCode::version);
  EXPECT_FALSE(RunTimeModel::from_text(std::string(100'000, '[')));
  EXPECT_FALSE(RunTimeModel::from_text(std::string(9 << 20, ' ')));
}

}  // namespace
}  // namespace gantry::forecast
