#pragma once
/// Outputs that stayed at the sites where they were made (`keep: remote`), and to which run they
/// belong. The same for whoever shows them and for whoever fetches them.

#include <map>
#include <string>
#include <vector>

#include "query/selector.hpp"
#include "query/stored_run.hpp"
#include "store/store.hpp"

namespace gantry::query {

using RemoteOutputs = std::vector<store::Store::RemoteOutput>;

/// Those among `all` that belong to the chosen tasks of the run, also when an earlier run made
/// them. `reload` is called only when some were.
RemoteOutputs outputs_of(const store::RunRecord& run, const TaskSelector& tasks, RemoteOutputs all,
                         const ReloadSweep& reload);

/// Those that no later attempt has replaced.
struct OutputsAtSites {
  RemoteOutputs of_run;
  RemoteOutputs of_others;
  bool is_last_run = false;
};
Result<OutputsAtSites> outputs_at_sites(const store::Store& store, const store::RunRecord& run,
                                        const ReloadSweep& reload);

/// The sites that have outputs of the run's tasks.
using OutputSites = std::map<TaskId, std::string>;
Result<OutputSites> output_sites(const store::Store& store, RunId run);

}  // namespace gantry::query
