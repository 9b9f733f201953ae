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

TEST(Outcome, TheLimitOfOneThatDiedOfMemoryIsInItsDetail) {
  const auto limit = [](FailureCause cause, std::string detail) {
    AttemptReport report;
    report.cause = cause;
    report.detail = std::move(detail);
    return memory_limit(report);
  };
  const auto died = FailureCause::out_of_memory;
  EXPECT_EQ(limit(died, "limit 2048 MiB"), std::uint64_t{2} << 30U);
  EXPECT_EQ(limit(died, "limit 64 MiB; tried again with 128 MiB"), std::uint64_t{64} << 20U);
  for (const char* other : {"", "limit", "limit x MiB", "limit -3 MiB", "limit 5 s",
                            "limit 99999999999999999999 MiB", "limit 9999999999999 MiB"})
    EXPECT_EQ(limit(died, other), 0U) << other;
  EXPECT_EQ(limit(FailureCause::timeout, "limit 2048 MiB"), 0U);
}

TEST(Outcome, AFingerprintWithoutCommandIsEmpty) {
  EXPECT_TRUE(Fingerprint{}.empty());
  EXPECT_FALSE((Fingerprint{Digest{1, 0}, {}, {}}).empty());
}

}  // namespace
}  // namespace gantry
