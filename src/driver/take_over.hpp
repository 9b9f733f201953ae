#pragma once
/// The first look at the agents, before a run is prepared: what became of other runs' tasks. One
/// thread.

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "actuate/sites.hpp"
#include "driver/driver.hpp"
#include "driver/undriven_runs.hpp"

namespace gantry::driver {

/// What the sites have told so far that is for the hub to take in.
struct Opened {
  std::vector<News> news;
  std::uint64_t receipt = 0;  ///< of the latest report, whoever's it was
};

/// Tasks of undriven runs that still run, and whose command or outputs one of the jobs' tasks has,
/// too: they must not run at once.
Result<std::set<TaskKey>> twins_of(std::span<const Job> jobs, UndrivenRuns& others);
/// The same of the jobs among each other. Error usage, naming two such tasks.
Result<> check_apart(std::span<const Job> jobs);

/// Opens the sites and journals how tasks of runs other than `ours` have ended. Those that still
/// run and are twins_of() the jobs' are waited for: what comes of them can be reused. Requests to
/// cancel them are carried out meanwhile; requests of earlier sessions are dropped.
Result<Opened> take_over(Sites& sites, Leftovers leftovers, store::Store& store,
                         UndrivenRuns& others, std::span<const Job> jobs,
                         const std::set<RunId>& ours, const Observer& observer, const Clock& clock);

}  // namespace gantry::driver
