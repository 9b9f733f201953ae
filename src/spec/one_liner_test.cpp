#include "spec/one_liner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>

#include "base/fd.hpp"
#include "spec/spec.hpp"

namespace gantry::spec {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using Words = std::vector<std::string>;

/// Every task's argv, or the error.
std::vector<Words> argvs(const Words& words, const ReadStdin& read_stdin = {}) {
  const auto loaded = parse_one_liner(words, "/tmp", read_stdin);
  if (!loaded) return {{"ERROR", loaded.error().message}};
  std::vector<Words> result;
  for (std::uint32_t i = 1; i <= loaded->sweep.size(); ++i)
    result.push_back(loaded->sweep.task(TaskId(i)).argv);
  return result;
}

std::string error(const Words& words, const ReadStdin& read_stdin = {}) {
  const auto loaded = parse_one_liner(words, "/tmp", read_stdin);
  return loaded ? "no error" : loaded.error().message;
}

ReadStdin typed(std::string text) {
  return [text]() -> Result<std::string> { return text; };
}

TEST(OneLiner, CrossesNamedListsWithTheLastVaryingFastest) {
  EXPECT_THAT(
      argvs({"--", "./sim", "--seed", "{seed}", "{g}", ":::", "seed=1..2", ":::", "g=a.mdl,b.mdl"}),
      ElementsAre(Words{"./sim", "--seed", "1", "a.mdl"}, Words{"./sim", "--seed", "1", "b.mdl"},
                  Words{"./sim", "--seed", "2", "a.mdl"}, Words{"./sim", "--seed", "2", "b.mdl"}));
}

TEST(OneLiner, ThroughAShellWithValuesQuoted) {
  const auto text = [](const Words& words) {
    const auto all = argvs(words);
    return all.size() == 1 && all[0].size() == 3 && all[0][0] == "/bin/sh" && all[0][1] == "-c"
               ? all[0][2]
               : "ERROR " + all[0].back();
  };
  EXPECT_EQ(text({"--shell", "--", "echo {} | wc", ":::", "a b"}), "echo 'a b' | wc");
  EXPECT_EQ(text({"--shell", "--", "echo", "{x}", "|", "wc", ":::", "x=", "$(id)"}),
            "echo '$(id)' | wc");
  EXPECT_EQ(text({"--shell", "--", "echo", ":::", "a", ":::", "b"}), "echo 'a' 'b'");
  EXPECT_EQ(text({"--shell", "--", "echo \"{}\" {/} {{}} {2}", ":::", "d/a", ":::", "b"}),
            "echo \"d/a b\" 'a' 'b' {} 'b'");
  EXPECT_EQ(text({"--", "--shell", ":::", "a"}), "ERROR a") << "the program's name";
}

TEST(OneLiner, OptionsAreKeptForAnotherTime) {
  const auto loaded = parse_one_liner(
      {"--timeout=1m", "--shell", "--retries=2", "--", "./sim | sort", ":::", "a"}, "/tmp");
  ASSERT_TRUE(loaded) << loaded.error().message;
  const auto again = reload(loaded->source);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->sweep.task(TaskId(1)).argv, loaded->sweep.task(TaskId(1)).argv);
  EXPECT_EQ(again->sweep.task(TaskId(1)).timeout, std::chrono::minutes(1));
  EXPECT_EQ(again->sweep.retry_policy().retries, 2U);
  EXPECT_EQ(again->sweep.name(), "sim");
  EXPECT_THAT(error({"--timeout=soon", "--", "x", ":::", "a"}), HasSubstr("90s, 1h30m"));
  EXPECT_THAT(error({"--retries=-1", "--", "x", ":::", "a"}), HasSubstr("from 0 to 1000000"));
}

TEST(OneLiner, UnnamedValuesAndPositions) {
  EXPECT_THAT(argvs({"echo", "{}", ":::", "a", "b c"}),
              ElementsAre(Words{"echo", "a"}, Words{"echo", "b c"}));
  EXPECT_THAT(argvs({"echo", "{2}-{1}", ":::", "a", ":::", "x", "y"}),
              ElementsAre(Words{"echo", "x-a"}, Words{"echo", "y-a"}));
}

TEST(OneLiner, AppendsUnnamedValuesWhenThereIsNoPlaceholder) {
  EXPECT_THAT(argvs({"echo", ":::", "a", ":::", "x"}), ElementsAre(Words{"echo", "a", "x"}));
  EXPECT_THAT(argvs({"awk", "{print $1}", ":::", "f"}),
              ElementsAre(Words{"awk", "{print $1}", "f"}));
}

TEST(OneLiner, BracesOfSeveralListsBecomeSeveralWords) {
  EXPECT_THAT(argvs({"echo", "{/.}", "end", ":::", "d/a.x", ":::", "e/b.y"}),
              ElementsAre(Words{"echo", "a", "b", "end"}));
}

