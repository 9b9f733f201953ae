// gantry tasks: the tasks of a run, their states and parameters.
#include <fmt/format.h>

#include <map>
#include <optional>

#include "cli/commands/commands.hpp"
#include "cli/commands/run_text.hpp"
#include "cli/commands/study.hpp"
#include "cli/commands/task_options.hpp"
#include "cli/terminal/error_report.hpp"
#include "cli/terminal/format.hpp"
#include "cli/terminal/json_line.hpp"
#include "model/quantity.hpp"
#include "query/remote_outputs.hpp"
#include "query/result_values.hpp"
#include "query/run_status.hpp"
#include "store/run_lock.hpp"

namespace gantry::cli {
namespace {

struct TasksOptions {
  TaskOptions tasks;
  bool json = false;
  bool wide = false;
};

using query::Bindings;

/// Parameters of tasks that never ended: made from the stored spec, when it still gives the same
/// tasks.
class PendingParameters {
 public:
  explicit PendingParameters(const store::RunRecord& record) : record_(record) {}
  Bindings of(TaskId task) {
    if (!tried_) {
      tried_ = true;
      if (auto loaded = reload_study(record_)) study_.emplace(std::move(*loaded));
    }
    return study_ ? study_->application.parameters(task) : Bindings{};
  }

 private:
  const store::RunRecord& record_;
  bool tried_ = false;
  std::optional<Study> study_;
};

Color color_of(query::TaskState state) {
  switch (state) {
    case query::TaskState::done:
      return Color::green;
    case query::TaskState::failed:
      return Color::red;
    case query::TaskState::cancelled:
    case query::TaskState::unknown:
      return Color::yellow;
    case query::TaskState::pending:
    case query::TaskState::running:
      break;
  }
  return Color::none;
}

/// Where it runs, or may; or how it ended, when nobody has taken that in.
std::string known_text(const query::AgentTask& agent) {
  switch (agent.state) {
    case query::AgentTask::State::unseen:
      return fmt::format("may still run at {}", agent.site);
    case query::AgentTask::State::running:
      return agent.site.empty() ? "" : fmt::format("on {} ({})", agent.host, agent.site);
    case query::AgentTask::State::ended:
      break;
  }
  return fmt::format("ended ({}), waits for gantry run",
                     describe(agent.report.cause, agent.report.code, ""));
}

bool has_ended(const query::AgentTask& agent) {
  return agent.state == query::AgentTask::State::ended;
}

struct ListedTask {
  TaskId id;
  query::TaskState state;
  const store::TaskRow* row;      ///< null when it never ended
  const query::AgentTask* agent;  ///< what is known beyond the row; may be null
  Bindings parameters;
  std::string output_site;  ///< which has its outputs; empty: none does
};

std::string cause_text(const ListedTask& task) {
  const store::TaskRow& row = *task.row;
  if (row.reused) return "from an earlier run";
  if (task.state == query::TaskState::done && row.detail.empty() && !task.output_site.empty())
    return "outputs at " + task.output_site;
  if (task.state == query::TaskState::done) return row.detail;  // an input that changed meanwhile
  if (row.invalidated) return "to run again";
  return describe(row.cause, row.code, row.detail);
}

void append_task_json(std::string& out, const ListedTask& task) {
  const auto& [id, state, row, agent, parameters, output_site] = task;
  JsonLine line(out);
  line.number("task", id.value()).text("state", to_string(state));
  if (agent != nullptr && has_ended(*agent))
    line.text("waiting_end", describe(agent->report.cause, agent->report.code, ""));
  if (agent != nullptr && !agent->site.empty())
    line.text("at_site", agent->site).text("at_host", agent->host);
  if (row != nullptr) {
    line.number("attempt", row->attempt.value()).flag("reused", row->reused);
    line.text("cause", to_string(row->cause)).number("code", row->code).text("detail", row->detail);
    line.text("started", format_time_iso(row->started)).text("ended", format_time_iso(row->ended));
    if (!row->reused) {
      line.real("seconds", seconds(row->ended - row->started));
      line.real("user_seconds", seconds(row->usage.user))
          .real("system_seconds", seconds(row->usage.system));
      line.number("max_rss", row->usage.max_rss).text("host", row->host);
      line.number("stdout_size", row->stdout_size).number("stderr_size", row->stderr_size);
    }
    line.scalars("results", row->results);
    if (!output_site.empty()) line.text("outputs_at", output_site);
  }
  line.scalars("parameters", parameters);
  line.close();
}

std::vector<Cell> task_cells(const ListedTask& task, const std::vector<std::string>& names) {
  const auto& [id, state, row, agent, parameters, output_site] = task;
  std::vector<Cell> cells{{std::to_string(id.value())},
                          {std::string(to_string(state)), color_of(state)}};
  if (agent != nullptr) {
    const AttemptReport& report = agent->report;
    cells.emplace_back(std::to_string(report.key.attempt.value()));
    cells.emplace_back(has_ended(*agent) ? format_duration(report.ended - report.started) : "");
    cells.emplace_back(known_text(*agent));
  } else if (row != nullptr) {
    const bool tried = row->cause != FailureCause::cancelled || row->started < row->ended;
    cells.emplace_back(tried ? std::to_string(row->attempt.value()) : "");
    cells.emplace_back(row->reused ? "-" : tried ? format_duration(row->ended - row->started) : "");
    cells.emplace_back(cause_text(task));
  } else {
    cells.insert(cells.end(), 3, Cell{""});
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string* value = query::find_value(parameters, names[i], i);
    cells.emplace_back(value != nullptr ? *value : "");
  }
  return cells;
}

/// What was asked for: "failed", "is done or cancelled".
std::string states_text(const TaskOptions& options) {
  std::string text;
  const auto add = [&](bool asked, std::string_view what) {
    if (asked) text += fmt::format("{}{}", text.empty() ? "" : " or ", what);
  };
  add(options.states.failed, "failed");
  add(options.states.done, "succeeded");
  add(options.states.cancelled, "was cancelled");
  add(options.states.pending, "is pending");
  return text + (options.selector == "all" ? "" : " among those you chose");
}

Result<int> list_tasks(Context& context, const TasksOptions& options) {
  TRY_ASSIGN(const query::StoredRun run, query::open_run(context.state_dir, options.tasks.run));
  TRY_ASSIGN(const query::TaskFilter filter, filter_of(options.tasks, run.record));
  PendingParameters pending(run.record);
  const auto& names = run.record.parameter_names;
  const std::size_t digits = std::to_string(run.record.counts.total).size();
  std::vector<Column> columns{{"task", false, false, digits},
                              {"state", false, false, std::string_view("cancelled").size()},
                              {"try", false, false},
                              {"time", false, false},
                              {"why"}};
  for (const auto& name : names) columns.push_back({name});
  Table table = context.table(std::move(columns), options.wide);
  TRY_ASSIGN(const auto sites, query::output_sites(run.store, run.record.id));
  const query::AgentView agent(context.state_dir);
  const bool driven =
      query::driver_of(run.record, store::RunLock::holder(context.state_dir)).has_value();
  std::uint32_t unseen = 0;
  TRY(query::for_each_task(
      run.store, run.record, filter,
      [&](TaskId task, query::TaskState state, const store::TaskRow* row) {
        if (context.out.closed()) return;
        const query::AgentTask* known = agent.find(run.record.id, task, row);
        if (driven && known != nullptr && has_ended(*known)) known = nullptr;  // is being taken in
        if (known != nullptr && known->state == query::AgentTask::State::unseen) ++unseen;
        const auto site = sites.find(task);
        const ListedTask listed{task,
                                state,
                                row,
                                known,
                                row != nullptr ? row->parameters : pending.of(task),
                                site != sites.end() ? site->second : ""};
        if (!options.json) return table.add(task_cells(listed, names));
        append_task_json(context.out.buffer(), listed);
        context.out.settle();
      },
      agent));
  table.finish();
  if (options.json) return kExitOk;
  if (table.rows() == 0)
    context.note(fmt::format("none of run {}'s {} {}", run.record.id.value(),
                             count_of(run.record.counts.total, "task"),
                             states_text(options.tasks)));
  if (unseen > 0)
    context.note(
        fmt::format("gantry was killed: {}", next_for_unseen(run.record.id, agent.grid())));
  return kExitOk;
}

}  // namespace

void add_tasks(CLI::App& app, Action& action) {
  const auto [command, options] =
      add_command(app, action, "tasks", "List the tasks of a run", list_tasks);
  add_task_options(*command, options->tasks);
  add_state_options(*command, options->tasks);
  command->add_flag("--json", options->json, "One JSON object per line");
  command->add_flag("--wide", options->wide, "Do not cut lines to the terminal's width");
  command->footer(
      "Examples:\n"
      "  gantry tasks --failed          what failed in the last run, and why\n"
      "  gantry tasks 1,5-8 --run 2     some tasks of run 2\n"
      "  gantry tasks --json | jq .     for a program");
}

}  // namespace gantry::cli
