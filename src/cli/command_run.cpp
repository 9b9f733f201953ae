// gantry run: a sweep file or a one-liner, run, continued, or only shown.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.hpp"
#include "cli/display_text.hpp"
#include "cli/error_report.hpp"
#include "cli/json_line.hpp"
#include "cli/run_session.hpp"
#include "cli/study.hpp"

namespace gantry::cli {
namespace {

struct RunOptions {
  SessionOptions session;
  OneLinerOptions one_liner;
  bool fresh = false;
  bool dry_run = false;
};

/// A million lines in a second: one task and one buffer, used again and again.
Result<int> show_tasks(Context& context, const Sweep& sweep, bool json) {
  std::string& out = context.out.buffer();
  Task task;
  for (std::uint32_t i = 1; i <= sweep.size() && !context.out.closed(); ++i) {
    sweep.fill_task(TaskId{i}, task);
    if (json) {
      JsonLine(out)
          .number("task", i)
          .texts("command", task.argv)
          .text("workdir", task.workdir)
          .scalars("parameters", task.parameters)
          .close();
    } else {
      for (const auto& word : task.argv) {
        if (&word != &task.argv.front()) out += ' ';
        out += shell_quote(word);
      }
      out += '\n';
    }
    context.out.settle();
  }
  return kExitOk;
}

Result<int> run_study(Context& context, const RunWords& words, const RunOptions& options) {
  TRY_ASSIGN(const spec::LoadedSweep study, load_study(words, options.one_liner));
  if (!options.session.quiet)
    for (const auto& warning : study.warnings)
      context.note("gantry: warning: " + one_line(warning));
  if (options.dry_run) return show_tasks(context, study.sweep, options.session.json);
  driver::Options how;
  how.fresh = options.fresh;
  return run_session(context, study, options.session, std::move(how));
}

}  // namespace

void add_run(CLI::App& app, const RunWords& words, Action& action) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Run a sweep, or continue it");
  add_session_options(*command, options->session);
  command->add_flag("--fresh", options->fresh, "Start a new run that reuses nothing");
  command->add_flag("-n,--dry-run", options->dry_run, "Show the tasks and run none");
  auto& one_liner = options->one_liner;
  command->add_flag("--shell", one_liner.shell, "Run the one-liner in a shell; values are quoted");
  command->add_option("--timeout", one_liner.timeout, "End a one-liner's task after this time: 90s")
      ->type_name("TIME");
  command
      ->add_option("--retries", one_liner.retries, "Retry a one-liner's failed tasks up to N times")
      ->type_name("N");
  command->footer(
      "Everything after the command's first word belongs to the command. Finished\n"
      "tasks whose command, environment: and inputs are unchanged do not run again.\n"
      "Ctrl-C once lets running tasks finish, twice cancels them. To continue, run the\n"
      "same command again.\n"
      "\n"
      "Values: ::: a b c    seed=1..200    g=a.mdl,b.mdl    :::+ linked to the last\n"
      "        :::: FILE (lines; - is standard input)\n"
      "\n"
      "Examples:\n"
      "  gantry run sweep.yaml\n"
      "  gantry run -- ./sim --seed {seed} {g} ::: seed=1..200 ::: g=a.mdl,b.mdl\n"
      "  gantry run --grid grid.yaml -- ./sim {} ::: 1..200      also on other machines\n"
      "  ls *.png | gantry run -j 4 -- convert {} {}.webp\n"
      "  gantry run -k --shell -- 'sort {} | uniq -c > {.}.txt' ::: *.csv\n"
      "  gantry run --dry-run sweep.yaml | head");
  command->callback([options, &words, &action] {
    action = [options, &words](Context& context) { return run_study(context, words, *options); };
  });
}

}  // namespace gantry::cli
