#include "query/agent_view.hpp"

#include <utility>

#include "actuate/launch/local/local_launcher.hpp"
#include "model/grid.hpp"

namespace gantry::query {

AgentView::AgentView(const std::filesystem::path& state_dir) {
  if (auto tasks = tasks_of_agent(state_dir)) {
    for (auto& report : tasks->ended) {
      const TaskKey key = report.key;
      add(key, {.report = std::move(report)});
    }
    for (const TaskKey& key : tasks->running) add(key, {.state = AgentTask::State::running});
  }
  if (const auto live = store::read_live(state_dir)) {
    add_sites(*live, AgentTask::State::running);
  } else if (const auto left = store::read_left_live(state_dir)) {
    add_sites(*left, AgentTask::State::unseen);
    grid_ = left->grid;
  }
}

void AgentView::add(const TaskKey& key, AgentTask known) {
  known.report.key = key;
  auto [at, added] = runs_[key.run].try_emplace(key.task, known);
  if (!added && at->second.report.key.attempt < key.attempt) at->second = std::move(known);
}

void AgentView::add_sites(const store::LiveState& live, AgentTask::State state) {
  for (const store::LiveHost& host : live.hosts) {
    // The agent's logs know more about this machine.
    if (host.site >= live.sites.size() || live.sites[host.site].name == kHomeSite) continue;
    const auto see = [&](const auto& one) {
      const RunId run(one.run != 0 ? one.run : live.run);
      const TaskKey key{run, TaskId(one.task), AttemptId(one.attempt)};
      add(key, {.state = state, .host = host.name, .site = live.sites[host.site].name});
    };
    // What waited at the host of a gantry that was killed may have begun since.
    for (const store::LiveTask& task : host.tasks)
      if (state == AgentTask::State::unseen || task.started != kNever) see(task);
    for (const store::LiveArrival& arrival : host.arrivals) see(arrival);
  }
}

const AgentTask* AgentView::find(RunId run, TaskId task, const store::TaskRow* row) const {
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
  tally.grid = grid_;
  const auto tasks = runs_.find(run);
  if (tasks == runs_.end()) return tally;
  for (const auto& [task, known] : tasks->second) {
    TRY_ASSIGN(const auto row, store.task(run, task));
    if (find(run, task, row ? &*row : nullptr) == nullptr) continue;
    if (known.state == AgentTask::State::running) ++tally.running;
    if (known.state == AgentTask::State::ended) ++tally.ended;
    if (known.state != AgentTask::State::unseen) continue;
    ++tally.unseen;
    tally.sites.insert(known.site);
  }
  return tally;
}

}  // namespace gantry::query
