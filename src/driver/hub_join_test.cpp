// Studies that join a hub while it runs others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include "driver/hub_fixture.hpp"

namespace gantry::driver {
namespace {

using ::testing::SizeIs;

/// The hub's own run has one task, which ends when the test says so; guests' tasks end at once.
class HubJoinTest : public HubTest {
 protected:
  void SetUp() override {
    HubTest::SetUp();
    launcher_.outcome = [&](const Task&, AttemptReport& report) {
      launcher_.hold = report.key == launcher_.started.front();
    };
    options_.load = [&](const SpecSource& source) -> Result<Application> {
      return sweep(source.args);
    };
  }

  std::int64_t ask(const std::vector<std::string>& words) {
    SpecSource source = source_;
    source.args = words;
    return open_store().post({.study = store::StudyRequest{source}}).value();
  }

  /// The run that the study became, if there is an answer already.
  std::optional<RunId> answer(std::int64_t request) {
    const auto told = open_store().take_answer(request).value();
    if (!told) return std::nullopt;
    EXPECT_TRUE(*told) << told->error().message;
    return **told;
  }

  /// Why the study cannot join, if there is an answer already.
  std::optional<Error> refusal(std::int64_t request) {
    const auto told = open_store().take_answer(request).value();
    if (!told) return std::nullopt;
    EXPECT_FALSE(*told);
    return *told ? Error{} : told->error();
  }

  bool is_driven(RunId run) { return open_store().run(run).value()->pid != 0; }

  /// Runs the hub. `looks` is called until it returns true, or in vain for some seconds.
  void drive_until(const std::function<bool(const Progress&)>& looks) {
    Application own = sweep({"echo", "own", "{}", ":::", "x"});
    int left = 200;
    bool seen = false;
    observer_.progress = [&](const Progress& progress) {
      if (launcher_.started.empty() || left == 0) return;
      seen = looks(progress);
      left = seen ? 0 : left - 1;
      if (left > 0) return;
      AttemptReport made;
      made.key = launcher_.started.front();
      made.started = from_ns(1);
      made.ended = from_ns(2);
      launcher_.report(std::move(made));
    };
    EXPECT_EQ(drive_with(launcher_, own).counts.done, 1U);
    EXPECT_TRUE(seen);
  }

