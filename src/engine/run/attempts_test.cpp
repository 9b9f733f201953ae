#include "engine/run/attempts.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/engine_fixture.hpp"

namespace gantry::engine {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

constexpr TaskId kTask{7};
constexpr HostId kHere{1};
constexpr HostId kThere{2};

Outstanding try_on(HostId host, std::uint32_t number) {
  return {.attempt = AttemptId(number), .host = host};
}

AttemptKey nth(std::uint32_t number) {
  return {kTask, AttemptId(number)};
}

/// The task has attempt 1 here and a twin, attempt 2, there.
Attempts with_twin() {
  Attempts attempts;
  attempts.add(kTask, try_on(kHere, 1));
  attempts.add(kTask, try_on(kThere, 2));
  return attempts;
}

TEST(Attempts, FindsBothAttemptsOfATask) {
  const Attempts attempts = with_twin();
  EXPECT_EQ(attempts.find(nth(1))->host, kHere);
  EXPECT_EQ(attempts.find(nth(2))->host, kThere);
  EXPECT_EQ(attempts.find(nth(3)), nullptr);
  EXPECT_EQ(attempts.first(kTask)->attempt, AttemptId(1));
  EXPECT_TRUE(attempts.has_twin(kTask));
  EXPECT_THAT(attempts.on(kThere), ElementsAre(nth(2)));
}

TEST(Attempts, ATwinTakesThePlaceOfTheFirst) {
  Attempts attempts = with_twin();
  EXPECT_EQ(attempts.remove(nth(1)).host, kHere);
  EXPECT_EQ(attempts.first(kTask)->attempt, AttemptId(2));
  EXPECT_FALSE(attempts.has_twin(kTask));
  attempts.remove(nth(2));
  EXPECT_TRUE(attempts.none());
}

TEST(Attempts, WithoutItsTwinTheFirstGoesOn) {
  Attempts attempts = with_twin();
  EXPECT_EQ(attempts.remove(nth(2)).host, kThere);
  EXPECT_EQ(attempts.first(kTask)->attempt, AttemptId(1));
  EXPECT_FALSE(attempts.has_twin(kTask));
}

TEST(Attempts, ATaskRunsWhenOneOfItsAttemptsDoes) {
  Attempts attempts = with_twin();
  EXPECT_FALSE(attempts.is_running(kTask));
  attempts.start(*attempts.find(nth(2)), at(5));
  EXPECT_TRUE(attempts.is_running(kTask));
  EXPECT_EQ(attempts.find(nth(2))->started, at(5));
}

TEST(Attempts, OnlyWhatWaitsIsRecalledAndOnce) {
  Attempts attempts = with_twin();
  EXPECT_TRUE(attempts.recall(kHere));
  EXPECT_FALSE(attempts.recall(kHere)) << "it was asked for already";
  attempts.add(TaskId(8), try_on(kHere, 1));
  EXPECT_TRUE(attempts.recall(kHere)) << "not this one";
  attempts.reset_recall(kHere);
  attempts.start(*attempts.find(nth(1)), at(0));
  EXPECT_TRUE(attempts.recall(kHere));
  attempts.reset_recall(kHere);
  attempts.remove({TaskId(8), AttemptId(1)});
  EXPECT_FALSE(attempts.recall(kHere)) << "what is left runs";
  attempts.remove(nth(1));
  EXPECT_FALSE(attempts.recall(kHere));
}

TEST(Attempts, ALeftoverCountsNoMoreButIsKnown) {
  Attempts attempts = with_twin();
  attempts.add_leftover(kTask, attempts.remove(nth(1)));
  EXPECT_EQ(attempts.find(nth(1)), nullptr);
  EXPECT_EQ(attempts.find_any(nth(1))->host, kHere);
  EXPECT_THAT(attempts.on(kHere), IsEmpty());
  EXPECT_THAT(attempts.leftovers_on(kHere), ElementsAre(nth(1)));
  EXPECT_TRUE(attempts.any_host([](HostId host) { return host == kHere; }));
  EXPECT_TRUE(attempts.remove_leftover(nth(1)));
  EXPECT_FALSE(attempts.remove_leftover(nth(1)));
  EXPECT_FALSE(attempts.any_host([](HostId host) { return host == kHere; }));
}

TEST(Attempts, EachIsToldToEndOnceUnlessItHasEnded) {
  Attempts attempts = with_twin();
  attempts.tell_to_end(kTask, *attempts.find(nth(1)));
  attempts.tell_to_end(kTask, *attempts.find(nth(1)));
  attempts.tell_to_end(kTask, *attempts.find(nth(2)));
  attempts.add_leftover(kTask, attempts.remove(nth(1)));
  attempts.remove(nth(2));
  EXPECT_THAT(attempts.take_told(), ElementsAre(Pair(nth(1), kHere)));
  EXPECT_THAT(attempts.take_told(), IsEmpty());
}

TEST(Attempts, APassedOverNumberDoesNotHideWhereAnAttemptWasLost) {
  Attempts attempts;
  attempts.add_missing(nth(1), SiteId(4));
  attempts.pass_over(nth(1));
  attempts.pass_over(nth(2));
  EXPECT_THAT(attempts.missing(), ElementsAre(Pair(nth(1), SiteId(4)), Pair(nth(2), kHome)));
  attempts.remove_missing(nth(1));
  EXPECT_FALSE(attempts.is_missing(nth(1)));
  EXPECT_TRUE(attempts.is_missing(nth(2)));
}

}  // namespace
}  // namespace gantry::engine
