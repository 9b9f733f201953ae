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
  /// One call of drive() with the fake launcher in place of this machine.
  Summary drive_with(FakeLauncher& launcher, const Sweep& study) {
    return drive_all(launcher, {Job{study, source_}}).front();
  }

  std::vector<Summary> drive_all(FakeLauncher& launcher, const std::vector<Job>& jobs) {
    auto store = open_store();
    ContentCache contents(store);
    UndrivenRuns others(store, options_);
    std::set<RunId> ours;
    for (const Job& job : jobs)
      if (const auto run = run_to_continue(store, job.sweep, options_).value())
        ours.insert(run->id);
    GridLaunch sites(std::shared_ptr<Launcher>(&launcher, [](Launcher*) {}), options_,
                     launcher.site != kHome);
    Hub hub(options_, observer_, store, contents, sites, others, *time_);
    auto opened = take_over(launcher, store, others, jobs, ours, observer_, *time_);
    EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
    for (const Job& job : jobs) {
      const auto added = hub.add(job);
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
