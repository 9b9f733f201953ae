// gantry explain: why a task is in the state it is in.
#include <algorithm>
#include <filesystem>
#include <memory>

#include "cli/commands/commands.hpp"
#include "cli/commands/explain_text.hpp"
#include "cli/commands/study.hpp"
#include "cli/commands/task_options.hpp"
#include "cli/terminal/display_text.hpp"
#include "cli/terminal/error_report.hpp"
#include "driver/kept_model.hpp"
#include "engine/run/workload.hpp"
#include "model/fingerprint.hpp"
#include "store/live_state.hpp"
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

/// As driver::ContentCache counts them: the program, a script, values that name files.
std::vector<ImpliedInput> implied_by(const Task& task) {
  std::vector<ImpliedInput> implied;
  const auto add = [&](const std::string& path, std::string_view what) {
    std::error_code error;
    const bool named = std::ranges::find(task.inputs, path) != task.inputs.end() ||
                       std::ranges::find(implied, path, &ImpliedInput::path) != implied.end();
    if (!named && std::filesystem::is_regular_file(path, error)) implied.push_back({path, what});
  };
  for (const auto& path : implied_inputs(task)) add(path, "program");
  for (const auto& path : task.value_files) add(path, "value");
  return implied;
}

/// Whether the run that goes on has yet to end the task. What it shows may be a second old: the
/// store knows better what has ended.
bool is_open(const TaskStory& story, const store::LiveState& live) {
  if (story.state == TaskState::pending || story.state == TaskState::running) return true;
  if (story.state != TaskState::failed || story.row == nullptr) return false;
  // It waits for its next attempt, or is in the middle of it.
  const auto waits = [&](const store::LiveWait& wait) { return wait.task == story.task.value(); };
  const auto runs = [&](const store::LiveTask& task) {
    return task.task == story.task.value() && task.attempt > story.row->attempt.value();
  };
  return std::ranges::any_of(live.waits, waits) ||
         std::ranges::any_of(live.hosts, [&](const store::LiveHost& host) {
           return std::ranges::any_of(host.tasks, runs);
         });
}

void add_place(TaskStory& story, const store::LiveState& live, double cost) {
  if (!is_open(story, live)) return;
  auto place = place_of(live, story.task, cost, RealClock{}.now());
  if (story.state == TaskState::running && !place.running) return;  // it began since
  story.state = place.running ? TaskState::running : TaskState::pending;
  story.place = std::move(place);
}

std::vector<RemoteFile> remote_outputs_of(const store::Store& store, const Task& task) {
  std::vector<RemoteFile> remote;
  for (const auto& path : task.outputs)
    if (auto file = store.remote_output(path); file && *file) remote.push_back(std::move(**file));
  return remote;
}

Result<int> explain_tasks(Context& context, const ExplainOptions& options) {
  TRY_ASSIGN(const StoredRun run, open_run(context, options.tasks.run));
  TRY_ASSIGN(const TaskFilter filter, filter_of(options.tasks, run.record));
  const auto study = reload_study(run.record);
  const bool driven = driver_of(run.record, store::RunLock::holder(context.state_dir)).has_value();
  const AgentView agent(context);
  const auto live = driven ? store::read_live(context.state_dir) : std::nullopt;
  const auto memory =
      study ? driver::kept_memory(run.store, study->sweep) : forecast::LearnedMemory{};
  const auto features = study ? engine::workload_of(study->sweep).features : nullptr;
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
        TaskStory story{&run.record,  task,
                        state,        row,
                        std::nullopt, std::move(*history),
                        driven,       agent.find(run.record.id, task, row),
                        agent.grid(), (context.state_dir / "output").string()};
        if (driven && story.agent != nullptr && !story.agent->runs)
          story.agent = nullptr;  // is being taken in
        if (study) {
          story.definition = study->sweep.task(task);
          story.implied = implied_by(*story.definition);
          story.remote = remote_outputs_of(run.store, *story.definition);
          if (story.definition->resources.learn_memory)
            if (const auto bytes = memory.need(features(task)))
              story.memory = {*bytes, memory.used().observations()};
        }
        if (live && live->run == run.record.id.value())
          add_place(story, *live, study ? study->sweep.cost(task) : 1);
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
  CLI::App* command = app.add_subcommand("explain", "Explain what happened to a task, and why");
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
  command->callback([options, &action] {
    action = [options](Context& context) { return explain_tasks(context, *options); };
  });
}

}  // namespace gantry::cli
