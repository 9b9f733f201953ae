#pragma once
/// The state of tasks that the store does not know yet: those that run, and those whose end no
/// gantry has recorded. For this machine it comes from the agent's logs; for other sites, from
/// live.json of the gantry that drives the run or was killed. The only place that knows the state
/// of a run without a driver. A value; only reads files.

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>

#include "model/outcome.hpp"
#include "store/live_state.hpp"
#include "store/store.hpp"

namespace gantry::query {

/// The latest attempt at a task, as its agent knows it.
struct AgentTask {
  enum class State : std::uint8_t {
    running,
    ended,   ///< no gantry has recorded its end yet; `report` says how it ended
    unseen,  ///< it was at another site when its gantry was killed, and may still run there
  };
  State state = State::ended;
  AttemptReport report{};  ///< without its output
  std::string host{};      ///< at another site
  std::string site{};      ///< empty: this machine
};

class AgentView {
 public:
  /// Knows nothing.
  AgentView() = default;
  /// Skips logs of another version of Gantry; `gantry run` complains about those.
  explicit AgentView(const std::filesystem::path& state_dir);

  /// Null if nothing newer than the row is known. `row` is null for a task that never ended.
  [[nodiscard]] const AgentTask* find(RunId run, TaskId task, const store::TaskRow* row) const;

  /// How many tasks of a run are in each state.
  struct Tally {
    std::uint32_t running = 0;
    std::uint32_t ended = 0;
    std::uint32_t unseen = 0;
    std::set<std::string> sites{};  ///< where the unseen ones were
    std::string grid{};             ///< the file that names these sites
  };
  [[nodiscard]] Result<Tally> count(const store::Store& store, RunId run) const;
  /// The grid file of the gantry that was killed; empty if none was.
  [[nodiscard]] const std::string& grid() const { return grid_; }

 private:
  void add(const TaskKey& key, AgentTask known);
  void add_sites(const store::LiveState& live, AgentTask::State state);

  std::map<RunId, std::map<TaskId, AgentTask>> runs_;
  std::string grid_;
};

}  // namespace gantry::query
