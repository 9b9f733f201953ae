// gantry retry: some tasks of a run again.
#include <fmt/format.h>

#include <memory>

#include "cli/commands/commands.hpp"
#include "cli/commands/run_session.hpp"
#include "cli/commands/study.hpp"
#include "cli/commands/task_options.hpp"
#include "cli/terminal/error_report.hpp"

namespace gantry::cli {
namespace {

struct RetryOptions {
  TaskOptions tasks;
  SessionOptions session;
};

Result<int> retry(Context& context, const RetryOptions& options) {
  SessionOptions session = options.session;
  std::optional<store::RunRecord> record;
  {  // Closed again before the driver opens it.
    TRY_ASSIGN(query::StoredRun run, query::open_run(context.state_dir, options.tasks.run));
    TRY_ASSIGN(const query::TaskFilter filter, filter_of(options.tasks, run.record));
    record = std::move(run.record);
    const auto& counts = record->counts;
    if (options.tasks.states.failed && record->state == store::RunState::finished &&
        counts.failed + counts.cancelled == 0) {
      context.note(fmt::format("nothing to retry: no task of run {} failed or was cancelled",
                               record->id.value()));
      return kExitOk;
    }
    session.how.continue_run = record->id;
    session.how.only_failed = options.tasks.states.failed;
    if (!options.tasks.states.failed)
      session.how.only = filter.selector.tasks(record->counts.total);
  }
  TRY_ASSIGN(auto study, reload_study(*record));
  TRY(study.application.check_inputs());
  std::vector<Study> studies;
  studies.push_back(std::move(study));
  return run_session(context, studies, {1}, session);
}

}  // namespace

void add_retry(CLI::App& app, Action& action) {
  auto options = std::make_shared<RetryOptions>();
  CLI::App* command = app.add_subcommand("retry", "Run tasks of a run again");
  auto* selector = command
                       ->add_option("SELECTOR", options->tasks.selector,
                                    "Tasks, whatever their state: 7, 1,3,5-8, all")
                       ->type_name("");
  command->add_option("--run", options->tasks.run, "The run: last (default) or a number")
      ->type_name("RUN");
  command
      ->add_flag("--failed", options->tasks.states.failed,
                 "All that failed or were cancelled (default)")
      ->excludes(selector);
  add_session_options(*command, options->session);
  command->footer(
      "Examples:\n"
      "  gantry retry              all failed tasks\n"
      "  gantry retry 17,20-25     these tasks, even if they succeeded");
  command->callback([options, selector, &action] {
    if (selector->count() == 0) options->tasks.states.failed = true;
    action = [options](Context& context) { return retry(context, *options); };
  });
}

}  // namespace gantry::cli
