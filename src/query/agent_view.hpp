#pragma once
/// The state of tasks that the store does not know: those that run, and those whose end no gantry
/// has taken in. For this machine the agent's logs tell; for other sites, live.json of the gantry
/// that drives a run or was killed. The one place that tells the state of a run which nobody
/// drives. A value, made by reading files: disturbs nobody.

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
    ended,   ///< no gantry has taken its end in yet; `report` says how it ended
    unseen,  ///< it was at another site when its gantry was killed, and may still run there
  };
  State state = State::ended;
  AttemptReport report{};  ///< without what it printed
  std::string host{};      ///< at another site
  std::string site{};      ///< empty: this machine
};

class AgentView {
 public:
  /// Knows nothing.
  AgentView() = default;
  /// Logs of another version of Gantry are passed over; a run complains about them.
  explicit AgentView(const std::filesystem::path& state_dir);

  /// Null when nothing newer than the row is known. `row` is null for a task that never ended.
  [[nodiscard]] const AgentTask* find(RunId run, TaskId task, const store::TaskRow* row) const;

  /// How many tasks of a run are in which state.
  struct Tally {
    std::uint32_t running = 0;
    std::uint32_t ended = 0;
    std::uint32_t unseen = 0;
    std::set<std::string> sites{};  ///< of the unseen ones
    std::string grid{};             ///< the file that names these sites
  };
  [[nodiscard]] Result<Tally> count(const store::Store& store, RunId run) const;
  /// The grid file of the gantry that was killed; empty: none was.
  [[nodiscard]] const std::string& grid() const { return grid_; }

 private:
  void add(const TaskKey& key, AgentTask known);
  void add_sites(const store::LiveState& live, AgentTask::State state);

  std::map<RunId, std::map<TaskId, AgentTask>> runs_;
  std::string grid_;
};

}  // namespace gantry::query
