// Studies that another process asks for, and the answers.
#include <gtest/gtest.h>

#include "base/scratch_dir.hpp"
#include "store/store.hpp"

namespace gantry::store {
namespace {

Store open_in(const ScratchDir& dir) {
  return Store::open(dir.path(), Access::read_write).value();
}

TEST(StoreRequestsTest, AStudyComesThroughWhateverItsBytes) {
  const ScratchDir dir;
  Store asks = open_in(dir);
  Store drives = open_in(dir);
  StudyRequest study;
  study.source = {.one_liner = true,
                  .path = "",
                  .text = "",
                  .args = {"echo", "\xff\n", ""},
                  .base_dir = "/a b"};
  study.weight = 2.5;
  const auto id = asks.post({.study = study}).value();
  const auto taken = drives.take_requests().value();
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].id, id);
  ASSERT_TRUE(taken[0].study);
  EXPECT_TRUE(taken[0].study->source.one_liner);
  EXPECT_EQ(taken[0].study->source.args, study.source.args);
  EXPECT_EQ(taken[0].study->source.base_dir, "/a b");
  EXPECT_EQ(taken[0].study->weight, 2.5);
}

TEST(StoreRequestsTest, AnAnswerIsReadOnce) {
  const ScratchDir dir;
  Store asks = open_in(dir);
  Store drives = open_in(dir);
  EXPECT_FALSE(asks.take_answer(7).value());
  ASSERT_TRUE(drives.answer(7, RunId(3)));
  ASSERT_TRUE(drives.answer(8, fail(ErrorCode::usage, "no such file", "look again")));
  EXPECT_EQ(asks.take_answer(7).value()->value(), RunId(3));
  EXPECT_FALSE(asks.take_answer(7).value());
  const auto refused = asks.take_answer(8).value();
  ASSERT_TRUE(refused && !*refused);
  EXPECT_EQ(refused->error().message, "no such file");
  EXPECT_EQ(refused->error().hint, "look again");
}

TEST(StoreRequestsTest, DamagedStudiesArePassedOver) {
  const ScratchDir dir;
  Store asks = open_in(dir);
  Store drives = open_in(dir);
  for (const double weight : {0.0, -1.0, 1e-300, 1e300})
    ASSERT_TRUE(asks.post({.study = StudyRequest{.source = {}, .weight = weight}}));
  ASSERT_TRUE(asks.post({.run = RunId(5), .all = true}));
  const auto taken = drives.take_requests().value();
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].run, RunId(5));
}

}  // namespace
}  // namespace gantry::store
