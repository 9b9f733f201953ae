#include "base/result.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <memory>

namespace gantry {
namespace {

Result<int> half(int n) {
  if (n % 2 != 0) return fail(ErrorCode::usage, std::to_string(n) + " is odd", "double it");
  return n / 2;
}

Result<int> quarter(int n) {
  TRY_ASSIGN(const int h, half(n));
  TRY_ASSIGN(const int q, half(h));
  return q;
}

Result<> check_even(int n) {
  TRY(half(n));
  return {};
}

TEST(Result, TryAssignHandsTheValueOnOrLeavesWithTheError) {
  EXPECT_EQ(quarter(12).value(), 3);
  const auto failed = quarter(6);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, ErrorCode::usage);
  EXPECT_EQ(failed.error().message, "3 is odd");
  EXPECT_EQ(failed.error().hint, "double it");
}

TEST(Result, TryDropsTheValueAndKeepsTheError) {
  EXPECT_TRUE(check_even(4));
  EXPECT_EQ(check_even(5).error().message, "5 is odd");
}

TEST(Result, TryAssignMovesWhatCannotBeCopied) {
  const auto make = []() -> Result<std::unique_ptr<int>> { return std::make_unique<int>(7); };
  const auto use = [&]() -> Result<int> {
    TRY_ASSIGN(const auto owned, make());
    return *owned;
  };
  EXPECT_EQ(use().value(), 7);
}

TEST(Result, ErrnoBecomesTextAndAFullDiskSaysWhatToDo) {
  errno = ENOENT;
  const Result<> missing = fail_errno("mesh.dat");
  EXPECT_EQ(missing.error().message, "mesh.dat: No such file or directory");
  EXPECT_EQ(missing.error().hint, "");
  errno = ENOSPC;
  const Result<> full = fail_errno("gantry.db");
  EXPECT_NE(full.error().hint.find("disk space"), std::string::npos);
  errno = ENOSPC;
  const Result<> own_hint = fail_errno("gantry.db", "look there");
  EXPECT_EQ(own_hint.error().hint, "look there");
}

}  // namespace
}  // namespace gantry
