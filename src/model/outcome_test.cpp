#include "model/outcome.hpp"

#include <gtest/gtest.h>

#include <set>

namespace gantry {
namespace {

TEST(Outcome, EveryCauseHasItsOwnName) {
  std::set<std::string_view> names;
  for (std::uint8_t cause = 0; cause <= static_cast<std::uint8_t>(FailureCause::lost); ++cause) {
    const auto name = to_string(static_cast<FailureCause>(cause));
    EXPECT_NE(name, "unknown") << int{cause};
    EXPECT_TRUE(names.insert(name).second) << name;
  }
  EXPECT_EQ(to_string(static_cast<FailureCause>(200)), "unknown");
}

// The journal stores the numbers.
TEST(Outcome, CausesKeepTheirNumbers) {
  EXPECT_EQ(static_cast<int>(FailureCause::none), 0);
  EXPECT_EQ(static_cast<int>(FailureCause::exit_code), 1);
  EXPECT_EQ(static_cast<int>(FailureCause::out_of_memory), 4);
  EXPECT_EQ(static_cast<int>(FailureCause::lost), 10);
}

TEST(Outcome, DescribesInOneLine) {
  EXPECT_EQ(describe(FailureCause::exit_code, 3, ""), "exit code 3");
  EXPECT_EQ(describe(FailureCause::exit_code, 3, "why"), "exit code 3: why");
  EXPECT_EQ(describe(FailureCause::signal, 11, ""), "killed by signal 11 (Segmentation fault)");
  EXPECT_EQ(describe(FailureCause::missing_output, 0, "/o"), "missing output: /o");
  EXPECT_EQ(describe(FailureCause::none, 0, ""), "ok");
}

TEST(Outcome, AFingerprintWithoutCommandIsEmpty) {
  EXPECT_TRUE(Fingerprint{}.empty());
  EXPECT_FALSE((Fingerprint{Digest{1, 0}, {}, {}}).empty());
}

}  // namespace
}  // namespace gantry
