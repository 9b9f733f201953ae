#include "driver/link_probes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/one_run.hpp"

namespace gantry::driver {
namespace {

using namespace std::chrono_literals;
using ::testing::Each;
using ::testing::ElementsAre;

constexpr SiteId kFar(1);
constexpr SiteId kOther(2);

/// One host at a site behind a link, and ten tasks that read a file which is not there.
class LinkProbesTest : public ::testing::Test {
 protected:
  LinkProbesTest() : engine_(workload(), {}) {
    engine_.apply(HostUp{{.id = HostId(1), .name = "h", .site = kFar}});
    engine_.apply(SiteEchoed{kFar, 0.02, now_});
    (void)engine_.decide(now_);
  }
  static engine::Workload workload() {
    engine::Workload workload{.count = 10};
    workload.file_bytes = {1e6};
    workload.files = [](TaskId) { return std::vector{FileId(0)}; };
    return workload;
  }

  void add_other() {
    engine_.apply(HostUp{{.id = HostId(2), .name = "g", .site = kOther}});
    engine_.apply(SiteEchoed{kOther, 0.02, now_});
    glance_.push_back({.id = kOther});
  }

  /// Looks once a second for so long: how many probes are sent.
  int wait(Duration time) {
    int probes = 0;
    for (const TimePoint end = now_ + time; now_ < end;) {
      now_ += 1s;
      const auto probe = probes_.due(
          glance_, engine_.Engine::seen(),
          [this](SiteId site) { return engine_.may_move_files(site); }, &grid_, now_);
      if (!probe) continue;
      ++probes;
      probed_.push_back(probe->site);
      bytes_ = probe->bytes;
      if (bandwidth_ > 0) answer(probe->site);
    }
    return probes;
  }
  /// Until the next one is sent.
  [[nodiscard]] bool wait_for_one() {
    for (int i = 0; i < 1000; ++i)
      if (wait(1s) > 0) return true;
    return false;
  }
  /// A window of 14 kB, of which 20 ms are waited for, and all that is left.
  void answer(SiteId site) {
    const auto bytes = static_cast<double>(bytes_);
    const double first = std::max(0.02, 14'000 / bandwidth_);
    const double took = 0.02 + first + (bytes - 14'000) / bandwidth_;
    const TimePoint then = now_ + from_seconds(took);
    probes_.on_waited(then);
    EXPECT_TRUE(probes_.answered(site, then));
    engine_.apply(SiteEchoed{site, took, then, bytes, 0.02});
  }

  TimePoint now_ = TimePoint{} + 1h;
  engine::OneRun engine_;
  LinkProbes probes_;
  Grid grid_;
  std::vector<SiteGlance> glance_{{.id = kHome}, {.id = kFar}};
  std::vector<SiteId> probed_;
  std::uint64_t bytes_ = 0;  ///< of the last one
  double bandwidth_ = 0;     ///< 0: nobody answers
};

TEST_F(LinkProbesTest, ALinkThatWasNeverUsedIsMeasured) {
  bandwidth_ = 1e6;
  EXPECT_EQ(wait(60s), 0);
  EXPECT_EQ(wait(60s), 3);
  ASSERT_TRUE(engine_.seen().bandwidth(kFar));
  EXPECT_NEAR(*engine_.seen().bandwidth(kFar), 1e6, 2e5);
  EXPECT_EQ(wait(600s), 10);  // one a minute
  EXPECT_NEAR(*engine_.seen().bandwidth(kFar), 1e6, 2e5);
  bandwidth_ = 1e5;
  EXPECT_LE(wait(180s), 6);
  EXPECT_NEAR(*engine_.seen().bandwidth(kFar), 1e5, 3e4);
  EXPECT_LE(bytes_, 30'000U);  // no longer than 0.2 s
  bandwidth_ = 1e6;
  wait(300s);
  EXPECT_NEAR(*engine_.seen().bandwidth(kFar), 1e6, 3e5);
}

TEST_F(LinkProbesTest, APersonSaysWhenALinkIsProbed) {
  grid_.links = {{.from = 0, .to = kFar.value(), .bandwidth = 1e5, .probe_after = 5s}};
  EXPECT_EQ(wait(5s), 0);
  EXPECT_EQ(wait(1s), 1);
}

TEST_F(LinkProbesTest, ALinkIsNeverProbedIfAPersonSaysSo) {
  add_other();
  bandwidth_ = 1e6;
  grid_.links = {{.from = 0, .to = kFar.value(), .bandwidth = 1e5, .probe_after = 0s}};
  EXPECT_GT(wait(600s), 0);
  EXPECT_THAT(probed_, Each(kOther));
}

TEST_F(LinkProbesTest, ALinkThatCarriesFilesIsLeftAlone) {
  for (int i = 0; i < 100; ++i) {
    glance_[1].sent += 5000;
    EXPECT_EQ(wait(1s), 0);
  }
  for (int i = 0; i < 100; ++i) {
    ++glance_[1].received;
    EXPECT_EQ(wait(1s), 0);
  }
  glance_[1].to_send = 1;
  EXPECT_EQ(wait(100s), 0);
  glance_[1].to_send = 0;
  EXPECT_EQ(wait(59s), 0);
  glance_[1].sent += 1000;  // no file
  EXPECT_EQ(wait(2s), 1);
}

TEST_F(LinkProbesTest, AnAgentThatNeverAnswersIsAskedNowAndThen) {
  EXPECT_EQ(wait(61s), 1);
  EXPECT_EQ(bytes_, 64U << 10U);
  EXPECT_EQ(wait(199s), 0);  // it was under way for 10 s: a twentieth of the time
  EXPECT_EQ(wait(1s), 1);
  EXPECT_EQ(bytes_, 4U << 10U);
  EXPECT_EQ(engine_.seen().bandwidth(kFar), std::nullopt);
}

TEST_F(LinkProbesTest, OneIsUnderWayAtATimeWhereverItGoes) {
  add_other();
  EXPECT_EQ(wait(61s), 1);
  EXPECT_EQ(wait(9s), 0);
  EXPECT_EQ(wait(1s), 1);  // nobody waits for the first one any more
  EXPECT_THAT(probed_, ElementsAre(kFar, kOther));
  EXPECT_FALSE(probes_.answered(kFar, now_));
}

TEST_F(LinkProbesTest, OneThatCouldNotBeSentKeepsNoOtherWaiting) {
  add_other();
  EXPECT_EQ(wait(61s), 1);
  probes_.not_sent();
  EXPECT_EQ(wait(1s), 1);
  probes_.not_sent();
  EXPECT_EQ(wait(10s), 1);  // not 200 s, as after one that was not answered
  EXPECT_EQ(bytes_, 64U << 10U);
  EXPECT_THAT(probed_, ElementsAre(kFar, kOther, kFar));
}

TEST_F(LinkProbesTest, TheLinkThatWaitedLongestIsNext) {
  add_other();
  bandwidth_ = 1e6;
  EXPECT_EQ(wait(62s), 2);
  EXPECT_EQ(wait(20s), 4);
  EXPECT_THAT(probed_, ElementsAre(kFar, kOther, kFar, kOther, kFar, kOther));
  for (const SiteId site : {kFar, kOther})
    EXPECT_NEAR(engine_.seen().bandwidth(site).value_or(0), 1e6, 2e5);
}

TEST_F(LinkProbesTest, NoneIsSentWhileAnyLinkCarriesFiles) {
  add_other();
  glance_[2].to_send = 1;
  EXPECT_EQ(wait(100s), 0);
  glance_[2].to_send = 0;
  for (int i = 0; i < 10; ++i) {
    glance_[2].sent += 5000;
    EXPECT_EQ(wait(1s), 0);
  }
  EXPECT_EQ(wait(59s), 1);
  EXPECT_THAT(probed_, Each(kFar));
}

TEST_F(LinkProbesTest, TheFirstOneIsNoLargerThanADeclaredLinkIsWorth) {
  grid_.links = {{.from = 0, .to = 1, .bandwidth = 1e5}, {.from = 0, .to = 2, .bandwidth = 1e4}};
  grid_.links[1].assumed = true;
  add_other();
  EXPECT_EQ(declared_bandwidth(&grid_, kFar), 1e5);
  EXPECT_EQ(declared_bandwidth(&grid_, kOther), std::nullopt);
  EXPECT_EQ(declared_bandwidth(nullptr, kFar), std::nullopt);
  EXPECT_EQ(wait(61s), 1);
  EXPECT_EQ(bytes_, 20'000U);  // 0.2 s
  EXPECT_EQ(wait(10s), 1);
  EXPECT_EQ(bytes_, 64U << 10U);
}

TEST_F(LinkProbesTest, AnAnswerThatWasLookedForTooLateDoesNotCount) {
  EXPECT_EQ(wait(61s), 1);
  TimePoint then = now_ + 5ms;
  probes_.on_look(then);
  probes_.on_waited(then += 3s);  // that is the link's time
  probes_.on_look(then += 9ms);
  EXPECT_TRUE(probes_.answered(kFar, then + 9ms));
  ASSERT_TRUE(wait_for_one());
  then = now_;
  probes_.on_look(then += 11ms);  // something else was done
  probes_.on_look(then += 1ms);
  EXPECT_FALSE(probes_.answered(kFar, then));
  ASSERT_TRUE(wait_for_one());
  EXPECT_EQ(bytes_, 4U << 10U);
  EXPECT_FALSE(probes_.answered(kFar, now_ + 11ms));
}

TEST_F(LinkProbesTest, AnAnswerWithAFileInItsWayDoesNotCount) {
  EXPECT_EQ(wait(61s), 1);
  probes_.on_file();
  EXPECT_FALSE(probes_.answered(kFar, now_));
  ASSERT_TRUE(wait_for_one());
  glance_[1].to_send = 1;
  EXPECT_EQ(wait(1s), 0);
  probes_.on_waited(now_);
  EXPECT_FALSE(probes_.answered(kFar, now_));
}

TEST_F(LinkProbesTest, NoLinkIsProbedForNothing) {
  engine_.apply(FileArrived{FileId(0), kFar, now_, true});
  EXPECT_FALSE(engine_.may_move_files(kFar));
  EXPECT_EQ(wait(120s), 0);
  engine_.apply(FileGone{FileId(0), kFar});
  EXPECT_TRUE(engine_.may_move_files(kFar));
  EXPECT_EQ(wait(1s), 1);
  engine_.apply(DrainRequested{RunId(1), "stop"});
  EXPECT_FALSE(engine_.may_move_files(kFar));
  EXPECT_EQ(wait(120s), 0);
}

TEST_F(LinkProbesTest, WhatTasksMakeGoesOverTheLinkUntilAllHaveEnded) {
  engine::Workload workload{.count = 1};
  workload.output_bytes = [](TaskId) { return 5e6; };
  engine_ = engine::OneRun(workload, {});
  engine_.apply(HostUp{{.id = HostId(1), .name = "h", .site = kFar}});
  EXPECT_TRUE(engine_.may_move_files(kFar));
  (void)engine_.decide(now_);
  EXPECT_TRUE(engine_.may_move_files(kFar));
  AttemptEnded ended;
  ended.report.key = {RunId(1), TaskId(1), AttemptId(1)};
  ended.host = HostId(1);
  engine_.apply(ended);
  EXPECT_FALSE(engine_.may_move_files(kFar));
}

TEST_F(LinkProbesTest, NobodyKnowsWhatAProbeSaysWithoutARoundTrip) {
  engine_ = engine::OneRun(workload(), {});
  engine_.apply(HostUp{{.id = HostId(1), .name = "h", .site = kFar}});
  EXPECT_EQ(wait(120s), 0);
}

}  // namespace
}  // namespace gantry::driver
