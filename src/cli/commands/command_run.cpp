// gantry run: a sweep file or a one-liner, run, continued, or only shown.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "cli/commands/commands.hpp"
#include "cli/commands/run_session.hpp"
#include "cli/commands/study.hpp"
#include "cli/terminal/display_text.hpp"
#include "cli/terminal/error_report.hpp"
#include "cli/terminal/json_line.hpp"
#include "driver/run_setup.hpp"
#include "model/decimal.hpp"

namespace gantry::cli {
namespace {

struct RunOptions {
  SessionOptions session;
  OneLinerOptions one_liner;
  bool dry_run = false;
  std::vector<std::string> weights;
};

/// A million lines in a second: one task and one buffer, used again and again.
Result<int> show_tasks(Context& context, const Application& application, bool json) {
  std::string& out = context.out.buffer();
  Task task;
  for (std::uint32_t i = 1; i <= application.size() && !context.out.closed(); ++i) {
    application.fill_task(TaskId{i}, task);
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

/// As the run does that the study would continue.
void number_as_stored(const Context& context, Application& application, bool fresh) {
  const auto store = store::Store::open(context.state_dir, store::Access::read_only);
  if (!store) return;
  driver::Options how;
  how.fresh = fresh;
  how.reload = reload_application;
  static_cast<void>(driver::run_to_continue(*store, application, how));  // or else as enumerated
}

/// "b.yaml=2": the weight of a study, by the file that was named.
Result<std::vector<double>> weights_of(const std::vector<std::string>& said,
                                       const std::vector<std::string>& files) {
  std::vector<double> weights(files.size(), 1);
  for (const std::string& text : said) {
    const std::size_t equals = text.rfind('=');
    const auto file = std::ranges::find(files, text.substr(0, equals));
    if (equals == std::string::npos || file == files.end())
      return fail(ErrorCode::usage,
                  fmt::format("--weight '{}' names none of the sweep files", one_line(text)),
                  "write --weight FILE=NUMBER, with a file that is to be run");
    const auto weight = parse_number(text.substr(equals + 1));
    constexpr double kMost = 1e6;
    if (!weight || !(*weight >= 1 / kMost && *weight <= kMost))
      return fail(ErrorCode::usage,
                  fmt::format("'{}' is no weight", one_line(text.substr(equals + 1))),
                  "a weight is a number such as 2 or 0.5: twice or half of what others get");
    weights[static_cast<std::size_t>(file - files.begin())] = *weight;
  }
  return weights;
}

Result<int> run_study(Context& context, const RunWords& words, const RunOptions& options) {
  TRY_ASSIGN(auto studies, load_studies(words, options.one_liner));
  std::vector<std::string> files;
  if (is_sweep_file(words)) files = words.command;
  TRY_ASSIGN(auto weights, weights_of(options.weights, files));
  weights.resize(studies.size(), 1);
  if (!options.session.quiet)
    for (const auto& study : studies)
      for (const auto& warning : study.warnings)
        context.note("gantry: warning: " + one_line(warning));
  if (options.dry_run) {
    for (auto& study : studies) {
      number_as_stored(context, study.application, options.session.how.fresh);
      TRY(show_tasks(context, study.application, options.session.json));
    }
    return kExitOk;
  }
  return run_session(context, studies, weights, options.session);
}

}  // namespace

void add_run(CLI::App& app, const RunWords& words, Action& action) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command = app.add_subcommand("run", "Run a sweep, or continue it");
  add_session_options(*command, options->session);
  CLI::Option* fresh = command->add_flag("--fresh", options->session.how.fresh,
                                         "Start a new run that reuses nothing");
  command->add_flag("-n,--dry-run", options->dry_run, "Show the tasks and run none");
  CLI::Option* wait = command->add_flag("--wait", options->session.how.wait,
                                        "Wait while another gantry drives runs here");
  command->add_flag("--join", options->session.join, "Add it to the gantry already running here")
      ->excludes(wait)
      ->excludes(fresh);
  command
      ->add_option("--weight", options->weights, "Relative share of FILE among several (default 1)")
      ->type_name("FILE=N")
      ->allow_extra_args(false);
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
      "A study that joins shares the hosts of the gantry that runs already, and has its\n"
      "sites, options and environment; Ctrl-C then stops watching; the run goes on.\n"
      "\n"
      "Examples:\n"
      "  gantry run sweep.yaml\n"
      "  gantry run a.yaml b.yaml --weight b.yaml=2     both at once, b with more hosts\n"
      "  gantry run -- ./sim --seed {seed} {g} ::: seed=1..200 ::: g=a.mdl,b.mdl\n"
      "  gantry run --join c.yaml                       beside what runs here already\n"
      "  gantry run --grid grid.yaml -- ./sim {} ::: 1..200      also on other machines\n"
      "  ls *.png | gantry run -j 4 -- convert {} {}.webp\n"
      "  gantry run -k --shell -- 'sort {} | uniq -c > {.}.txt' ::: *.csv\n"
      "  gantry run --dry-run sweep.yaml | head");
  command->callback([options, &words, &action] {
    action = [options, &words](Context& context) { return run_study(context, words, *options); };
  });
}

}  // namespace gantry::cli
