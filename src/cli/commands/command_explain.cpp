// gantry explain: why a task is in the state it is in.

#include "cli/commands/commands.hpp"
#include "cli/commands/explain_text.hpp"
#include "cli/commands/study.hpp"
#include "cli/commands/task_options.hpp"
#include "cli/terminal/display_text.hpp"
#include "cli/terminal/error_report.hpp"
#include "driver/kept_model.hpp"
#include "engine/run/workload.hpp"

namespace gantry::cli {
namespace {

struct ExplainOptions {
  TaskOptions tasks;
  bool json = false;
};

void print_story(Context& context, const query::TaskStory& story) {
  const std::size_t columns = Terminal::columns(context.out.fd());
  for (const auto& line : explain(story, (context.state_dir / "output").string())) {
    const bool heading = !line.starts_with(' ');
    for (const auto& piece : wrap(line, columns, 4))
      context.out.line(
          paint(piece, heading ? Color::bold : Color::none, context.terminal.color_stdout));
  }
}

Result<int> explain_tasks(Context& context, const ExplainOptions& options) {
  TRY_ASSIGN(const query::StoredRun run, query::open_run(context.state_dir, options.tasks.run));
  TRY_ASSIGN(const query::TaskFilter filter, filter_of(options.tasks, run.record));
  const auto study = reload_application(run.record);
  query::StorySources sources{.state_dir = context.state_dir, .now = RealClock{}.now()};
  if (study) {
    sources.study = &*study;
    sources.learnt_memory = [memory = driver::kept_models(run.store, *study).memory,
                             features = engine::workload_of(*study).features](
                                TaskId task) -> std::optional<query::LearntMemory> {
      const auto bytes = memory.need(features(task));
      if (!bytes) return std::nullopt;
      return query::LearntMemory{*bytes, memory.used().observations()};
    };
  }
  TRY(query::for_each_story(run, filter, sources, [&](const query::TaskStory& story) {
    if (options.json)
      append_explain_json(context.out.buffer(), story);
    else
      print_story(context, story);
    context.out.settle();
    return !context.out.closed();
  }));
  return kExitOk;
}

}  // namespace

void add_explain(CLI::App& app, Action& action) {
  const auto [command, options] = add_command(
      app, action, "explain", "Explain what happened to a task, and why", explain_tasks);
  command->add_option("TASK", options->tasks.selector, "Its number, or several: 1,3,5-8")
      ->required()
      ->type_name("");
  command->add_option("--run", options->tasks.run, "The run: last (default) or a number")
      ->type_name("RUN");
  command->add_flag("--json", options->json, "One JSON object per line");
  command->footer(
      "During a run it also shows on which host the task is, which scheduler chose it\n"
      "and by which estimates, or what it waits for: a slot, files, a host, its\n"
      "back-off.\n"
      "\n"
      "Examples:\n"
      "  gantry explain 17\n"
      "  gantry explain 17 --run 2");
}

}  // namespace gantry::cli
