#pragma once
/// The options by which several commands choose tasks: a selector, `--run`, and states.

#include <CLI/App.hpp>
#include <string>

#include "query/stored_run.hpp"
#include "query/task_list.hpp"

namespace gantry::cli {

struct TaskOptions {
  std::string selector = "all";
  std::string run = "last";
  query::TaskFilter states{};  ///< without the selector
};

/// SELECTOR and --run.
void add_task_options(CLI::App& command, TaskOptions& options);
/// --pending, --done, --failed, --cancelled.
void add_state_options(CLI::App& command, TaskOptions& options);

/// What the options mean in this run.
Result<query::TaskFilter> filter_of(const TaskOptions& options, const store::RunRecord& record);

}  // namespace gantry::cli