TEST(OneLiner, PartsOfPaths) {
  EXPECT_THAT(
      argvs({"p", "{}", "{.}", "{/}", "{//}", "{/.}", ":::", "dir/file.tar.gz"}),
      ElementsAre(Words{"p", "dir/file.tar.gz", "dir/file.tar", "file.tar.gz", "dir", "file.tar"}));
  EXPECT_THAT(argvs({"p", "{g/.}", ":::", "g=x/a.mdl"}), ElementsAre(Words{"p", "a"}));
}

TEST(OneLiner, LinkedListsGoTogether) {
  EXPECT_THAT(argvs({"e", "{1}{2}", ":::", "a", "b", ":::+", "1", "2"}),
              ElementsAre(Words{"e", "a1"}, Words{"e", "b2"}));
  EXPECT_THAT(error({"e", ":::", "a", "b", ":::+", "1"}),
              HasSubstr("'arg2' has 1 values, but 'arg1'"));
  EXPECT_THAT(error({"e", ":::+", "1"}), HasSubstr("there is none"));
}

TEST(OneLiner, NameAloneTakesTheWordsAsTheyAre) {
  EXPECT_THAT(argvs({"e", "{g}", ":::", "g=", "x,y", "1..3", ""}),
              ElementsAre(Words{"e", "x,y"}, Words{"e", "1..3"}, Words{"e", ""}));
  EXPECT_THAT(argvs({"e", "{g}", ":::", "g=1..2,7", "9"}),
              ElementsAre(Words{"e", "1"}, Words{"e", "2"}, Words{"e", "7"}, Words{"e", "9"}));
}

TEST(OneLiner, AListHasANameOnlyIfTheCommandUsesIt) {
  EXPECT_THAT(argvs({"e", "{}", ":::", "run=1.csv", "run=2.csv"}),
              ElementsAre(Words{"e", "run=1.csv"}, Words{"e", "run=2.csv"}));
  EXPECT_THAT(argvs({"e", ":::", "a=1,2", ":::", "b=x"}), ElementsAre(Words{"e", "a=1,2", "b=x"}));
  EXPECT_THAT(argvs({"e", "{1}", ":::", "seed=1..2"}), ElementsAre(Words{"e", "seed=1..2"}));
  EXPECT_THAT(argvs({"e", "{seed}", "{}", "{2}", ":::", "seed=1..2", ":::", "seed=7"}),
              ElementsAre(ElementsAre("ERROR", HasSubstr("defined twice"))));
  EXPECT_THAT(argvs({"e", "{s}", "{2}", ":::", "s=1,2", ":::", "t=1,2"}),
              ElementsAre(Words{"e", "1", "t=1,2"}, Words{"e", "2", "t=1,2"}));
  EXPECT_THAT(argvs({"e", "{{s}}", ":::", "s=1"}), ElementsAre(Words{"e", "{s}", "s=1"}));
  EXPECT_THAT(argvs({"e", "$GANTRY_PARAM_s", ":::", "s=1,2"}),
              ElementsAre(Words{"e", "$GANTRY_PARAM_s"}, Words{"e", "$GANTRY_PARAM_s"}));
}

TEST(OneLiner, ARangeThatIsNoneIsWarnedOf) {
  const auto warnings = [](const Words& words) {
    return parse_one_liner(words, "/tmp").value().warnings;
  };
  EXPECT_THAT(warnings({"e", "{}", ":::", "seed=1..2"}),
              ElementsAre(HasSubstr("with {seed} in the command")));
  EXPECT_THAT(warnings({"e", "{}", ":::", "seed=1,2"}),
              ElementsAre(HasSubstr("'seed=1,2' is taken as one value")));
  EXPECT_THAT(warnings({"e", "{}", ":::", "a,b"}), ElementsAre());
  EXPECT_THAT(warnings({"e", "{}", ":::", "at=1,2", "at=1,3"}), ElementsAre());
  EXPECT_THAT(warnings({"e", "{}", ":::", "run=1.csv"}), ElementsAre());
  EXPECT_THAT(warnings({"e", "{seed}", ":::", "seed=1..2"}), ElementsAre());
}

TEST(OneLiner, OneQuotedWordIsACommandLine) {
  EXPECT_THAT(argvs({"sim 'a b' {}", ":::", "1"}), ElementsAre(Words{"sim", "a b", "1"}));
  EXPECT_THAT(error({"sim 'a b", ":::", "1"}), HasSubstr("single quote is not closed"));
}

