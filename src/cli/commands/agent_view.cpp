#include "cli/commands/agent_view.hpp"

#include <fmt/format.h>

#include <utility>

#include "cli/terminal/display_text.hpp"
#include "model/grid.hpp"

namespace gantry::cli {

AgentView::AgentView(const Context& context) {
  if (auto tasks = tasks_of_agent(context.state_dir)) {
    for (auto& report : tasks->ended) {
      const TaskKey key = report.key;
      add(key, {.report = std::move(report)});
    }
    for (const TaskKey& key : tasks->running) add(key, {.runs = true});
  }
  if (const auto live = store::read_live(context.state_dir)) {
    add_sites(*live, true);
  } else if (const auto left = store::read_left_live(context.state_dir)) {
    add_sites(*left, false);
    grid_ = left->grid;
  }
}

void AgentView::add(const TaskKey& key, WithAgent known) {
  known.report.key = key;
  auto [at, added] = runs_[key.run].try_emplace(key.task, known);
  if (!added && at->second.report.key.attempt < key.attempt) at->second = std::move(known);
}

void AgentView::add_sites(const store::LiveState& live, bool driven) {
  for (const store::LiveHost& host : live.hosts) {
    // Of this machine the agent's logs know better.
    if (host.site >= live.sites.size() || live.sites[host.site].name == kHomeSite) continue;
    const auto see = [&](std::uint32_t task, std::uint32_t attempt) {
      const TaskKey key{RunId(live.run), TaskId(task), AttemptId(attempt)};
      add(key, {.runs = driven,
                .out_of_sight = !driven,
                .host = host.name,
                .site = live.sites[host.site].name});
    };
    // What waited at the host of a gantry that was killed may have begun since.
    for (const store::LiveTask& task : host.tasks)
      if (!driven || task.started != kNever) see(task.task, task.attempt);
    for (const store::LiveArrival& arrival : host.arrivals) see(arrival.task, arrival.attempt);
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
  tally.grid = grid_;
  const auto tasks = runs_.find(run);
  if (tasks == runs_.end()) return tally;
  for (const auto& [task, known] : tasks->second) {
    TRY_ASSIGN(const auto row, store.task(run, task));
    if (find(run, task, row ? &*row : nullptr) == nullptr) continue;
    ++(known.out_of_sight ? tally.may_run : known.runs ? tally.running : tally.ended);
    if (known.out_of_sight) tally.sites.insert(one_line(known.site));
  }
  return tally;
}

std::string cancel_command(RunId run, const std::string& tasks, const std::string& grid) {
  return fmt::format("gantry cancel{}{} --run {} --grid {}", tasks.empty() ? "" : " ", tasks,
                     run.value(), grid.empty() ? "FILE" : shell_quote(grid));
}

}  // namespace gantry::cli
