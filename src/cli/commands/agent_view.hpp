#pragma once
/// What is known of tasks beyond what the store says: which ones run, and ends that no gantry has
/// taken in. Of this machine its agent's logs tell; of other sites the gantry that drives a run, or
/// what one that was killed has shown last. The one place that tells the state of a run which
/// nobody drives. Disturbs nobody.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "actuate/launch/local/local_launcher.hpp"
#include "cli/context.hpp"
#include "store/live_state.hpp"
#include "store/store.hpp"

namespace gantry::cli {

/// A task of a run as its agent knows it.
struct WithAgent {
  bool runs = false;  ///< else it ended, and `report` says how, unless it is out of sight
  /// It was with another site's host when its gantry was last heard of: it may still run there.
  bool out_of_sight = false;
  AttemptReport report{};  ///< without what it printed
  std::string host{};      ///< of another site
  std::string site{};      ///< empty: this machine
};

class AgentView {
 public:
  /// Knows nothing.
  AgentView() = default;
  /// Nothing of this machine either when the logs are those of another version of Gantry, which a
  /// run will complain of.
  explicit AgentView(const Context& context);

  /// Null when nothing newer than the row is known, which is null for a task that never ended.
  [[nodiscard]] const WithAgent* find(RunId run, TaskId task, const store::TaskRow* row) const;

  struct Tally {
    std::uint32_t running = 0;
    std::uint32_t ended = 0;        ///< and not taken in
    std::uint32_t may_run = 0;      ///< out of sight
    std::set<std::string> sites{};  ///< of those
    std::string grid{};             ///< the file that names these sites
  };
  [[nodiscard]] Result<Tally> count(const store::Store& store, RunId run) const;
  /// The grid file of the gantry that was killed; empty: none was.
  [[nodiscard]] const std::string& grid() const { return grid_; }

 private:
  void add(const TaskKey& key, WithAgent known);
  void add_sites(const store::LiveState& live, bool driven);

  std::map<RunId, std::map<TaskId, WithAgent>> runs_;
  std::string grid_;
};

/// "gantry cancel --run 3 --grid grid.yaml": what ends tasks that may still run at sites. `tasks`:
/// only these; may be empty.
std::string cancel_command(RunId run, const std::string& tasks, const std::string& grid);

}  // namespace gantry::cli
