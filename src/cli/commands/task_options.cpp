#include "cli/commands/task_options.hpp"

namespace gantry::cli {

void add_task_options(CLI::App& command, TaskOptions& options) {
  command.add_option("SELECTOR", options.selector, "Tasks: all, 7 or 1,3,5-8")->type_name("");
  command.add_option("--run", options.run, "The run: last (default) or a number")->type_name("RUN");
}

void add_state_options(CLI::App& command, TaskOptions& options) {
  command.add_flag("--failed", options.states.failed, "Only tasks that failed");
  command.add_flag("--done", options.states.done, "Only tasks that succeeded");
  command.add_flag("--cancelled", options.states.cancelled, "Only tasks that were cancelled");
  command.add_flag("--pending", options.states.pending, "Only tasks that have not ended");
}

Result<query::TaskFilter> filter_of(const TaskOptions& options, const store::RunRecord& record) {
  TRY_ASSIGN(const query::TaskSelector selector, query::TaskSelector::parse(options.selector));
  query::TaskFilter filter = options.states;
  TRY_ASSIGN(filter.selector, selector.within(record.counts.total));
  return filter;
}

}  // namespace gantry::cli
