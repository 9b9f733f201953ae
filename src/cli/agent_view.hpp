#pragma once
/// What the agent of a state directory knows that the store does not: tasks that run, and ends that
/// no gantry has taken in. The one place that tells the state of a run which nobody drives. Reads
/// the agent's logs and disturbs nobody.

#include <cstdint>
#include <map>
#include <optional>

#include "actuate/launch/local_launcher.hpp"
#include "cli/context.hpp"
#include "store/store.hpp"

namespace gantry::cli {

/// A task of a run as its agent knows it.
struct WithAgent {
  bool runs = false;     ///< else it ended, and `report` says how
  AttemptReport report;  ///< without what it printed
};

class AgentView {
 public:
  /// Knows nothing.
  AgentView() = default;
  /// Nothing either when the logs are those of another version of Gantry, which a run will complain
  /// of.
  explicit AgentView(const Context& context);

  /// Null when the agent knows nothing newer than the row, which is null for a task that never
  /// ended.
  [[nodiscard]] const WithAgent* find(RunId run, TaskId task, const store::TaskRow* row) const;

  struct Tally {
    std::uint32_t running = 0;
    std::uint32_t ended = 0;  ///< and not taken in
  };
  [[nodiscard]] Result<Tally> count(const store::Store& store, RunId run) const;

 private:
  std::map<RunId, std::map<TaskId, WithAgent>> runs_;
};

}  // namespace gantry::cli
