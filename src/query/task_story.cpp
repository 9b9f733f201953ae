#include "query/task_story.hpp"

#include <algorithm>
#include <utility>

#include "model/fingerprint.hpp"
#include "query/run_status.hpp"
#include "store/run_lock.hpp"

namespace gantry::query {
namespace {

/// The files that fingerprints count besides the named inputs.
std::vector<ImpliedInput> implied_by(const Task& task) {
  std::vector<ImpliedInput> implied;
  const auto add = [&](const std::string& path, ImpliedInput::Kind kind) {
    std::error_code error;
    const bool named = std::ranges::find(task.inputs, path) != task.inputs.end() ||
                       std::ranges::find(implied, path, &ImpliedInput::path) != implied.end();
    if (!named && std::filesystem::is_regular_file(path, error)) implied.push_back({path, kind});
  };
  for (const auto& path : implied_inputs(task)) add(path, ImpliedInput::Kind::program);
  for (const auto& path : task.value_files) add(path, ImpliedInput::Kind::value);
  return implied;
}

/// Whether the run that goes on has yet to end the task. live.json may be a second old: the store
/// knows better what has ended.
bool is_open(const TaskStory& story, const store::LiveState& live) {
  if (story.state == TaskState::pending || story.state == TaskState::running) return true;
  if (story.state != TaskState::failed || !story.row) return false;
  // It waits for its next attempt, or is in the middle of it.
  const auto waits = [&](const store::LiveWait& wait) {
    return wait.task == story.task.value() && live.is_of(wait, story.run);
  };
  const auto runs = [&](const store::LiveTask& task) {
    return task.task == story.task.value() && live.is_of(task, story.run) &&
           task.attempt > story.row->attempt.value();
  };
  return std::ranges::any_of(live.waits, waits) ||
         std::ranges::any_of(live.hosts, [&](const store::LiveHost& host) {
           return std::ranges::any_of(host.tasks, runs);
         });
}

void add_place(TaskStory& story, const store::LiveState& live, double cost, TimePoint now) {
  if (!is_open(story, live)) return;
  TaskPlace place = place_of(live, story.run, story.task, cost, now);
  const bool running = place.is_running();
  if (story.state == TaskState::running && !running) return;  // it began since
  story.state = running ? TaskState::running : TaskState::pending;
  story.place = std::move(place);
}

void add_definition(TaskStory& story, const store::Store& store, const StorySources& sources) {
  story.definition = sources.study->task(story.task);
  story.implied = implied_by(*story.definition);
  for (const auto& path : story.definition->outputs)
    if (auto file = store.remote_output(path); file && *file)
      story.remote.push_back(std::move(**file));
  if (story.definition->resources.learn_memory && sources.learnt_memory)
    story.memory = sources.learnt_memory(story.task);
}

/// The result was made from nobody knows what: its inputs have no digest.
bool input_changed_meanwhile(const TaskStory& story) {
  if (story.history.empty()) return false;
  const auto& last = story.history.back();
  return last.kind == "ended" && !last.fingerprint.empty() && last.fingerprint.inputs.empty();
}

}  // namespace

Result<> for_each_story(const StoredRun& run, const TaskFilter& filter, const StorySources& sources,
                        const std::function<bool(const TaskStory&)>& sink) {
  const auto holder = store::RunLock::holder(sources.state_dir);
  const bool driven = driver_of(run.record, holder).has_value();
  const AgentView agent(sources.state_dir);
  auto live = driven ? store::read_live(sources.state_dir) : std::nullopt;
  if (live && !live->has(run.record.id)) live.reset();
  Result<> failure;
  bool wanted = true;
  const auto tell = [&](TaskId task, TaskState state, const store::TaskRow* row) {
    if (!failure || !wanted) return;
    auto history = run.store.history(run.record.id, task);
    if (!history) {
      failure = tl::unexpected(std::move(history).error());
      return;
    }
    TaskStory story{.run = run.record.id,
                    .run_name = run.record.name,
                    .task = task,
                    .state = state,
                    .history = std::move(*history),
                    .driven = driven,
                    .grid = agent.grid()};
    if (row != nullptr) story.row = *row;
    // An end that a driver knows of is being taken in.
    const AgentTask* known = agent.find(run.record.id, task, row);
    if (known != nullptr && (!driven || known->state == AgentTask::State::running))
      story.agent = *known;
    if (sources.study != nullptr) add_definition(story, run.store, sources);
    if (live)
      add_place(story, *live, sources.study != nullptr ? sources.study->cost(task) : 1,
                sources.now);
    wanted = sink(story);
  };
  TRY(for_each_task(run.store, run.record, filter, tell, agent));
  return failure;
}

ChangedParts changed_parts(const Fingerprint& before, const Fingerprint& after) {
  if (before.empty() || after.empty()) return {};
  return {before.command != after.command, before.environment != after.environment,
          before.inputs != after.inputs};
}

NextStep next_step(const TaskStory& story) {
  if (!story.definition) return NextStep::new_run;
  switch (story.state) {
    case TaskState::done:
      return input_changed_meanwhile(story) ? NextStep::run_again : NextStep::keep_result;
    case TaskState::failed:
    case TaskState::cancelled:
      return NextStep::try_again;
    case TaskState::running:
      return story.driven ? NextStep::go_on : NextStep::adopt;
    case TaskState::unknown:
      return NextStep::ask_site;
    case TaskState::pending:
      break;
  }
  if (story.driven) return NextStep::await_turn;
  return story.agent ? NextStep::take_in_end : NextStep::start;
}

}  // namespace gantry::query
