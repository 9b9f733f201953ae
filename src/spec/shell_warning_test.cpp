#include "spec/shell_warning.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "spec/spec.hpp"

namespace gantry::spec {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> warnings(const std::vector<std::string>& words) {
  auto loaded = parse_one_liner(words, "/", {});
  EXPECT_TRUE(loaded) << (loaded ? "" : loaded.error().message);
  return loaded ? loaded->warnings : std::vector<std::string>{};
}

TEST(ShellWarning, ValuesThatTheShellWouldRead) {
  EXPECT_THAT(warnings({"sh", "-c", "echo {x}", ":::", "x=", "a b"}),
              ElementsAre(HasSubstr("\"$GANTRY_PARAM_x\"")));
  EXPECT_THAT(warnings({"/bin/bash", "-ec", "echo {}", ":::", "$(id)"}),
              ElementsAre(HasSubstr("'arg1'")));
  EXPECT_THAT(warnings({"bash", "-e", "-c", "echo {1/.} {y}", ":::", "a;b", ":::", "y=1"}),
              ElementsAre(HasSubstr("'arg1'")));
}

TEST(ShellWarning, NotWhereNothingCanHappen) {
  EXPECT_THAT(warnings({"sh", "-c", "exit {x}", ":::", "x=1..5"}), IsEmpty());
  EXPECT_THAT(warnings({"sh", "-c", "echo {}", ":::", "plain", "words-1.5/too"}), IsEmpty());
  EXPECT_THAT(warnings({"sh", "-c", "echo $0", "{}", ":::", "a b"}), IsEmpty());
  EXPECT_THAT(warnings({"sh", "-c", "{}", ":::", "echo whole; echo commands"}), IsEmpty());
  EXPECT_THAT(warnings({"sh", "script", "{}", ":::", "a b"}), IsEmpty());
  EXPECT_THAT(warnings({"echo", "-c", "{}", ":::", "a b"}), IsEmpty());
}

}  // namespace
}  // namespace gantry::spec
