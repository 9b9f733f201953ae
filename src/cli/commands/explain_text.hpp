#pragma once
/// The story of one task in words: what it is, what happened to it and why, what will happen next.
/// Pure.

#include <optional>
#include <string>
#include <vector>

#include "cli/commands/explain_place.hpp"
#include "cli/commands/task_list.hpp"
#include "model/task.hpp"
#include "store/store.hpp"

namespace gantry::cli {

/// A file that counts as an input although `inputs:` does not name it.
struct ImpliedInput {
  std::string path;
  std::string_view what;  ///< "program" or "value"
};

/// What such a task needs of memory, as tasks that ended have taught.
struct LearntMemory {
  std::uint64_t bytes = 0;
  std::uint64_t tasks = 0;
};

struct TaskStory {
  const store::RunRecord* run = nullptr;
  TaskId task;
  TaskState state = TaskState::pending;
  const store::TaskRow* row = nullptr;     ///< null when it never ended
  std::optional<Task> definition;          ///< when the study still gives the same tasks
  std::vector<store::HistoryRow> history;  ///< oldest first
  bool driven = false;                     ///< a gantry drives the run now
  const WithAgent* agent = nullptr;        ///< what the agent knows beyond that; may be null
  std::string grid{};                      ///< of a gantry that was killed: its grid file
  std::string output_dir;                  ///< where pack files lie
  std::vector<ImpliedInput> implied{};
  std::optional<TaskPlace> place{};  ///< when it has not ended, and its run goes on
  std::vector<RemoteFile> remote{};  ///< outputs that are at sites
  std::optional<LearntMemory> memory{};
};

/// One line each, not wrapped.
std::vector<std::string> explain(const TaskStory& story);

/// The same as one JSON object.
void append_explain_json(std::string& out, const TaskStory& story);

/// "input contents and environment": which parts differ; empty when none does or one is not known.
std::string changed_parts(const Fingerprint& before, const Fingerprint& after);

/// What the next `gantry run` of the study does with the task.
std::string what_comes_next(const TaskStory& story);

}  // namespace gantry::cli
