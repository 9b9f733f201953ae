#pragma once
/// Outputs that stayed at the sites where they were made (`keep: remote`), and the runs they belong
/// to. Commands that show them and `gantry fetch` use the same rules.

#include <map>
#include <string>
#include <vector>

#include "query/selector.hpp"
#include "query/stored_run.hpp"
#include "store/store.hpp"

namespace gantry::query {

using RemoteOutputs = std::vector<store::Store::RemoteOutput>;

/// The outputs in `all` that belong to the chosen tasks of the run, including those that an earlier
/// run made. `reload` is called only if there are such.
RemoteOutputs outputs_of(const store::RunRecord& run, const TaskSelector& tasks, RemoteOutputs all,
                         const ReloadStudy& reload);

/// Outputs that no later attempt has replaced.
struct OutputsAtSites {
  RemoteOutputs of_run;
  RemoteOutputs of_others;
  bool is_last_run = false;
};
Result<OutputsAtSites> outputs_at_sites(const store::Store& store, const store::RunRecord& run,
                                        const ReloadStudy& reload);

/// By task: the sites that have its outputs.
using OutputSites = std::map<TaskId, std::string>;
Result<OutputSites> output_sites(const store::Store& store, RunId run);

}  // namespace gantry::query
