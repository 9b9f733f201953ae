#include "cli/commands/attempt_output.hpp"

#include "cli/terminal/task_output.hpp"

namespace gantry::cli {

Result<std::optional<store::HistoryRow>> find_attempt(const store::Store& store, RunId run,
                                                      TaskId task, AttemptId attempt) {
  TRY_ASSIGN(auto history, store.history(run, task));
  for (auto row = history.rbegin(); row != history.rend(); ++row) {
    if (attempt.value() != 0 && row->attempt != attempt) continue;
    if (row->kind == "ended") return std::optional(std::move(*row));
    if (row->kind != "reused") continue;
    // A copy never points at another copy, so one step is enough; attempt 0 has lost its original.
    const store::Reusable from = row->from;
    if (from.attempt.value() == 0) return std::nullopt;
    TRY_ASSIGN(auto original, store.history(from.run, from.task));
    for (auto& candidate : original)
      if (candidate.kind == "ended" && candidate.attempt == from.attempt)
        return std::optional(std::move(candidate));
    return std::nullopt;
  }
  return std::nullopt;
}

void print_attempt(Context& context, const AttemptReport& report, const StreamChoice& streams,
                   const std::string& tag) {
  const auto output_dir = context.state_dir / "output";
  const auto print = [&](Output& to, bool tty, const CapturedOutput& captured) {
    if (auto printed = print_captured(to, tty, captured, output_dir, tag); !printed)
      context.report(printed.error());
  };
  if (streams.out) print(context.out, context.terminal.stdout_is_tty, report.out);
  if (!streams.err) return;
  if (streams.err_to_stdout) {
    print(context.out, context.terminal.stdout_is_tty, report.err);
  } else if (report.err.size > 0) {
    context.out.flush();  // on a terminal both streams meet: keep their order
    print(context.err, context.terminal.stderr_is_tty, report.err);
    context.err.flush();
  }
}

}  // namespace gantry::cli
