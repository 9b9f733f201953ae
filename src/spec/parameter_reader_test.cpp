/// Parameters whose values come from the disk.

#include "spec/parameter_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/fd.hpp"
#include "base/scratch_dir.hpp"
#include "spec/spec.hpp"

namespace gantry::spec {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Words = std::vector<std::string>;

class ParameterFiles : public ::testing::Test {
 protected:
  void write(const std::string& name, const std::string& content) {
    std::filesystem::create_directories((directory_ / name).parent_path());
    ASSERT_TRUE(write_file_atomic(directory_ / name, content));
  }
  /// "a|b" of every task, or the error.
  Words rows(const std::string& rest) {
    const auto loaded = parse_sweep("command: [e, '{a}|{b}']\n" + rest, "s.yaml", directory_);
    if (!loaded) return {loaded.error().message, loaded.error().hint};
    Words result;
    for (std::uint32_t i = 1; i <= loaded->sweep.size(); ++i)
      result.push_back(loaded->sweep.task(TaskId(i)).argv[1]);
    return result;
  }

  ScratchDir scratch_;
  std::filesystem::path directory_ = scratch_ / "[files]";  // must not be taken for a pattern
};

TEST_F(ParameterFiles, GlobsAreSortedAndRelative) {
  for (const auto* name : {"b.mdl", "a.mdl", "sub/c.mdl", "B.mdl", "x y.mdl", "a.txt"})
    write(name, "");
  EXPECT_THAT(rows("parameters: {a: {glob: '*.mdl'}, b: 1}"),
              ElementsAre("B.mdl|1", "a.mdl|1", "b.mdl|1", "x y.mdl|1"));
  EXPECT_THAT(rows("parameters: {a: {glob: ['sub/*', '[ab].mdl', 'a*']}, b: 1}"),
              ElementsAre("a.mdl|1", "a.txt|1", "b.mdl|1", "sub/c.mdl|1"));
  EXPECT_THAT(rows("parameters: {a: {glob: '" + directory_.string() + "/none*'}, b: 1}")[0],
              HasSubstr("no file matches"));
}

TEST_F(ParameterFiles, LinesOfAFile) {
  write("list.txt", "one\r\n\ntwo three\n");
  EXPECT_THAT(rows("parameters: {a: {lines: list.txt}, b: 1}"),
              ElementsAre("one|1", "|1", "two three|1"));
  write("empty.txt", "");
  EXPECT_THAT(rows("parameters: {a: {lines: empty.txt}, b: 1}")[0],
              "s.yaml:2:25: empty.txt has no lines");
}

TEST_F(ParameterFiles, ColumnsOfOneCsvFileAreLinked) {
  write("points.csv", "a,t\n1,\"x,y\"\n2,z\n");
  EXPECT_THAT(rows("parameters: {a: {csv: points.csv}, b: {csv: {file: ./points.csv, column: t}}}"),
              ElementsAre("1|x,y", "2|z"));
  EXPECT_THAT(rows("parameters: {a: {csv: points.csv}, b: [p, q]}"),
              ElementsAre("1|p", "1|q", "2|p", "2|q"));
  EXPECT_THAT(rows("parameters: {a: {csv: points.csv, column: T}, b: 1}"),
              ElementsAre("s.yaml:2:43: points.csv has no column 'T'", "did you mean 't'?"));
  write("other.csv", "a\n5\n6\n");
  EXPECT_THAT(rows("parameters: {a: {csv: points.csv}, b: {csv: other.csv, column: a}}"),
              ElementsAre("1|5", "1|6", "2|5", "2|6"));
}

TEST_F(ParameterFiles, BadCsvFiles) {
  write("bad.csv", "a,b\n1\n");
  EXPECT_EQ(rows("parameters: {a: {csv: bad.csv}, b: 1}")[0],
            "s.yaml:2:23: bad.csv: line 2: 1 fields, but the header has 2");
  write("header.csv", "a,b\n");
  EXPECT_EQ(rows("parameters: {a: {csv: header.csv}, b: 1}")[0],
            "s.yaml:2:23: header.csv has no rows below its header");
  EXPECT_THAT(rows("parameters: {a: {csv: .}, b: 1}")[0], HasSubstr("is a directory"));
}

TEST_F(ParameterFiles, TheDigestKnowsTheContents) {
  write("list.txt", "1\n2\n");
  const auto digest = [&] {
    return parse_sweep("command: e {a}\nparameters: {a: {lines: list.txt}}", "s.yaml", directory_)
        ->sweep.digest();
  };
  const auto before = digest();
  EXPECT_EQ(digest(), before);
  write("list.txt", "1\n3\n");
  EXPECT_NE(digest(), before);
}

TEST_F(ParameterFiles, InputsAreCheckedForEveryChoiceThatIsRun) {
  write("m1", "");
  write("m2", "");
  EXPECT_EQ(rows("parameters: {a: 1..2, b: 1..1000}\ninputs: 'm{a}'").size(), 2000U);
  EXPECT_THAT(rows("parameters: {a: 1..3, b: 1..2}\ninputs: 'm{a}'")[0],
              HasSubstr("/m3 of task 5 is not there"));
  EXPECT_EQ(rows("parameters: {a: 1..3, b: 1..2}\ninputs: 'm{a}'\nwhen: a < 3").size(), 4U);
}

TEST_F(ParameterFiles, ASweepFileIsLoadedAndReloaded) {
  write("study/sweep.yaml", "command: ./sim {x}\nparameters: {x: 1..3}\ninputs: mesh\n");
  write("study/mesh", "");
  const auto loaded = load_sweep(directory_ / "study/sweep.yaml");
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ(loaded->sweep.name(), "sweep");
  EXPECT_EQ(loaded->sweep.task(TaskId(1)).workdir, (directory_ / "study").string());
  EXPECT_EQ(loaded->source.path, (directory_ / "study/sweep.yaml").string());
  std::filesystem::remove(directory_ / "study/sweep.yaml");
  const auto again = reload(loaded->source);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->sweep.digest(), loaded->sweep.digest());
  const auto gone = load_sweep(directory_ / "study/sweep.yaml");
  ASSERT_FALSE(gone);
  EXPECT_EQ(gone.error().code, ErrorCode::usage);
  EXPECT_THAT(gone.error().message, HasSubstr("No such file"));
  EXPECT_FALSE(load_sweep(directory_));
}

}  // namespace
}  // namespace gantry::spec
