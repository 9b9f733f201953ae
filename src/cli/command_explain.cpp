// gantry explain: why a task is in the state it is in.
#include <memory>

#include "cli/commands.hpp"
#include "cli/display_text.hpp"
#include "cli/error_report.hpp"
#include "cli/explain_text.hpp"
#include "cli/study.hpp"
#include "cli/task_options.hpp"
#include "store/run_lock.hpp"

namespace gantry::cli {
namespace {

struct ExplainOptions {
  TaskOptions tasks;
  bool json = false;
};

void print_story(Context& context, const TaskStory& story) {
  const std::size_t columns = Terminal::columns(context.out.fd());
  for (const auto& line : explain(story)) {
    const bool heading = !line.starts_with(' ');
    for (const auto& piece : wrap(line, columns, 4))
      context.out.line(
          paint(piece, heading ? Color::bold : Color::none, context.terminal.color_stdout));
  }
}

Result<int> explain_tasks(Context& context, const ExplainOptions& options) {
  TRY_ASSIGN(const StoredRun run, open_run(context, options.tasks.run));
  TRY_ASSIGN(const TaskFilter filter, filter_of(options.tasks, run.record));
  const auto study = reload_study(run.record);
  const bool driven = driver_of(run.record, store::RunLock::holder(context.state_dir)).has_value();
  const AgentView agent(context);
  Result<> failure;
  TRY(for_each_task(
      run.store, run.record, filter,
      [&](TaskId task, TaskState state, const store::TaskRow* row) {
        if (!failure || context.out.closed()) return;
        auto history = run.store.history(run.record.id, task);
        if (!history) {
          failure = tl::unexpected(history.error());
          return;
        }
        TaskStory story{&run.record,
                        task,
                        state,
                        row,
                        std::nullopt,
                        std::move(*history),
                        driven,
                        agent.find(run.record.id, task, row),
                        (context.state_dir / "output").string()};
        if (driven && story.agent != nullptr && !story.agent->runs)
          story.agent = nullptr;  // is being taken in
        if (study) story.definition = study->sweep.task(task);
        if (!options.json) return print_story(context, story);
        append_explain_json(context.out.buffer(), story);
        context.out.settle();
      },
      agent));
  TRY(failure);
  return kExitOk;
}

}  // namespace

void add_explain(CLI::App& app, Action& action) {
  auto options = std::make_shared<ExplainOptions>();
  CLI::App* command = app.add_subcommand("explain", "Tell what happened to a task, and why");
  command->add_option("TASK", options->tasks.selector, "Its number; or several: 1,3,5-8")
      ->required()
      ->type_name("");
  command->add_option("--run", options->tasks.run, "The run: last (default) or a number")
      ->type_name("RUN");
  command->add_flag("--json", options->json, "One JSON object a line");
  command->footer(
      "Examples:\n"
      "  gantry explain 17\n"
      "  gantry explain 17 --run 2");
  command->callback([options, &action] {
    action = [options](Context& context) { return explain_tasks(context, *options); };
  });
}

}  // namespace gantry::cli
