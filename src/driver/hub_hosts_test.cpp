// Hosts at sites that were given attempts: the next gantry must know of them after a kill.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/hub_fixture.hpp"
#include "store/faulty_disk.hpp"

namespace gantry::driver {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

/// The host is at the site "lab".
class HubHostsTest : public HubTest {
 protected:
  void SetUp() override {
    HubTest::SetUp();
    launcher_.site = SiteId(1);
    options_.grid.emplace();
    options_.grid->sites.resize(2);
    options_.grid->sites[1].name = "lab";
  }
  std::set<store::SiteHost> given() { return open_store().given_hosts(run_).value(); }
  void give(const store::SiteHost& host) {
    auto store = open_store();
    store.give(run_, host);
    ASSERT_TRUE(store.commit());
  }
  /// A run of one task, which has failed once.
  void fail_once() {
    launcher_.outcome = [](const Task&, AttemptReport& report) {
      report.cause = FailureCause::exit_code;
    };
    run_ = drive_with(launcher_, study()).run;
    EXPECT_THAT(given(), IsEmpty()) << "its end is known";
  }

  Application study() { return sweep({"echo", "{}", ":::", "a"}); }

  FakeLauncher launcher_;
  RunId run_{1};
};

TEST_F(HubHostsTest, AHostIsWrittenDownBeforeItGetsItsFirstAttempt) {
  std::size_t hosts = 1;
  launcher_.outcome = [&](const Task&, AttemptReport&) { EXPECT_THAT(given(), SizeIs(hosts)); };
  EXPECT_EQ(drive_with(launcher_, sweep({"echo", "{}", ":::", "1..5"})).counts.done, 5U);
  EXPECT_THAT(given(), IsEmpty()) << "all ends are in the journal";
  launcher_.site = kHome;
  hosts = 0;
  run_ = RunId(2);
  EXPECT_EQ(drive_with(launcher_, study()).counts.done, 1U) << "this machine is always heard of";
}

TEST_F(HubHostsTest, EachRunHasItsOwnHosts) {
  Application one = study();
  Application other = sweep({"printf", "{}", ":::", "x"});
  launcher_.outcome = [&](const Task&, AttemptReport& report) {
    EXPECT_THAT(open_store().given_hosts(report.key.run).value(), SizeIs(1));
  };
  for (const Summary& summary : drive_all(launcher_, {{one, source_}, {other, source_}})) {
    EXPECT_EQ(summary.counts.done, 1U);
    run_ = summary.run;
    EXPECT_THAT(given(), IsEmpty());
  }
  EXPECT_THAT(launcher_.started, SizeIs(2));
}

TEST_F(HubHostsTest, NothingIsStartedUntilItIsWrittenDown) {
  write("sweep.yaml", "command: echo {x}\nparameters: {x: [1]}\nresources: {cores: 4}\n");
  store::FaultyDisk disk;
  int recalls = -1;
  launcher_.expects = [&](const Resources&) {
    if (recalls >= 0) return true;
    recalls = 0;
    disk.allow(0);
    launcher_.announce(HostUp{{HostId(2), "large", 4, 0, SiteId(1)}});
    return true;
  };
  launcher_.on_recall = [&] {
    ++recalls;
    EXPECT_THAT(launcher_.started, IsEmpty());
    disk.heal();
  };
  launcher_.outcome = [&](const Task&, AttemptReport&) { EXPECT_THAT(given(), SizeIs(2)); };
  Application study(spec::load_sweep((dir_ / "sweep.yaml").string()).value().sweep);
  EXPECT_EQ(drive_with(launcher_, study).counts.done, 1U);
  EXPECT_EQ(recalls, 2) << "one for each host";
}

TEST_F(HubHostsTest, NumbersArePassedOverUntilAllSuchHostsWereHeardOf) {
  // Attempt 1 has failed. A host of another site may have the same name.
  for (const auto& [site, next] : {std::pair("lab", 2U), {"farm", 3U}}) {
    options_.fresh = true;
    fail_once();
    give({site, "fake"});
    options_.fresh = false;
    launcher_.started.clear();
    drive_with(launcher_, study());
    EXPECT_THAT(launcher_.started, ElementsAre(TaskKey{run_, TaskId(1), AttemptId(next)}));
  }
}

TEST_F(HubHostsTest, AHostThatGoesIsForgottenUnlessItHasAnAttempt) {
  write("sweep.yaml", "command: echo {x}\nparameters: {x: [1]}\nresources: {cores: 2}\n");
  launcher_.announce(HostUp{{HostId(2), "idle", 1, 0, SiteId(1)}});
  launcher_.hold = true;
  int turns = 0;
  observer_.progress = [&](const Progress&) {
    ++turns;
    if (turns == 2) launcher_.announce(HostDown{HostId(2), "its time is over"});
    if (turns == 5) {
      EXPECT_THAT(given(), ElementsAre(store::SiteHost{"lab", "fake"}));
      launcher_.announce(HostDown{HostId(1), "no answer"});
      launcher_.given_up = true;
    }
  };
  Application study(spec::load_sweep((dir_ / "sweep.yaml").string()).value().sweep);
  EXPECT_EQ(drive_with(launcher_, study).counts.done, 0U);
  EXPECT_THAT(given(), ElementsAre(store::SiteHost{"lab", "fake"})) << "it may go on there";
}

}  // namespace
}  // namespace gantry::driver
