#pragma once
/// For tests of the hub: drives studies with a launcher that does what the test says.

#include <memory>
#include <set>
#include <vector>

#include "driver/driver_fixture.hpp"
#include "driver/hub.hpp"
#include "driver/run_setup.hpp"
#include "driver/take_over.hpp"

namespace gantry::driver {

class HubTest : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    source_.base_dir = dir_;
  }

  /// One call of drive() with the fake launcher in place of this machine.
  Summary drive_with(FakeLauncher& launcher, Application& study) {
    return drive_all(launcher, {Job{study, source_}}).front();
  }
  Summary drive_with(FakeLauncher& launcher, Application&& study) {
    return drive_with(launcher, study);
  }

  std::vector<Summary> drive_all(FakeLauncher& launcher, const std::vector<Job>& jobs) {
    auto store = open_store();
    ContentCache contents(store);
    UndrivenRuns others(store, options_);
    std::set<RunId> ours;
    std::vector<std::optional<ContinuedRun>> continued;
    for (const Job& job : jobs) {
      continued.push_back(run_to_continue(store, job.application, options_).value());
      if (continued.back()) ours.insert(continued.back()->record.id);
    }
    GridLaunch sites(sites_with(launcher), options_, launcher.site != kHome);
    Hub hub(options_, observer_, store, contents, sites, others, *time_);
    auto opened =
        take_over(sites.sites(), Leftovers::possible, store, others, jobs, ours, observer_, *time_);
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      const auto added = hub.add(jobs[i], continued[i], options_);
      EXPECT_TRUE(added) << (added ? "" : added.error().message);
    }
    auto summaries = hub.run(std::move(*opened));
    EXPECT_TRUE(summaries) << (summaries ? "" : summaries.error().message);
    return *summaries;
  }

  SpecSource source_;
  MonotonicClock clock_;
  const Clock* time_ = &clock_;
  Observer observer_;
};

}  // namespace gantry::driver
