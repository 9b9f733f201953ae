#pragma once
/// Ends tasks that have outlived their gantry: by what the agents say is running, so that it does
/// not matter whether the study can still be read. One thread.

#include <vector>

#include "actuate/sites.hpp"
#include "driver/undriven_runs.hpp"

namespace gantry::operate {

/// Opens the sites, takes in what ended meanwhile, cancels what the requests name and waits
/// until it is gone; journals all of it. False when there was nothing to cancel.
Result<bool> cancel_orphans(Sites& sites, store::Store& store, driver::UndrivenRuns& runs,
                            const std::vector<store::Request>& requests, const Clock& clock);

/// The same for the runs of a state directory, whose lock this takes. Of the options only
/// state_dir, reload and grid matter: without a grid, only this machine is asked.
Result<bool> cancel_undriven(const std::vector<store::Request>& requests,
                             const driver::Options& options, const Clock& clock);

}  // namespace gantry::operate
