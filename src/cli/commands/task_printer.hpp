#pragma once
/// Prints what tasks print: each task's output in one piece as it ends, or in the order of the
/// tasks. What needed no run is printed from the store. One thread.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "cli/context.hpp"
#include "model/event.hpp"
#include "store/store.hpp"

namespace gantry::cli {

struct PrintOptions {
  bool keep_order = false;
  bool chosen = false;  ///< only tasks that run now, not earlier ones
  /// What every line begins with, before a tab; may be empty.
  std::function<std::string(TaskId)> tag;
};

class TaskPrinter {
 public:
  /// `context` must outlive this; the study has `tasks` tasks.
  TaskPrinter(Context& context, PrintOptions options, std::uint32_t tasks);

  /// Prints the attempt, or in order remembers that it can be: `again` is not the last one.
  void on_ended(const AttemptReport& report, bool again);
  /// In order: prints what has its turn. `before` is called before anything is printed.
  void on_progress(RunId run, const std::function<void()>& before);
  /// The run is over: prints what is left, unless only some were chosen as if it had run now.
  /// Whoever pipes a one-liner into a file gets the whole of it also the second time.
  Result<> finish(const store::Store& store, RunId run);

 private:
  void print(TaskId task, const AttemptReport& report);
  Result<> print_turns(const store::Store& store, RunId run, bool over,
                       const std::function<void()>& before);

  Context& context_;
  PrintOptions options_;
  std::uint32_t tasks_;
  std::vector<std::uint32_t>
      ended_;               ///< by task: the attempt that ended while we watched; 0 = none
  std::uint32_t turn_ = 1;  ///< the next task to print
  std::uint32_t lost_ = 0;  ///< done tasks whose output an older `gantry clean` has removed
  std::optional<store::Store> store_;
};

}  // namespace gantry::cli
