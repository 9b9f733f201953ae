#pragma once
/// For tests of runs that nobody drives: one of three tasks, whose journal the test writes.

#include <gtest/gtest.h>

#include <vector>

#include "driver/driver_fixture.hpp"
#include "driver/undriven_runs.hpp"

namespace gantry::driver {

class UndrivenRunsTest : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    options_.reload = [&](const store::RunRecord&) -> Result<Application> {
      return sweep({"echo", "{}", ":::", "a", "b", "c"});
    };
    store::RunRecord record;
    record.digest = sweep({"echo", "{}", ":::", "a", "b", "c"}).digest();
    record.counts.total = 3;
    run_ = open_store().create_run(record).value();
  }

  [[nodiscard]] ReportReceived report(std::uint32_t task, std::uint32_t attempt,
                                      FailureCause cause = FailureCause::none) const {
    ReportReceived received;
    received.report.key = {run_, TaskId(task), AttemptId(attempt)};
    received.report.cause = cause;
    received.fingerprint.command = Digest{1, 2};
    return received;
  }

  void journal(const Event& event) {
    auto store = open_store();
    ASSERT_TRUE(store.append(run_, event));
    ASSERT_TRUE(store.commit());
  }
  void journal_end(std::uint32_t task, std::uint32_t attempt, FailureCause cause) {
    AttemptEnded ended;
    ended.report = report(task, attempt, cause).report;
    journal(ended);
  }

  void take(std::vector<ReportReceived> reports) {
    auto store = open_store();
    UndrivenRuns runs(store, options_);
    for (auto& each : reports)
      EXPECT_EQ(runs.take(each, "here", from_ns(9)).value_or("an error"), "");
    ASSERT_TRUE(store.commit());
  }

  store::RunRecord record() { return open_store().run(run_).value().value(); }

  RunId run_;
  MonotonicClock clock_;
};

}  // namespace gantry::driver
