#pragma once
/// The story of one task: what it is, what happened to it, where it is, and what the next run does
/// with it. Answers are plain values; the store, live.json and the agent's logs are only read.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/application.hpp"
#include "query/stored_run.hpp"
#include "query/task_list.hpp"
#include "query/task_place.hpp"

namespace gantry::query {

/// A file that counts as an input although `inputs:` does not name it.
struct ImpliedInput {
  enum class Kind : std::uint8_t {
    program,  ///< the command's program, or a script that it runs
    value,    ///< a parameter's value that names a file
  };
  std::string path;
  Kind kind = Kind::program;
};

/// The memory that a task needs, learnt from tasks that ended.
struct LearntMemory {
  std::uint64_t bytes = 0;
  std::uint64_t tasks = 0;
};

struct TaskStory {
  RunId run{};
  std::string run_name{};
  TaskId task{};
  TaskState state = TaskState::pending;
  std::optional<store::TaskRow> row{};       ///< nothing if it never ended
  std::optional<Task> definition{};          ///< only if the study still gives the same tasks
  std::vector<store::HistoryRow> history{};  ///< oldest first
  bool driven = false;                       ///< a gantry drives the run now
  std::optional<AgentTask> agent{};          ///< what the agent knows beyond the store
  std::string grid{};                        ///< the grid file of a gantry that was killed
  std::vector<ImpliedInput> implied{};
  std::optional<TaskPlace> place{};  ///< only if it has not ended and its run is in progress
  std::vector<RemoteFile> remote{};  ///< outputs that are at sites
  std::optional<LearntMemory> memory{};
};

struct StorySources {
  std::filesystem::path state_dir;
  const Application* study = nullptr;  ///< null if the study gives other tasks now
  /// For tasks with `memory: learn`; may be empty.
  std::function<std::optional<LearntMemory>(TaskId)> learnt_memory{};
  TimePoint now{};
};

/// Passes the stories of the tasks that the filter selects to the sink, by number, until it returns
/// false. REQUIRES: as in for_each_task().
Result<> for_each_story(const StoredRun& run, const TaskFilter& filter, const StorySources& sources,
                        const std::function<bool(const TaskStory&)>& sink);

/// Which parts of two fingerprints differ; none if one of them is not known.
struct ChangedParts {
  bool command = false;
  bool environment = false;
  bool inputs = false;  ///< the contents of the inputs or the program
};
[[nodiscard]] ChangedParts changed_parts(const Fingerprint& before, const Fingerprint& after);

/// What happens to the task next.
enum class NextStep : std::uint8_t {
  new_run,      ///< the study gives other tasks: a new run takes over what is unchanged
  keep_result,  ///< it is done
  run_again,    ///< it is done, but an input changed while it ran
  try_again,    ///< it failed or was cancelled: the next run tries it again
  go_on,        ///< it runs
  adopt,        ///< it runs without a gantry: the next run adopts it
  ask_site,     ///< it was at a site when its gantry was killed: the next run asks there
  await_turn,   ///< it waits in the run in progress
  take_in_end,  ///< it has ended; the next run records that
  start,        ///< the next run starts it
};
[[nodiscard]] NextStep next_step(const TaskStory& story);

}  // namespace gantry::query
