#include "simulate/etc/etc_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include "base/fd.hpp"
#include "base/scratch_dir.hpp"

namespace gantry::simulate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string braun_error(std::string_view text) {
  const auto matrix = parse_etc_braun(text, "f");
  return matrix ? "no error" : matrix.error().message;
}

std::string csv_error(std::string_view text) {
  const auto matrix = parse_etc_csv(text, "f.csv");
  return matrix ? "no error" : matrix.error().message;
}

TEST(EtcFile, ReadsTheClassicFormatTaskByTask) {
  const auto matrix = parse_etc_braun("2 3 0\n1.5\n2\n3e2\n\n 4 5\r\n6", "f");
  ASSERT_TRUE(matrix) << matrix.error().message;
  EXPECT_EQ(matrix->tasks(), 2U);
  EXPECT_THAT(matrix->times(), ElementsAre(1.5, 2, 300, 4, 5, 6));
  EXPECT_TRUE(parse_etc_braun("\xEF\xBB\xBF 1 1 \n 0 ", "f"));
}

TEST(EtcFile, ClassicMistakesHaveAPlace) {
  EXPECT_EQ(braun_error(""), "f: the file is empty");
  EXPECT_EQ(braun_error(" \n\n"), "f: the file is empty");
  for (const char* first : {"\n512\n1 2", "\n512 16 7\n1", "\na b\n1", "\n1.5 2\n1", "\n-1 2\n1",
                            "\n1 1 0 0\n1", "\n1 1 0 x\n1", "\n1 1 0 0 0 0\n1"})
    EXPECT_THAT(braun_error(first), HasSubstr("f:2:1: the first line must give the numbers"));
  EXPECT_EQ(braun_error("2 2\n1 2\n3\n"), "f:3:1: the file ends after 3 of 2 x 2 times");
  EXPECT_EQ(braun_error("1 2\n1 2\n  3"), "f:3:3: more than 1 x 2 times");
  EXPECT_EQ(braun_error("1 2\n1 nan"), "f:2:3: \"nan\" is not a number");
  EXPECT_EQ(braun_error("1 2\n1 inf"), "f:2:3: \"inf\" is not a number");
  EXPECT_EQ(braun_error("1 2\n1 -2"), "f:2:3: a time must not be negative");
  EXPECT_EQ(braun_error("1 2\n1 1e16"), "f:2:3: a time must not be larger than 1e15");
  EXPECT_THAT(braun_error("0 2\n"), HasSubstr("f:1:1: 0 tasks on 2 machines"));
  EXPECT_THAT(braun_error("1e9 1e9\n1"), HasSubstr("f:1:1: 1000000000 tasks on 1000000000 mach"));
  EXPECT_THAT(parse_etc_braun("1 2\n1,2", "f").error().hint, HasSubstr(".csv"));
  EXPECT_EQ(braun_error("1 1\n" + std::string(99, 'x')),
            "f:2:1: \"" + std::string(40, 'x') + "…\" is not a number");
}

TEST(EtcFile, ReadsCsvWithOrWithoutNames) {
  for (const char* text :
       {"1,2\n3,4\n", "fast, slow\r\n\r\n1 , 2\r\n3,4", "\xEF\xBB\xBF,\n1,2\n3,4"}) {
    const auto matrix = parse_etc_csv(text, "f.csv");
    ASSERT_TRUE(matrix) << matrix.error().message;
    EXPECT_EQ(matrix->machines(), 2U);
    EXPECT_THAT(matrix->times(), ElementsAre(1, 2, 3, 4));
  }
}

TEST(EtcFile, CsvMistakesHaveAPlace) {
  EXPECT_EQ(csv_error(""), "f.csv: there is no line with times");
  EXPECT_EQ(csv_error("a,b\n\n"), "f.csv: there is no line with times");
  EXPECT_EQ(csv_error("1,2\n\n3,4,5\n"), "f.csv:3:1: 3 columns, but the lines before have 2");
  EXPECT_EQ(csv_error("a,b\n1\n"), "f.csv:2:1: 1 columns, but the lines before have 2");
  EXPECT_EQ(csv_error("1,2\n3, \n"), "f.csv:2:4: \"\" is not a number");
  EXPECT_EQ(csv_error("1,2\n3, NaN\n"), "f.csv:2:4: \"NaN\" is not a number");
  EXPECT_EQ(csv_error("1,x\n"), "f.csv:1:3: \"x\" is not a number");
  EXPECT_EQ(csv_error("1,-2\n"), "f.csv:1:3: a time must not be negative");
  EXPECT_THAT(csv_error("1" + std::string(5000, ',')),
              HasSubstr("f.csv:1:1: 1 tasks on 1025 mach"));
}

TEST(EtcFile, TheNameTellsTheFormat) {
  const ScratchDir dir;
  ASSERT_TRUE(write_file_atomic(dir / "m.csv", "1,2\n"));
  ASSERT_TRUE(write_file_atomic(dir / "m.0", "1 2\n1 2\n"));
  EXPECT_EQ(load_etc(dir / "m.csv").value().machines(), 2U);
  EXPECT_EQ(load_etc(dir / "m.0").value().machines(), 2U);
  const auto missing = load_etc(dir / "none");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::usage);
  EXPECT_THAT(missing.error().message, HasSubstr("none"));
}

TEST(EtcFile, AnyBytesAreAMatrixOrAComplaint) {
  EXPECT_TRUE(rc::check([](const std::string& header, std::vector<std::string> words) {
    std::string text = header;
    for (const auto& word : words) text += word + *rc::gen::element(" ", "\n", ",", "1", "\t0");
    for (const auto& matrix : {parse_etc_braun(text, "f"), parse_etc_csv(text, "f")}) {
      if (matrix)
        RC_ASSERT(matrix->times().size() == matrix->tasks() * matrix->machines());
      else
        RC_ASSERT(matrix.error().message.starts_with("f:"));
    }
  }));
}

TEST(EtcFile, WhatIsWrittenReadsBack) {
  EXPECT_TRUE(rc::check([] {
    const auto machines = *rc::gen::inRange<std::size_t>(1, 6);
    const auto tasks = *rc::gen::inRange<std::size_t>(1, 6);
    std::vector<double> times;
    std::string braun = std::to_string(tasks) + " " + std::to_string(machines) + " 0\n";
    std::string csv;
    for (std::size_t i = 0; i < tasks * machines; ++i) {
      const int number = *rc::gen::inRange(0, 1'000'000);
      times.push_back(number);
      braun += std::to_string(number) + "\n";
      csv += std::to_string(number) + ((i + 1) % machines == 0 ? "\n" : ",");
    }
    const std::vector<double> from_braun = [&] {
      const auto matrix = parse_etc_braun(braun, "f").value();
      RC_ASSERT(matrix.machines() == machines);
      return std::vector<double>(matrix.times().begin(), matrix.times().end());
    }();
    const auto from_csv = parse_etc_csv(csv, "f").value();
    RC_ASSERT(from_braun == times);
    RC_ASSERT(from_csv.machines() == machines);
    RC_ASSERT(std::equal(times.begin(), times.end(), from_csv.times().begin()));
  }));
}

}  // namespace
}  // namespace gantry::simulate