  FakeLauncher launcher_;
};

TEST_F(HubJoinTest, AGuestThatHasEndedIsForgottenAndCanJoinAgain) {
  const std::vector<std::string> study{"echo", "guest", "{}", ":::", "a", "b"};
  std::int64_t request = 0;
  std::optional<RunId> run;
  int ended = 0;
  drive_until([&](const Progress& progress) {
    if (request == 0) request = ask(study);
    if (!run) run = answer(request);
    if (!run || is_driven(*run) || !progress.runs.empty()) return false;
    EXPECT_EQ(*run, RunId(2));
    EXPECT_EQ(progress.counts.total, 1U) << "of the run that is left";
    EXPECT_THAT(rows(*run), SizeIs(2));
    request = 0;
    run.reset();
    return ++ended == 2;
  });
  EXPECT_THAT(launcher_.started, SizeIs(3)) << "nothing runs twice";
}

TEST_F(HubJoinTest, NobodyWaitsWhileTheInputsOfAGuestAreRead) {
  FakeLauncher earlier;
  drive_with(earlier,
             sweep({"echo", "earlier", "{}", ":::", "a"}));  // may know the guest's results
  write("large", "");
  std::filesystem::resize_file(dir_ / "large", std::uintmax_t{16} << 30);  // a hole: takes seconds
  write("guest.yaml", "command: cat large\ninputs: [large]\n");
  options_.load = [&](const SpecSource&) -> Result<Application> {
    return Application(spec::load_sweep((dir_ / "guest.yaml").string()).value().sweep);
  };
  std::int64_t request = 0;
  int looks = 0;
  drive_until([&](const Progress&) {
    if (request == 0) request = ask({});
    const auto run = answer(request);
    if (!run && !open_store().is_waiting(request).value() && ++looks == 5)
      std::filesystem::resize_file(dir_ / "large", 1);
    EXPECT_EQ(run.value_or(RunId(3)), RunId(3));
    return run.has_value();
  });
  EXPECT_GE(looks, 5);
}

/// The hub has looked at the run before it became a guest.
TEST_F(HubJoinTest, AGuestThatHasEndedIsCancelledByWhatTheJournalSaysNow) {
  write("guest.yaml", "command: cat large {x}\nparameters: {x: [1, 2]}\ninputs: [large]\n");
  const auto guest = [&] {
    return Application(spec::load_sweep((dir_ / "guest.yaml").string()).value().sweep);
  };
  options_.load = [&](const SpecSource&) -> Result<Application> { return guest(); };
  options_.reload = [&](const store::RunRecord&) -> Result<Application> { return guest(); };
  write("large", "");
  std::filesystem::resize_file(dir_ / "large", std::uintmax_t{1} << 40);  // a hole: takes minutes
  observer_.progress = [looks = 0](const Progress&) mutable {
    if (++looks == 3) ::kill(::getpid(), SIGINT);
  };
  FakeLauncher unused;
  const RunId run = drive_with(unused, guest()).run;
  EXPECT_THAT(unused.started, SizeIs(0)) << "it was interrupted before its tasks began";
  std::filesystem::resize_file(dir_ / "large", 1);

  std::int64_t first = 0;
  std::int64_t joins = 0;
  std::int64_t second = 0;
  const auto is_taken = [&](std::int64_t id) { return !open_store().is_waiting(id).value(); };
  drive_until([&](const Progress&) {
    if (first == 0) first = open_store().post({.run = run, .tasks = {TaskId(1)}}).value();
    if (joins == 0 && is_taken(first)) joins = ask({});
    const auto record = open_store().run(run).value();
    if (second == 0 && record->state == store::RunState::finished && record->pid == 0)
      second = open_store().post({.run = run, .all = true}).value();
    return second != 0 && is_taken(second);
  });
  const auto record = open_store().run(run).value();
  EXPECT_EQ(record->state, store::RunState::finished);
  EXPECT_EQ(record->counts.done, 2U);
  EXPECT_EQ(record->counts.cancelled, 0U);
}

TEST_F(HubJoinTest, AStudyWaitsForWhatAKilledGantryLeftUntilItsHostIsGone) {
  const std::vector<std::string> study{"echo", "left", "{}", ":::", "a", "b"};
  options_.reload = [&](const store::RunRecord& run) { return options_.load(run.source); };
  source_.args = study;
  FakeLauncher killed;
  killed.outcome = [](const Task&, AttemptReport& report) {
    report.cause = FailureCause::exit_code;
  };
  const RunId left = drive_with(killed, sweep(study)).run;
  const auto runs_there = [&](std::uint32_t task) {
    return AttemptStarted{{left, TaskId(task), AttemptId(2)}, HostId(2), from_ns(1)};
  };
  launcher_.announce(HostUp{{HostId(2), "far", 2, 0}});
  launcher_.announce(runs_there(1));
  launcher_.announce(runs_there(2));
  std::vector<Error> refused;
  std::int64_t request = 0;
  drive_until([&](const Progress&) {
    if (request == 0) request = ask(study);
    if (refused.size() == 2) return answer(request) == left;
    if (const auto why = refusal(request)) {
      refused.push_back(*why);
      request = 0;
      if (refused.size() == 1)
        launcher_.announce(AttemptReturned{runs_there(1).key, HostId(2)});
      else
        launcher_.announce(HostDown{HostId(2), "no answer"});
    }
    return false;
  });
  ASSERT_THAT(refused, SizeIs(2));
  EXPECT_EQ(refused[0].message,
            "run 1 still has 2 running tasks, left by a gantry that was killed");
  EXPECT_EQ(refused[0].hint, "wait for them, or end them with 'gantry cancel --run 1'");
  EXPECT_EQ(refused[1].message, "run 1 still has 1 running task, left by a gantry that was killed");
}

TEST_F(HubJoinTest, AnEditOfAStudyThatRunsIsNamedAsTheReason) {
  options_.reload = [&](const store::RunRecord& run) { return options_.load(run.source); };
  launcher_.hold = true;
  launcher_.outcome = {};
  std::int64_t request = 0;
  std::optional<RunId> guest;
  std::optional<Error> refused;
  drive_until([&](const Progress&) {
    if (request == 0) request = ask({"echo", "guest", "{}", ":::", "a"});
    if (!guest) {
      guest = answer(request);
      if (guest) request = ask({"echo", "guest", "{}", ":::", "a", "b"});
    } else if (!refused) {
      refused = refusal(request);
    }
    if (!refused || launcher_.started.size() < 2) return false;
    AttemptReport made;
    made.key = launcher_.started.back();
    launcher_.report(std::move(made));
    return true;
  });
  EXPECT_EQ(refused.value_or(Error{}).message,
            "run 2 still runs the study as it was before your edit");
}

TEST_F(HubJoinTest, AGuestHasHeardOfHostsThatAreUp) {
  launcher_.site = SiteId(1);
  options_.grid.emplace();
  options_.grid->sites.resize(2);
  options_.grid->sites[1].name = "lab";
  const std::vector<std::string> study{"echo", "guest", "{}", ":::", "a"};
  source_.args = study;
  FakeLauncher killed;
  killed.outcome = [](const Task&, AttemptReport& report) {
    report.cause = FailureCause::exit_code;
  };
  const RunId run = drive_with(killed, sweep(study)).run;
  {
    auto store = open_store();
    store.give(run, {"lab", "fake"});
    ASSERT_TRUE(store.commit());
  }
  std::int64_t request = 0;
  drive_until([&](const Progress&) {
    if (request == 0) request = ask(study);
    return launcher_.started.size() == 2;
  });
  EXPECT_EQ(launcher_.started.back(), (TaskKey{run, TaskId(1), AttemptId(2)}))
      << "no number is passed over";
}

}  // namespace
}  // namespace gantry::driver
