// gantry cancel: ends tasks of a run, whoever drives it.
#include <fmt/format.h>

#include <chrono>
#include <memory>
#include <thread>

#include "cli/commands.hpp"
#include "cli/error_report.hpp"
#include "cli/study.hpp"
#include "cli/task_options.hpp"
#include "driver/driver.hpp"
#include "store/run_lock.hpp"

namespace gantry::cli {
namespace {

using namespace std::chrono_literals;

/// A driver looks for requests ten times a second; one that does not in this time is stuck or
/// stopped.
constexpr auto kPatience = 10s;
constexpr auto kLook = 50ms;

enum class Answer {
  taken,    ///< journalled by the gantry that is at work here
  nothing,  ///< it has found nothing to cancel
  gone,     ///< that gantry has ended without it; the request is withdrawn
  silent,   ///< it waits, and so does the request
};

/// Whichever run that gantry (process `holder`) drives: its agent has the tasks of all runs.
Result<Answer> answer_of(const Context& context, StoredRun& run, const store::Request& request,
                         int holder) {
  store::Store& store = run.store;
  TRY_ASSIGN(const auto before, store.cancels_asked(request.run));
  TRY_ASSIGN(const auto id, store.post(request));
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  bool driven = true;
  while (driven) {
    // Asked first: what it took, it took before it ended.
    const auto now = store::RunLock::holder(context.state_dir);
    driven = now && (*now == holder || holder == 0);  // 0: it had not said who it is
    TRY_ASSIGN(const bool waits, store.is_waiting(id));
    if (!waits) break;
    if (driven && std::chrono::steady_clock::now() > deadline) return Answer::silent;
    if (driven) std::this_thread::sleep_for(kLook);
  }
  TRY_ASSIGN(const bool withdrawn, store.withdraw(id));
  if (withdrawn) return Answer::gone;
  TRY_ASSIGN(const auto after, store.cancels_asked(request.run));
  if (after > before) return Answer::taken;
  return driven ? Answer::nothing : Answer::gone;  // or a later session has dropped it
}

Result<bool> is_all_done(const StoredRun& run, const TaskFilter& chosen) {
  TaskFilter others = chosen;
  others.pending = others.failed = others.cancelled = true;
  bool all = true;
  TRY(for_each_task(run.store, run.record, others,
                    [&](TaskId, TaskState, const store::TaskRow*) { all = false; }));
  return all;
}

int nothing_to_cancel(Context& context) {
  context.note("nothing to cancel: these tasks have ended");
  return kExitOk;
}

Result<int> cancel_without_driver(Context& context, const store::Request& request) {
  driver::Options how;
  how.state_dir = context.state_dir;
  how.reload = reload_sweep;
  TRY_ASSIGN(const bool some, driver::cancel_undriven({request}, how, context.clock));
  if (!some) return nothing_to_cancel(context);
  context.note("cancelled");
  return kExitOk;
}

Result<int> cancel(Context& context, const TaskOptions& options) {
  store::Request request;
  {  // Closed again before the driver opens it.
    TRY_ASSIGN(StoredRun run, open_run(context, options.run, store::Access::read_write));
    TRY_ASSIGN(const TaskFilter filter, filter_of(options, run.record));
    request.run = run.record.id;
    request.all = filter.selector.all();
    if (!request.all) request.tasks = filter.selector.tasks(run.record.counts.total);
    if (const auto pid = store::RunLock::holder(context.state_dir)) {
      TRY_ASSIGN(const bool done, is_all_done(run, filter));
      if (done) return nothing_to_cancel(context);
      TRY_ASSIGN(const Answer answer, answer_of(context, run, request, *pid));
      if (answer == Answer::nothing) return nothing_to_cancel(context);
      if (answer == Answer::silent)
        return fail(ErrorCode::peer,
                    fmt::format("gantry (process {}) has not taken the request", *pid),
                    "is it stopped? It takes the request when it goes on");
      if (answer == Answer::taken) {
        context.note("cancelled; tasks that run are being ended");
        return kExitOk;
      }
    }
  }
  return cancel_without_driver(context, request);
}

}  // namespace

void add_cancel(CLI::App& app, Action& action) {
  auto options = std::make_shared<TaskOptions>();
  CLI::App* command =
      app.add_subcommand("cancel", "End running tasks and do not start pending ones");
  add_task_options(*command, *options);
  command->footer(
      "Works from another terminal while gantry run goes on, and also after it was\n"
      "killed and its tasks still run. Tasks that ended stay as they are; the next\n"
      "gantry run starts cancelled ones again.\n\n"
      "Examples:\n"
      "  gantry cancel            everything in the last run\n"
      "  gantry cancel 12,30-40");
  command->callback([options, &action] {
    action = [options](Context& context) { return cancel(context, *options); };
  });
}

}  // namespace gantry::cli
