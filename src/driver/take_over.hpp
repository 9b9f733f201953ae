#pragma once
/// Opens the sites before a run is prepared, and takes in how tasks of other runs ended. One
/// thread.

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "actuate/sites.hpp"
#include "driver/driver.hpp"
#include "driver/undriven_runs.hpp"

namespace gantry::driver {

/// What the sites reported while they were opened, for the hub to take in.
struct Opened {
  std::vector<News> news;
  std::uint64_t receipt = 0;  ///< receipt of the latest report of any run
};

/// Tasks of undriven runs that still run and have the same command or outputs as a task of one of
/// the jobs: the two must not run at once.
Result<std::set<TaskKey>> twins_of(std::span<const Job> jobs, UndrivenRuns& others);
/// The same of the jobs' nodes among each other. Error usage, naming two such tasks.
Result<> check_apart(std::span<const Job> jobs);

/// Waits until the sites have news; not for long, because something else may be due.
Result<> wait_for_news(const Sites& sites);

/// Opens the sites and journals how tasks of runs other than `ours` have ended. Waits for running
/// tasks that are twins_of() the jobs, whose results can then be reused. Carries out requests to
/// cancel them meanwhile; drops requests from earlier sessions.
Result<Opened> take_over(Sites& sites, Leftovers leftovers, store::Store& store,
                         UndrivenRuns& others, std::span<const Job> jobs,
                         const std::set<RunId>& ours, const Observer& observer, const Clock& clock);

}  // namespace gantry::driver
