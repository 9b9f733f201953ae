#include "simulate/trial_file.hpp"

#include <gmock/gmock.h>

#include <fstream>

#include "base/scratch_dir.hpp"

namespace gantry::simulate {
namespace {

using testing::HasSubstr;

class TrialFileTest : public testing::Test {
 protected:
  static Experiment experiment() {
    return {.name = "little",
            .points = {"10 MB", "20 MB"},
            .repetitions = 2,
            .schedulers = {"workqueue", "best"},
            .trial = {}};
  }
  static TrialOutcome trial(std::size_t point, std::uint32_t repetition) {
    return {.point = point,
            .repetition = repetition,
            .compute_bound = 0.1,
            .data_bound = 1.0 / 3,
            .makespans = {2.0 / 3, 0.7},
            .bytes_moved = {0, 1e9}};
  }
  Result<TrialFile> open(std::string_view pin = "seed 1") const {
    return TrialFile::open(path(), experiment(), pin);
  }
  [[nodiscard]] std::filesystem::path path() const { return folder_.path() / "little.csv"; }
  [[nodiscard]] std::string text() const { return read_file(path()).value(); }
  void set_text(const std::string& text) const { std::ofstream(path()) << text; }

  ScratchDir folder_;
};

TEST_F(TrialFileTest, WhatWasAddedIsReadBackToTheLastBit) {
  ASSERT_TRUE(open()->append(trial(1, 0)));
  const auto file = open();
  ASSERT_TRUE(file) << file.error().message;
  ASSERT_EQ(file->trials().size(), 1U);
  EXPECT_EQ(file->trials()[0].makespans, trial(1, 0).makespans);
  EXPECT_EQ(file->trials()[0].bytes_moved, trial(1, 0).bytes_moved);
  EXPECT_EQ(file->trials()[0].data_bound, 1.0 / 3);
  EXPECT_TRUE(file->knows(1, 0));
  EXPECT_FALSE(file->knows(0, 0));
}

TEST_F(TrialFileTest, WhereverAWriterWasKilledTheWholeTrialsStay) {
  {
    auto file = open();
    ASSERT_TRUE(file->append(trial(0, 0)));
  }
  const std::string one = text();
  ASSERT_TRUE(open()->append(trial(0, 1)));
  const std::string two = text();
  for (std::size_t length = 0; length < two.size(); ++length) {
    set_text(two.substr(0, length));
    auto file = open();
    ASSERT_TRUE(file) << length << file.error().message;
    EXPECT_EQ(file->trials().size(), length >= one.size() ? 1U : 0U) << length;
    for (std::uint32_t i = 0; i < 2; ++i) {
      if (!file->knows(0, i)) {
        ASSERT_TRUE(file->append(trial(0, i)));
      }
    }
    EXPECT_EQ(text(), two) << length;
  }
}

TEST_F(TrialFileTest, TrialsOfAnotherPinAreRefusedAndLeftAlone) {
  ASSERT_TRUE(open()->append(trial(0, 0)));
  const std::string before = text();
  const auto other = open("seed 2");
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, ErrorCode::usage);
  EXPECT_THAT(other.error().message, HasSubstr("seed 1"));
  EXPECT_EQ(text(), before);
}

TEST_F(TrialFileTest, OneWriterAtATime) {
  const auto first = open();
  const auto second = open();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, ErrorCode::busy);
}

TEST_F(TrialFileTest, ARowThatGantryDidNotWriteIsNamed) {
  ASSERT_TRUE(open());
  const std::string head = text();
  for (const std::string rows : {"20 MB,0,workqueue,1,0,1,1\n20 MB,0,min-min,1,0,1,1\n",
                                 "30 MB,0,workqueue,1,0,1,1\n20 MB,0,best,1,0,1,1\n",
                                 "20 MB,0,workqueue,1,0,1,1\n20 MB,1,best,1,0,1,1\n",
                                 "20 MB,0,workqueue,1,0,1,1\n20 MB,0,best,nan,0,1,1\n",
                                 "20 MB,0,workqueue,1,0,1,1\n20 MB,0,best,-1,0,1,1\n",
                                 "20 MB,-1,workqueue,1,0,1,1\n20 MB,-1,best,1,0,1,1\n",
                                 "20 MB,0,workqueue,1,0,1\n20 MB,0,best,1,0,1,1\n"}) {
    set_text(head + rows);
    const auto file = open();
    ASSERT_FALSE(file) << rows;
    EXPECT_THAT(file.error().message, testing::ContainsRegex("little.csv:[34]:1: ")) << rows;
  }
}

}  // namespace
}  // namespace gantry::simulate
