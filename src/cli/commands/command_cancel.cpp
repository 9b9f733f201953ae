// gantry cancel: ends tasks of a run, whoever drives it.
#include <filesystem>

#include "cli/commands/commands.hpp"
#include "cli/commands/study.hpp"
#include "cli/commands/task_options.hpp"
#include "cli/terminal/error_report.hpp"
#include "driver/driver.hpp"
#include "operate/orphan_cancel.hpp"
#include "query/ask_driver.hpp"
#include "spec/grid_file.hpp"
#include "store/live_state.hpp"
#include "store/run_lock.hpp"

namespace gantry::cli {
namespace {

Result<bool> is_all_done(const query::StoredRun& run, const query::TaskFilter& chosen) {
  query::TaskFilter others = chosen;
  others.pending = others.failed = others.cancelled = true;
  bool all = true;
  TRY(query::for_each_task(run.store, run.record, others,
                           [&](TaskId, query::TaskState, const store::TaskRow*) { all = false; }));
  return all;
}

int nothing_to_cancel(Context& context) {
  context.note("nothing to cancel: these tasks have ended");
  return kExitOk;
}

/// 0: by whomever it is.
bool is_held_by(const Context& context, int pid) {
  const auto now = store::RunLock::holder(context.state_dir);
  return now && (*now == pid || pid == 0);
}

Result<int> cancel_without_driver(Context& context, const store::Request& request,
                                  const std::string& grid) {
  driver::Options how;
  how.state_dir = context.state_dir;
  how.reload = reload_application;
  if (!grid.empty()) {
    TRY_ASSIGN(how.grid, spec::load_grid(grid));
  }
  TRY_ASSIGN(const bool some, operate::cancel_undriven({request}, how, context.clock));
  if (!some) return nothing_to_cancel(context);
  context.note("cancelled");
  // Nothing of it runs at its sites any more.
  const auto left = store::read_left_live(context.state_dir);
  if (!grid.empty() && request.all && left && left->run == request.run.value())
    store::forget_left_live(context.state_dir);
  // Runs here have used other sites.
  if (grid.empty() && std::filesystem::exists(context.state_dir / "id"))
    context.note("only tasks of this machine were ended; --grid FILE also ends those at its sites");
  return kExitOk;
}

struct CancelOptions {
  TaskOptions tasks;
  std::string grid;
};

Result<int> cancel(Context& context, const CancelOptions& all) {
  const TaskOptions& options = all.tasks;
  store::Request request;
  {  // Closed again before the driver opens it.
    TRY_ASSIGN(query::StoredRun run,
               query::open_run(context.state_dir, options.run, store::Access::read_write));
    TRY_ASSIGN(const query::TaskFilter filter, filter_of(options, run.record));
    request.run = run.record.id;
    request.all = filter.selector.all();
    if (!request.all) request.tasks = filter.selector.tasks(run.record.counts.total);
    if (const auto pid = store::RunLock::holder(context.state_dir)) {
      TRY_ASSIGN(const bool done, is_all_done(run, filter));
      if (done) return nothing_to_cancel(context);
      // Whichever run that gantry drives: its agent has the tasks of all runs.
      TRY_ASSIGN(const auto before, run.store.cancels_asked(request.run));
      TRY_ASSIGN(const query::Answer answer,
                 query::ask_driver(context.state_dir, run.store, request, *pid));
      if (answer == query::Answer::silent) return query::fail_silent(*pid);
      TRY_ASSIGN(const auto after, run.store.cancels_asked(request.run));
      if (after > before) {
        context.note("cancelled; running tasks are being ended");
        return kExitOk;
      }
      if (answer == query::Answer::taken && is_held_by(context, *pid))
        return nothing_to_cancel(context);
    }
  }
  return cancel_without_driver(context, request, all.grid);
}

}  // namespace

void add_cancel(CLI::App& app, Action& action) {
  const auto [command, options] =
      add_command(app, action, "cancel", "End running tasks and do not start pending ones", cancel);
  add_task_options(*command, options->tasks);
  command->add_option("--grid", options->grid, "Also end tasks at the sites of FILE")
      ->type_name("FILE");
  command->footer(
      "Works from another terminal during gantry run, and after gantry was killed while\n"
      "tasks still run; then --grid also reaches those at the sites of a grid file.\n"
      "Tasks that have ended stay as they are. The next gantry run starts cancelled\n"
      "tasks again.\n"
      "\n"
      "Examples:\n"
      "  gantry cancel            everything in the last run\n"
      "  gantry cancel 12,30-40\n"
      "  gantry cancel --grid grid.yaml");
}

}  // namespace gantry::cli
