#include "cli/agent_view.hpp"

#include <utility>

namespace gantry::cli {

AgentView::AgentView(const Context& context) {
  auto tasks = tasks_of_agent(context.state_dir);
  if (!tasks) return;
  const auto add = [&](const TaskKey& key, WithAgent known) {
    auto [at, added] = runs_[key.run].try_emplace(key.task, known);
    if (!added && at->second.report.key.attempt < key.attempt) at->second = std::move(known);
  };
  for (auto& report : tasks->ended) {
    const TaskKey key = report.key;
    add(key, {false, std::move(report)});
  }
  for (const TaskKey& key : tasks->running) {
    WithAgent known{true, {}};
    known.report.key = key;
    add(key, std::move(known));
  }
}

const WithAgent* AgentView::find(RunId run, TaskId task, const store::TaskRow* row) const {
  const auto tasks = runs_.find(run);
  if (tasks == runs_.end()) return nullptr;
  const auto known = tasks->second.find(task);
  if (known == tasks->second.end()) return nullptr;
  // A reused result has the number of another run's attempt.
  const AttemptId recorded = row == nullptr || row->reused ? AttemptId{} : row->attempt;
  return known->second.report.key.attempt > recorded ? &known->second : nullptr;
}

Result<AgentView::Tally> AgentView::count(const store::Store& store, RunId run) const {
  Tally tally;
  const auto tasks = runs_.find(run);
  if (tasks == runs_.end()) return tally;
  for (const auto& [task, known] : tasks->second) {
    TRY_ASSIGN(const auto row, store.task(run, task));
    if (find(run, task, row ? &*row : nullptr) == nullptr) continue;
    ++(known.runs ? tally.running : tally.ended);
  }
  return tally;
}

}  // namespace gantry::cli