TEST(OneLiner, LinesOfAFile) {
  const std::string path = "/tmp/gantry_one_liner_" + std::to_string(::getpid());
  ASSERT_TRUE(write_file_atomic(path, "first\n\nlast line"));
  EXPECT_THAT(argvs({"e", "{}", "::::", path}),
              ElementsAre(Words{"e", "first"}, Words{"e", ""}, Words{"e", "last line"}));
  EXPECT_THAT(argvs({"e", "{x}{y}", "::::", "x=" + path, ":::+", "y=1,2,3"}),
              ElementsAre(Words{"e", "first1"}, Words{"e", "2"}, Words{"e", "last line3"}));
  std::filesystem::remove(path);
  EXPECT_THAT(error({"e", "::::", path}), HasSubstr("No such file"));
}

TEST(OneLiner, LinesOfStandardInput) {
  EXPECT_THAT(argvs({"e", "{}", "::::", "-"}, typed("a\nb\n")),
              ElementsAre(Words{"e", "a"}, Words{"e", "b"}));
  EXPECT_THAT(argvs({"e", "{}"}, typed("a\r\n")), ElementsAre(Words{"e", "a"}));
  EXPECT_THAT(error({"e"}, typed("")), HasSubstr("no lines")) << "as GNU parallel: runs nothing";
  EXPECT_THAT(argvs({"e"}), ElementsAre(Words{"e"}));
  EXPECT_THAT(error({"e", "{}"}), HasSubstr("no values are given"));
  EXPECT_THAT(error({"e", "{}"}, typed("")), HasSubstr("no lines"));
}

TEST(OneLiner, ReloadsFromItsWordsWithoutStandardInput) {
  // Values that look like separators and names must survive being written out.
  const auto first = parse_one_liner({"e", "{}", "{2}", "::::", "-", ":::", "1"}, "/tmp",
                                     typed(":::\nx=1..3\n:::#2\n"));
  ASSERT_TRUE(first) << first.error().message;
  const auto again = reload(first->source);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->sweep.digest(), first->sweep.digest());
  EXPECT_EQ(again->sweep.size(), 3U);
  EXPECT_EQ(again->sweep.task(TaskId(2)).argv, (Words{"e", "x=1..3", "1", "1"}));
  EXPECT_EQ(again->source.args, first->source.args);
}

TEST(OneLiner, SaysWhatIsWrong) {
  EXPECT_THAT(error({":::", "a"}), HasSubstr("no command"));
  EXPECT_THAT(error({}), HasSubstr("no command"));
  EXPECT_THAT(error({"e", "{sed}", ":::", "seed=1"}), HasSubstr("{sed} is not a parameter"));
  EXPECT_THAT(error({"e", ":::"}), HasSubstr("not followed by any value"));
  EXPECT_THAT(error({"e", "{a}", ":::", "a=1", ":::", "a=2"}), HasSubstr("defined twice"));
  EXPECT_THAT(error({"e", "{a}", ":::", "a=3..1"}), HasSubstr("is empty"));
  EXPECT_THAT(error({"e", "{a}", ":::", "a=1..3000000000"}), HasSubstr("at most 100000000"));
  EXPECT_THAT(error({"e", "{a}", ":::", "a=x,-9223372036854775807..9223372036854775807"}),
              HasSubstr("too long to be part of a list"));
  EXPECT_THAT(error({"e", "{a}", ":::", "a=1..1000000,1"}), HasSubstr("no error"));
  EXPECT_THAT(error({"e", "{a}", ":::", "a=1,1..1000000"}),
              HasSubstr("too long to be part of a list"));
  EXPECT_THAT(error({"e", "{a}{b}", ":::", "a=1..100000", ":::", "b=1..100000"}),
              HasSubstr("10000000000 or more tasks"));
  EXPECT_THAT(error({"e", ":::#5", "a"}), HasSubstr("cut off"));
}

TEST(OneLiner, HostileValuesPassExactly) {
  const Words values{"it's", "\"q\"", "a\nb", "$(touch x)", ";ls", "../up",
                     "-rf",  "`id`",  "\\",   "*",          "{}",  std::string(100'000, 'x')};
  Words words{"e", "{v}", ":::", "v="};
  words.insert(words.end(), values.begin(), values.end());
  const auto result = argvs(words);
  ASSERT_EQ(result.size(), values.size());
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(result[i][1], values[i]);
}

TEST(OneLiner, RefusesWhatCannotBePassed) {
  EXPECT_THAT(error({"e", "{v}", ":::", "v=", std::string("a\0b", 3)}), HasSubstr("NUL"));
  EXPECT_THAT(error({"e", "{v}", ":::", "v=", std::string(131'072, 'x')}),
              HasSubstr("131072 bytes long"));
}

TEST(OneLiner, SlotNumbersAreRefusedWithAReason) {
  EXPECT_THAT(error({"echo", "x{%}", ":::", "a"}), HasSubstr("no slot of its own"));
  EXPECT_THAT(argvs({"echo", "{{%}}", "{}", ":::", "a"}), ElementsAre(Words{"echo", "{%}", "a"}));
}

}  // namespace
}  // namespace gantry::spec
