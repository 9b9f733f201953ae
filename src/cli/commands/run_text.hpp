#pragma once
/// What several commands print about a stored run.

#include <string>

#include "query/remote_outputs.hpp"
#include "query/run_status.hpp"

namespace gantry::cli {

/// "gantry cancel --run 3 --grid grid.yaml": ends tasks that may still run at sites. `tasks`
/// selects some; empty: all.
std::string cancel_command(RunId run, const std::string& tasks, const std::string& grid);

/// What to type when tasks of a killed gantry may still run at sites.
std::string next_for_unseen(RunId run, const std::string& grid);

/// "lab, tower"
std::string sites_text(const query::AgentView::Tally& outlived);

/// "3 outputs (1 MiB) are kept at lab; gantry fetch brings them home", and what other runs have
/// there; empty when no output is at a site.
std::string remote_output_text(const store::RunRecord& run, const query::OutputsAtSites& outputs);

/// One line of JSON for `status` and `runs`.
void append_run_json(std::string& out, const store::RunRecord& record,
                     const query::RunStatus& status);

}  // namespace gantry::cli
