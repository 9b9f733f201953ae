#include "model/parameter_space.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>

namespace gantry {
namespace {

ParameterDefinition range(const std::string& name, std::uint32_t count, std::uint32_t link = 0) {
  return {name, *ParameterValues::range("1", std::to_string(count), "1"), {}, link};
}

std::vector<std::uint32_t> position_at(ParameterSpace& space, std::uint32_t index,
                                       std::size_t parameters) {
  std::vector<ValuePosition> positions(parameters);
  space.locate(index, positions);
  std::vector<std::uint32_t> result;
  for (const auto& position : positions) result.push_back(position.index);
  return result;
}

TEST(ParameterSpace, TheLastAxisVariesFastest) {
  auto space = ParameterSpace::build(std::vector{range("a", 2), range("b", 3)}, {}, "");
  ASSERT_TRUE(space);
  EXPECT_EQ(space->size(), 6U);
  EXPECT_THAT(position_at(*space, 0, 2), ::testing::ElementsAre(0, 0));
  EXPECT_THAT(position_at(*space, 1, 2), ::testing::ElementsAre(0, 1));
  EXPECT_THAT(position_at(*space, 5, 2), ::testing::ElementsAre(1, 2));
}

TEST(ParameterSpace, WithoutParametersThereIsOneTask) {
  auto space = ParameterSpace::build({}, {}, "");
  ASSERT_TRUE(space);
  EXPECT_EQ(space->size(), 1U);
}

TEST(ParameterSpace, IndicesAndCombinationsMatchOneToOne) {
  EXPECT_TRUE(rc::check([] {
    std::vector<ParameterDefinition> parameters;
    const auto sizes =
        *rc::gen::container<std::vector<std::uint32_t>>(rc::gen::inRange<std::uint32_t>(1, 6));
    std::uint64_t expected = 1;
    for (const auto size : sizes) {
      if (parameters.size() == 5) break;
      const auto linked = *rc::gen::inRange(0, 4) == 0 && !parameters.empty();
      if (linked) {
        // Linked with the one before, and so of its size.
        if (parameters.back().link == 0)
          parameters.back().link = static_cast<std::uint32_t>(parameters.size());
        const auto twin = static_cast<std::uint32_t>(parameters.back().values.size());
        parameters.push_back(
            range("p" + std::to_string(parameters.size()), twin, parameters.back().link));
      } else {
        parameters.push_back(range("p" + std::to_string(parameters.size()), size));
        expected *= size;
      }
    }
    auto space = ParameterSpace::build(parameters, {}, "");
    RC_ASSERT(space.has_value());
    RC_ASSERT(space->size() == expected);
    std::set<std::vector<std::uint32_t>> seen;
    for (std::uint32_t i = 0; i < space->size(); ++i) {
      const auto position = position_at(*space, i, parameters.size());
      for (std::size_t p = 0; p < parameters.size(); ++p)
        RC_ASSERT(position[p] < parameters[p].values.size());
      RC_ASSERT(seen.insert(position).second);
      RC_ASSERT(seen.size() == 1 || *std::prev(seen.end()) == position);  // nested loops: in order
    }
  }));
}

TEST(ParameterSpace, EveryChoiceOfSomeParametersIsVisitedOnce) {
  EXPECT_TRUE(rc::check([] {
    const std::vector<ParameterDefinition> parameters{range("a", 3), range("b", 4, 7),
                                                      range("c", 2), range("d", 4, 7)};
    auto space = ParameterSpace::build(parameters, {}, "");
    std::vector<std::uint32_t> chosen;
    for (std::uint32_t p = 0; p < 4; ++p) {
      if (*rc::gen::arbitrary<bool>()) chosen.push_back(p);
    }
    const auto restricted = [&](std::uint32_t index) {
      const auto position = position_at(*space, index, 4);
      std::vector<std::uint32_t> part;
      for (const auto p : chosen) part.push_back(position[p]);
      return part;
    };
    std::set<std::vector<std::uint32_t>> visited;
    space->for_each_choice(chosen, [&](std::uint32_t index) {
      RC_ASSERT(visited.insert(restricted(index)).second);
      return true;
    });
    std::set<std::vector<std::uint32_t>> expected;
    for (std::uint32_t i = 0; i < space->size(); ++i) expected.insert(restricted(i));
    RC_ASSERT(visited == expected);
  }));
}

TEST(ParameterSpace, KnowsWhichParametersDetermineTheTask) {
  const std::vector<ParameterDefinition> parameters{range("a", 3), range("b", 4, 7), range("c", 1),
                                                    range("d", 4, 7)};
  auto space = ParameterSpace::build(parameters, {}, "");
  EXPECT_TRUE(space->determined_by(std::vector<std::uint32_t>{0, 1}));
  EXPECT_TRUE(space->determined_by(std::vector<std::uint32_t>{0, 3}));
  EXPECT_FALSE(space->determined_by(std::vector<std::uint32_t>{1, 2, 3}));
}

TEST(ParameterSpace, CountsWithoutOverflow) {
  std::vector<ParameterDefinition> many;
  for (int i = 0; i < 100; ++i) many.push_back(range("p" + std::to_string(i), 2'000'000'000));
  EXPECT_FALSE(ParameterSpace::build(many, {}, ""));
  const auto most =
      ParameterSpace::build(std::vector{range("a", 10'000), range("b", 10'000)}, {}, "");
  ASSERT_TRUE(most);
  EXPECT_EQ(most->size(), kMaxTasks);
  EXPECT_FALSE(ParameterSpace::build(std::vector{range("a", 10'000), range("b", 10'001)}, {}, ""));
}

TEST(ParameterSpace, ASampleMayBeOfManyMoreValues) {
  SampleDefinition sample;
  sample.method = SampleMethod::random;
  sample.points = 10;
  const auto of = [&](const char* last) {
    return ParameterSpace::build(
        std::vector<ParameterDefinition>{{"a", *ParameterValues::range("1", last, "1")}}, sample,
        "");
  };
  ASSERT_TRUE(of("2147483648"));
  EXPECT_EQ(of("2147483648")->size(), 10U);
  EXPECT_FALSE(of("2147483649"));
}

TEST(ParameterSpace, ASampleIsOneAxis) {
  std::vector<ParameterDefinition> parameters{
      range("a", 3), {"u", *ParameterValues::uniform(0, 1)}, range("c", 4)};
  SampleDefinition sample;
  sample.points = 10;
  EXPECT_EQ(ParameterSpace::build(parameters, sample, "")->size(), 10U);
  sample.parameters = {"u", "c"};
  EXPECT_EQ(ParameterSpace::build(parameters, sample, "")->size(), 30U);
  sample.parameters = {"c"};
  EXPECT_FALSE(ParameterSpace::build(parameters, sample, "")) << "u is not sampled";
  parameters[0].link = parameters[2].link = 1;
  EXPECT_FALSE(ParameterSpace::build(parameters, sample, "")) << "linked, but only one is sampled";
}

}  // namespace
}  // namespace gantry
