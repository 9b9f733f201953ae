#pragma once
/// Finding the run that a command is about, in the state directory.

#include <optional>
#include <string>
#include <string_view>

#include "cli/commands/agent_view.hpp"
#include "cli/context.hpp"
#include "store/store.hpp"

namespace gantry::cli {

struct StoredRun {
  store::Store store;
  store::RunRecord record;
};

/// An error that says what to do when there is no state yet.
Result<store::Store> open_store(const Context& context,
                                store::Access access = store::Access::read_only);

/// `selector` is "last" or a run's number.
Result<StoredRun> open_run(const Context& context, std::string_view selector,
                           store::Access access = store::Access::read_only);

/// The process that drives this run now; `holder` is what RunLock::holder() said.
std::optional<int> driver_of(const store::RunRecord& record, std::optional<int> holder);

/// "running", "interrupted" (run again to go on) or "finished".
std::string_view run_state(const store::RunRecord& record, std::optional<int> holder);

/// As the gantry that drives it forecast it, less what has passed since; of nothing when it has
/// not.
Eta eta_of(const store::RunRecord& record, TimePoint now);

/// What is neither ended nor running.
std::uint32_t pending_of(const store::Counts& counts);
/// Of those, what was at a site when its gantry was killed.
std::uint32_t unknown_of(const store::Counts& counts, const AgentView::Tally& outlived);

/// "the same gantry run again asks the sites; gantry cancel --run 3 --grid FILE ends what runs".
std::string next_for_unseen(RunId run, const std::string& grid);

/// What has outlived the gantry of this run; nothing as long as one drives it.
Result<AgentView::Tally> outlived(const store::Store& store, const AgentView& agent,
                                  const store::RunRecord& record, std::optional<int> holder);

/// One line of JSON for `status` and `runs`.
void append_run_json(std::string& out, const store::RunRecord& record, std::optional<int> holder,
                     const AgentView::Tally& outlived = {});

}  // namespace gantry::cli
