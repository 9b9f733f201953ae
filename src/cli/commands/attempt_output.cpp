#include "cli/commands/attempt_output.hpp"

#include "cli/terminal/task_output.hpp"

namespace gantry::cli {

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
