// gantry log: what tasks printed.
#include <fmt/format.h>

#include "cli/commands/attempt_output.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/task_options.hpp"
#include "cli/terminal/error_report.hpp"
#include "query/find_attempt.hpp"

namespace gantry::cli {
namespace {

struct LogOptions {
  TaskOptions tasks;
  bool only_stdout = false;
  bool only_stderr = false;
  std::uint32_t attempt = 0;
};

void print_heading(Context& context, TaskId task, const store::HistoryRow& row, bool& first) {
  const std::string what = row.report.cause == FailureCause::none
                               ? "done"
                               : describe(row.report.cause, row.report.code, "");
  const std::string line = fmt::format("==> task {}, attempt {}: {} <==", task.value(),
                                       row.report.key.attempt.value(), what);
  if (!first) context.out.line("");
  first = false;
  context.out.line(paint(line, Color::bold, context.terminal.color_stdout));
}

Result<int> show_log(Context& context, const LogOptions& options) {
  TRY_ASSIGN(const query::StoredRun run, query::open_run(context.state_dir, options.tasks.run));
  TRY_ASSIGN(const query::TaskFilter filter, filter_of(options.tasks, run.record));
  const bool several = filter.selector.count(run.record.counts.total) > 1;
  bool first = true;
  bool found = false;
  bool removed = false;
  Result<> failure;
  TRY(query::for_each_task(
      run.store, run.record, filter, [&](TaskId task, query::TaskState, const store::TaskRow* row) {
        if (row == nullptr || context.out.closed() || !failure) return;
        auto attempt =
            query::find_attempt(run.store, run.record.id, task, AttemptId{options.attempt});
        if (!attempt) {
          failure = tl::unexpected(attempt.error());
          return;
        }
        if (!*attempt) {
          removed |= row->reused && options.attempt == 0;
          return;
        }
        found = true;
        if (several) print_heading(context, task, **attempt, first);
        const StreamChoice streams{!options.only_stderr || options.only_stdout,
                                   !options.only_stdout || options.only_stderr,
                                   options.only_stderr};
        print_attempt(context, (*attempt)->report, streams);
      }));
  TRY(failure);
  if (!found && options.attempt > 0)
    return fail(ErrorCode::usage, fmt::format("no attempt {} has ended", options.attempt),
                "'gantry explain' lists a task's attempts");
  if (removed)
    context.note(several ? "what some of these tasks printed was removed with the run that ran them"
                         : "what this task printed was removed with the run that ran it");
  else if (!found)
    context.note(several ? "none of these tasks has printed anything yet"
                         : "this task has not ended yet");
  return kExitOk;
}

}  // namespace

void add_log(CLI::App& app, Action& action) {
  const auto [command, options] =
      add_command(app, action, "log", "Print what tasks printed", show_log);
  add_task_options(*command, options->tasks);
  add_state_options(*command, options->tasks);
  command->add_flag("--stdout", options->only_stdout, "Only standard output");
  command->add_flag("--stderr", options->only_stderr, "Only standard error, on standard output");
  command->add_option("--attempt", options->attempt, "This attempt instead of the latest")
      ->type_name("N");
  command->footer(
      "A task's standard output goes to standard output, its standard error to\n"
      "standard error. On a terminal, control characters are shown, not obeyed.\n"
      "\n"
      "Examples:\n"
      "  gantry log 17                    what task 17 printed\n"
      "  gantry log --failed --stderr     the errors of all failed tasks\n"
      "  gantry log 3 --stdout > out.txt  the exact bytes");
}

}  // namespace gantry::cli
