#include "model/sweep_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/scratch_dir.hpp"
#include "model/sweep_definition.hpp"

namespace gantry {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Studies in a folder of their own.
class TaskFilesTest : public ::testing::Test {
 protected:
  void write(const std::string& name, std::size_t bytes) {
    const auto path = folder_.path() / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << std::string(bytes, 'x');
  }

  [[nodiscard]] Application sweep(const std::vector<std::string>& inputs,
                                  std::vector<std::string> values) const {
    SweepDefinition definition;
    definition.base_dir = folder_.path().string();
    definition.command = {{.text = "true", .mark = {}}};
    definition.parameters.push_back({"x", ParameterValues::list(std::move(values))});
    for (const auto& input : inputs) definition.inputs.push_back({.text = input, .mark = {}});
    return Application(Sweep::build(std::move(definition)).value());
  }

  [[nodiscard]] std::string name_of(FileId file) const {
    return std::filesystem::path(names_.path(file)).filename().string();
  }

  ScratchDir folder_;
  FileNames names_;
};

TEST_F(TaskFilesTest, WhatSeveralTasksReadIsShared) {
  write("mesh-a", 10);
  write("mesh-b", 20);
  write("own-1", 1);
  // Of own-1, own-2 and own-3 the first is there.
  const auto study = sweep({"mesh-{x}", "own-{#}"}, {"a", "b", "b"});
  const TaskFiles files(study, names_);
  ASSERT_EQ(files.shared().size(), 1U);
  EXPECT_EQ(name_of(files.shared()[0].file), "mesh-b");
  EXPECT_EQ(files.shared()[0].site, kHome);
  EXPECT_DOUBLE_EQ(files.shared()[0].bytes, 20);
  EXPECT_THAT(files.shared_by(TaskId(1)), IsEmpty());
  EXPECT_DOUBLE_EQ(files.private_bytes(TaskId(1)), 11);  // mesh-a and own-1
  EXPECT_THAT(files.shared_by(TaskId(2)), ElementsAre(FileId(0)));
  EXPECT_DOUBLE_EQ(files.private_bytes(TaskId(2)), 0);  // own-2 is not there
}

TEST_F(TaskFilesTest, AnInputThatOneTaskNamesTwiceIsItsOwn) {
  write("a", 10);
  write("b", 30);
  const auto study = sweep({"{x}", "./{x}"}, {"a", "b"});
  const TaskFiles files(study, names_);
  EXPECT_THAT(files.shared(), IsEmpty());
  EXPECT_DOUBLE_EQ(files.private_bytes(TaskId(1)), 10);
  EXPECT_DOUBLE_EQ(files.private_bytes(TaskId(2)), 30);
}

TEST_F(TaskFilesTest, AFolderIsAsLargeAsItsFiles) {
  write("data/one", 10);
  write("data/below/two", 5);
  const auto study = sweep({"data"}, {"a", "b", "c"});
  const TaskFiles files(study, names_);
  ASSERT_EQ(files.shared().size(), 1U);
  EXPECT_DOUBLE_EQ(files.shared()[0].bytes, 15);
  EXPECT_THAT(files.shared_by(TaskId(3)), ElementsAre(files.shared()[0].file));
  EXPECT_DOUBLE_EQ(files.private_bytes(TaskId(3)), 0);
}

TEST_F(TaskFilesTest, ATaskAloneSharesNothing) {
  write("data", 10);
  const auto study = sweep({"data"}, {"a"});
  const TaskFiles files(study, names_);
  EXPECT_THAT(files.shared(), IsEmpty());
  EXPECT_DOUBLE_EQ(files.private_bytes(TaskId(1)), 10);
}

TEST_F(TaskFilesTest, StudiesThatReadTheSameFileShareItsNumber) {
  write("p", 1);
  write("q", 2);
  const auto first = sweep({"p"}, {"a", "b"});
  const auto second = sweep({"q", "p"}, {"a", "b"});
  const TaskFiles one(first, names_);
  const TaskFiles other(second, names_);
  EXPECT_EQ(names_.size(), 2U);
  EXPECT_THAT(one.shared_by(TaskId(1)), ElementsAre(FileId(0)));
  EXPECT_THAT(other.shared_by(TaskId(2)), ElementsAre(FileId(0), FileId(1)));
  EXPECT_EQ(name_of(other.shared()[0].file), "q");
}

TEST_F(TaskFilesTest, ManySizesOfOwnInputsAreRounded) {
  std::vector<std::string> values;
  for (std::size_t bytes = 1; bytes <= TaskFiles::kMostSizes + 1; ++bytes) {
    values.push_back(std::to_string(bytes));
    write(values.back(), bytes);
  }
  const auto most = sweep({"{x}"}, {values.begin(), values.end() - 1});
  EXPECT_DOUBLE_EQ(TaskFiles(most, names_).private_bytes(TaskId(99)), 99);
  const auto more = sweep({"{x}"}, values);
  const TaskFiles files(more, names_);
  EXPECT_NE(files.private_bytes(TaskId(99)), 99);
  EXPECT_NEAR(files.private_bytes(TaskId(99)), 99, 0.025 * 99);
  EXPECT_EQ(files.private_bytes(TaskId(98)), files.private_bytes(TaskId(99)));
}

TEST_F(TaskFilesTest, StudiesWithoutInputsHaveNone) {
  EXPECT_TRUE(TaskFiles(sweep({}, {"a", "b"}), names_).empty());
}

}  // namespace
}  // namespace gantry
