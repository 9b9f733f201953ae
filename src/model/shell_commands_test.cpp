#include "model/shell_commands.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "model/shell_words.hpp"

namespace gantry {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// Each command's words with bars between, and what it redirects to.
std::vector<std::string> commands(std::string_view text) {
  std::vector<std::string> out;
  for (const auto& [words, targets] : shell_commands(text)) {
    out.push_back(fmt::format("{}", fmt::join(words, "|")));
    for (const auto& target : targets) out.back() += " >" + target;
  }
  return out;
}

TEST(ShellCommands, EndAtOperators) {
  EXPECT_THAT(commands("a b; c&&d || e|f & g\nh"),
              ElementsAre("a|b", "c", "d", "e", "f", "g", "h"));
  EXPECT_THAT(commands("(a; b) && { c; }"), ElementsAre("a", "b", "c", "}"));
  EXPECT_THAT(commands(" \n;; "), IsEmpty());
}

TEST(ShellCommands, QuotesAreTakenOut) {
  EXPECT_THAT(commands(R"('a b' "c \" d" e\ f)"), ElementsAre("a b|c \" d|e f"));
  EXPECT_THAT(commands("a '|;#(' \"&\" x#y # rest ; b"), ElementsAre("a||;#(|&|x#y"));
  EXPECT_THAT(commands("a 'open"), ElementsAre("a|open"));
  EXPECT_THAT(commands("a \"open"), ElementsAre("a|open"));
  EXPECT_THAT(commands("a \\"), ElementsAre("a|"));
}

TEST(ShellCommands, KeywordsAndAssignmentsStandBefore) {
  EXPECT_THAT(commands("A=1 B='x y' run C=2"), ElementsAre("run|C=2"));
  EXPECT_THAT(commands("while ! a; do b; done"), ElementsAre("a", "b", "done"));
  EXPECT_THAT(commands("x=$(a b) c"), ElementsAre("a|b", "c"));
}

TEST(ShellCommands, RedirectionsHaveTargets) {
  EXPECT_THAT(commands("a >b 2>&1 c < d"), ElementsAre("a|c >b >1 >d"));
  EXPECT_THAT(commands("a &>b c"), ElementsAre("a|c >b"));
  EXPECT_THAT(commands("a <(b c) d"), ElementsAre("b|c", "a|<|d"));
  EXPECT_THAT(commands("a <<E\nb\nE\nc"), ElementsAre("a"));
}

TEST(ShellCommands, SubstitutionsHoldCommands) {
  EXPECT_THAT(commands("a \"$(b \"c d\") e\" f"), ElementsAre("b|c d", "a|$ e|f"));
  EXPECT_THAT(commands("a `b c` d"), ElementsAre("b|c", "a|`|d"));
  EXPECT_THAT(commands("a ${x:-b c} $y"), ElementsAre("a|${x:-b c}|$y"));
}

TEST(ShellCommands, DeepNestingEnds) {
  EXPECT_THAT(commands(std::string(100'000, '(')), IsEmpty());
}

RC_GTEST_PROP(ShellCommands, AnyTextIsRead, ()) {
  const auto text = *rc::gen::container<std::string>(
      rc::gen::elementOf(std::string("ab=1 \t\n;|&(){}<>$`\"'\\#")));
  for (const auto& command : shell_commands(text))
    RC_ASSERT(!command.words.empty() || !command.targets.empty());
}

RC_GTEST_PROP(ShellCommands, QuotedWordsComeBack, (const std::vector<std::string>& words)) {
  std::string text = "run";
  std::vector<std::string> expected{"run"};
  for (const auto& word : words) {
    text += " " + quote_shell_word(word);
    expected.push_back(word);
  }
  const auto found = shell_commands(text);
  RC_ASSERT(found.size() == 1U);
  RC_ASSERT(found[0].words == expected);
}

}  // namespace
}  // namespace gantry
