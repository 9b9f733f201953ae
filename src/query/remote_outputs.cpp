#include "query/remote_outputs.hpp"

#include <algorithm>
#include <set>
#include <string>

namespace gantry::query {
namespace {

/// The paths among `outputs` that the chosen tasks write.
std::set<std::string> written_by_study(const store::RunRecord& run, const TaskSelector& tasks,
                                       const RemoteOutputs& outputs, const ReloadStudy& reload) {
  std::set<std::string> known;
  for (const auto& output : outputs) known.insert(output.file.path);
  std::set<std::string> theirs;
  const auto study = reload(run);
  Task task;
  for (std::uint32_t i = 1; study && i <= run.counts.total; ++i) {
    if (!tasks.contains(TaskId(i))) continue;
    study->fill_task(TaskId(i), task);
    for (const auto& path : task.outputs)
      if (known.contains(path)) theirs.insert(path);
  }
  return theirs;
}

/// Moves the outputs of the run to the front. Returns where the others begin.
RemoteOutputs::iterator partition(const store::RunRecord& run, const TaskSelector& tasks,
                                  RemoteOutputs& all, const ReloadStudy& reload) {
  const auto made_here = [&](const auto& output) {
    return output.made_by.run == run.id && tasks.contains(output.made_by.task);
  };
  std::set<std::string> theirs;  // a look at every task, which is seldom needed
  if (!std::ranges::all_of(all, made_here)) theirs = written_by_study(run, tasks, all, reload);
  return std::stable_partition(all.begin(), all.end(), [&](const auto& output) {
    return made_here(output) || theirs.contains(output.file.path);
  });
}

}  // namespace

RemoteOutputs outputs_of(const store::RunRecord& run, const TaskSelector& tasks, RemoteOutputs all,
                         const ReloadStudy& reload) {
  all.erase(partition(run, tasks, all, reload), all.end());
  return all;
}

Result<OutputsAtSites> outputs_at_sites(const store::Store& store, const store::RunRecord& run,
                                        const ReloadStudy& reload) {
  TRY_ASSIGN(RemoteOutputs all, store.remote_outputs());
  std::erase_if(all, [](const auto& output) { return output.replaced; });
  if (all.empty()) return OutputsAtSites{};
  const auto others = partition(run, TaskSelector(), all, reload);
  TRY_ASSIGN(const auto last, store.last_run());
  return OutputsAtSites{{all.begin(), others}, {others, all.end()}, last && last->id == run.id};
}

Result<OutputSites> output_sites(const store::Store& store, RunId run) {
  OutputSites sites;
  TRY_ASSIGN(const auto outputs, store.remote_outputs());
  for (const auto& output : outputs)
    if (output.made_by.run == run && !output.replaced)
      sites[output.made_by.task] = output.file.site;
  return sites;
}

}  // namespace gantry::query
