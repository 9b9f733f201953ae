#include "model/sweep_inputs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/scratch_dir.hpp"
#include "model/sweep_definition.hpp"

namespace gantry {
namespace {

Sweep sweep_with(std::vector<std::string> inputs) {
  SweepDefinition definition;
  definition.name = "t";
  definition.base_dir = "/base";
  definition.command = {{"e", {}, false}};
  definition.parameters.push_back({"a", **ParameterValues::range("1..4")});
  definition.parameters.push_back({"half", ParameterValues::list({"x", "y"})});
  for (auto& input : inputs) definition.inputs.push_back({std::move(input), {}, false});
  return Sweep::build(std::move(definition)).value();
}

TEST(SweepInputs, SharedIsWhatSeveralTasksRead) {
  // Two tasks for each a, four for each half; each of the eight has an input of its own.
  const Sweep sweep = sweep_with({"{a}-{half}.own", "{half}.dat", "all.dat", "{a}.dat"});
  EXPECT_THAT(shared_inputs(sweep),
              ::testing::ElementsAre("/base/x.dat", "/base/all.dat", "/base/1.dat", "/base/y.dat",
                                     "/base/2.dat", "/base/3.dat", "/base/4.dat"));
}

TEST(SweepInputs, ATaskThatNamesAFileTwiceDoesNotShareIt) {
  EXPECT_THAT(shared_inputs(sweep_with({"{a}{half}", "{a}{half}"})), ::testing::IsEmpty());
}

TEST(SweepInputs, AFolderIsAsLargeAsItsFiles) {
  const ScratchDir dir;
  std::filesystem::create_directories(dir / "folder/inner");
  std::ofstream(dir / "folder/a") << "12345";
  std::ofstream(dir / "folder/inner/b") << "678";
  EXPECT_EQ(bytes_on_disk((dir / "folder/a").string()), 5);
  EXPECT_EQ(bytes_on_disk((dir / "folder").string()), 8);
  EXPECT_EQ(bytes_on_disk((dir / "missing").string()), 0);
}

}  // namespace
}  // namespace gantry
