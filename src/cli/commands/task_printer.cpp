#include "cli/commands/task_printer.hpp"

#include <fmt/format.h>

#include "cli/commands/attempt_output.hpp"
#include "model/quantity.hpp"
#include "query/find_attempt.hpp"
#include "query/task_list.hpp"

namespace gantry::cli {

TaskPrinter::TaskPrinter(Context& context, PrintOptions options, std::uint32_t tasks)
    : context_(context),
      options_(std::move(options)),
      tasks_(tasks),
      ended_(std::size_t{tasks} + 1, 0) {}

void TaskPrinter::print(TaskId task, const AttemptReport& report) {
  print_attempt(context_, report, {}, options_.tag ? options_.tag(task) + "\t" : "");
  if (context_.terminal.stdout_is_tty) context_.out.flush();
}

void TaskPrinter::on_ended(const AttemptReport& report, bool again) {
  const TaskId task = report.key.task;
  if (task.value() < ended_.size() && !(options_.keep_order && again))
    ended_[task.value()] = report.key.attempt.value();
  if (!options_.keep_order) print(task, report);
}

void TaskPrinter::on_progress(RunId run, const std::function<void()>& before) {
  if (!options_.keep_order) return;
  if (!store_) {
    auto opened = store::Store::open(context_.state_dir, store::Access::read_only);
    if (!opened) return;  // finish() needs it too, and says why
    store_.emplace(std::move(*opened));
  }
  if (const auto printed = print_turns(*store_, run, false, before); !printed)
    context_.report(printed.error());
}

Result<> TaskPrinter::finish(const store::Store& store, RunId run) {
  TRY(print_turns(store, run, true, [] {}));
  if (lost_ > 0) {
    context_.note(
        fmt::format("what {} printed is not shown: it was removed with the run that ran {}",
                    count_of(lost_, "task"), lost_ == 1 ? "it" : "them"));
  }
  return {};
}

/// A task has its turn when it ended and that is in the store, or when it was done before. Until
/// the run is over the first one that has not holds up the others.
Result<> TaskPrinter::print_turns(const store::Store& store, RunId run, bool over,
                                  const std::function<void()>& before) {
  for (; turn_ <= tasks_ && !context_.out.closed(); ++turn_) {
    const TaskId task{turn_};
    const std::uint32_t ended = ended_[turn_];
    if (ended != 0 && !options_.keep_order) continue;  // printed already
    if (ended == 0) {
      TRY_ASSIGN(const auto row, store.task(run, task));
      if (query::state_of(row ? &*row : nullptr) != query::TaskState::done) {
        if (!over) return {};
        continue;
      }
      if (options_.chosen) continue;
    }
    TRY_ASSIGN(const auto attempt, query::find_attempt(store, run, task, AttemptId{ended}));
    if (!attempt && ended != 0 && !over) return {};  // not committed yet
    if (!attempt) {
      ++lost_;
      continue;
    }
    before();
    print(task, attempt->report);
  }
  return {};
}

}  // namespace gantry::cli
