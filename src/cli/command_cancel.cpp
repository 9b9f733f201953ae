// gantry cancel: ends tasks of a run, whoever drives it.
#include <fmt/format.h>

#include <algorithm>
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

/// The first chosen task that has not ended, if there is one.
Result<std::optional<TaskId>> first_open(const StoredRun& run, TaskFilter filter) {
  filter.pending = true;
  std::optional<TaskId> first;
  TRY(for_each_task(run.store, run.record, filter,
                    [&](TaskId task, TaskState, const store::TaskRow*) {
                      if (!first) first = task;
                    }));
  return first;
}

Result<std::size_t> times_asked(const StoredRun& run, TaskId task) {
  TRY_ASSIGN(const auto history, run.store.history(run.record.id, task));
  return static_cast<std::size_t>(
      std::ranges::count(history, std::string("cancel asked"), &store::HistoryRow::kind));
}

/// Until the driver has journalled the request for `witness`, one of the tasks it is about.
Result<bool> wait_until_taken(const Context& context, const StoredRun& run, TaskId witness,
                              std::size_t before) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (std::chrono::steady_clock::now() < deadline) {
    TRY_ASSIGN(const std::size_t now, times_asked(run, witness));
    if (now > before) return true;
    TRY_ASSIGN(const auto row, run.store.task(run.record.id, witness));
    if (state_of(row ? &*row : nullptr) != TaskState::pending)
      return true;  // it ended by itself meanwhile
    if (!store::RunLock::holder(context.state_dir)) return false;
    std::this_thread::sleep_for(kLook);
  }
  return false;
}

Result<int> ask_driver(Context& context, StoredRun& run, const store::Request& request,
                       TaskId witness, int pid) {
  TRY_ASSIGN(const std::size_t before, times_asked(run, witness));
  TRY(run.store.post(request));
  TRY_ASSIGN(const bool taken, wait_until_taken(context, run, witness, before));
  if (!taken)
    return fail(ErrorCode::peer, fmt::format("gantry (process {}) has not taken the request", pid),
                "is it stopped? It takes the request when it goes on");
  context.note("cancelled; tasks that run are being ended");
  return kExitOk;
}

Result<int> cancel(Context& context, const TaskOptions& options) {
  TRY_ASSIGN(StoredRun run, open_run(context, options.run, store::Access::read_write));
  TRY_ASSIGN(const TaskFilter filter, filter_of(options, run.record));
  TRY_ASSIGN(const auto witness, first_open(run, filter));
  if (!witness) {
    context.note("nothing to cancel: these tasks have ended");
    return kExitOk;
  }
  store::Request request;
  request.run = run.record.id;
  request.all = filter.selector.all();
  if (!request.all) request.tasks = filter.selector.tasks(run.record.counts.total);
  if (const auto pid = driver_of(run.record, store::RunLock::holder(context.state_dir)))
    return ask_driver(context, run, request, *witness, *pid);
  const store::RunRecord record = std::move(run.record);
  { const store::Store closed = std::move(run.store); }  // before the driver opens it
  TRY_ASSIGN(const auto study, reload_study(record));
  driver::Options how;
  how.state_dir = context.state_dir;
  TRY(driver::cancel_undriven(study.sweep, how, request));
  context.note("cancelled");
  return kExitOk;
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
