#include "cli/commands/explain_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "base/characters.hpp"
#include "cli/commands/place_text.hpp"
#include "cli/commands/run_text.hpp"
#include "cli/terminal/display_text.hpp"
#include "cli/terminal/format.hpp"
#include "cli/terminal/json_line.hpp"
#include "model/quantity.hpp"

namespace gantry::cli {

using query::NextStep;
using query::TaskStory;

namespace {

std::string labelled(std::string_view label, std::string_view text) {
  return fmt::format("  {:<12}{}", label, text);
}

std::string words_of(const std::vector<std::pair<std::string, std::string>>& bindings) {
  std::string text;
  for (const auto& [name, value] : bindings)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", one_line(name), shell_quote(value));
  return text;
}

std::string resources_text(const Task& task, const std::optional<query::LearntMemory>& memory) {
  std::string text = count_of(task.resources.cores, "core");
  if (task.resources.memory > 0)
    text += fmt::format(", {} of memory", format_bytes(task.resources.memory));
  if (task.resources.learn_memory) {
    text += ", memory as it is learnt";
    if (memory)
      text +=
          fmt::format(" ({} by {})", format_bytes(memory->bytes), count_of(memory->tasks, "task"));
  }
  if (task.resources.walltime > Duration{0})
    text += ", walltime " + format_duration(task.resources.walltime);
  if (task.timeout > Duration{0}) text += ", timeout " + format_duration(task.timeout);
  return text;
}

/// With where it is, when it is not here.
std::string output_text(const std::string& path, const std::vector<RemoteFile>& remote) {
  for (const auto& file : remote)
    if (file.path == path)
      return fmt::format("{} (at site {}, {}; gantry fetch brings it)", one_line(path),
                         one_line(file.site), format_bytes(file.bytes));
  return one_line(path);
}

void add_definition(std::vector<std::string>& lines, const TaskStory& story) {
  const Task& task = *story.definition;
  lines.push_back(labelled("command", shell_quote(task.argv)));
  lines.push_back(labelled("directory", one_line(task.workdir)));
  if (!task.parameters.empty()) lines.push_back(labelled("parameters", words_of(task.parameters)));
  if (!task.environment.empty())
    lines.push_back(labelled("environment", words_of(task.environment)));
  for (const auto& input : task.inputs) lines.push_back(labelled("input", one_line(input)));
  for (const auto& [path, kind] : story.implied)
    lines.push_back(labelled(
        "input", fmt::format("{} ({})", one_line(path),
                             kind == query::ImpliedInput::Kind::program ? "program" : "value")));
  for (const auto& output : task.outputs)
    lines.push_back(labelled("output", output_text(output, story.remote)));
  lines.push_back(labelled("resources", resources_text(task, story.memory)));
}

std::string attempt_text(const store::HistoryRow& row) {
  const auto& report = row.report;
  const bool succeeded = report.cause == FailureCause::none;
  std::string text = fmt::format("attempt {}{}: {}", row.attempt.value(),
                                 row.host.empty() ? "" : " on " + one_line(row.host),
                                 succeeded ? "succeeded" : describe(report.cause, report.code, ""));
  if (report.ended > report.started)
    text += " after " + format_duration(report.ended - report.started);
  if (report.usage.max_rss > 0)
    text += fmt::format(", at most {}", format_bytes(report.usage.max_rss));
  if (report.detail.empty()) return text;
  return text + (succeeded ? ", but " : ": ") + one_line(report.detail);
}

std::string history_text(const store::HistoryRow& row) {
  if (row.kind == "ended") return attempt_text(row);
  if (row.kind == "reused") return fmt::format("result taken over from {}", one_line(row.text));
  if (row.kind == "invalidated") return fmt::format("has to run again: {}", one_line(row.text));
  if (row.kind == "cancel asked") return "cancel was asked for";
  return one_line(row.kind);
}

/// Attempts that began before this one and of which the journal has no end; empty if none.
std::string missing_before(std::uint32_t attempt, std::uint32_t next,
                           const std::set<std::uint32_t>& ended) {
  std::string numbers;
  for (; next < attempt && numbers.size() < 40; ++next)
    if (!ended.contains(next)) numbers += (numbers.empty() ? "" : ", ") + std::to_string(next);
  return numbers.empty() ? numbers
                         : fmt::format(
                               "how attempt {} ended is not known: its host or gantry was lost, or "
                               "another was first",
                               numbers);
}

/// What the journal does not know yet.
std::string unjournalled_text(const query::AgentTask& agent) {
  const auto& report = agent.report;
  const auto attempt = report.key.attempt.value();
  if (agent.state == query::AgentTask::State::unseen)
    return fmt::format("attempt {} was at {} ({}) when gantry was killed: it may still run there",
                       attempt, one_line(agent.host), one_line(agent.site));
  if (agent.state == query::AgentTask::State::running)
    return fmt::format("attempt {} runs", attempt);
  return fmt::format("{}  attempt {} ended ({}); no gantry has taken that in yet",
                     format_time(report.ended), attempt,
                     one_line(describe(report.cause, report.code, report.detail)));
}

void add_history(std::vector<std::string>& lines, const TaskStory& story) {
  lines.emplace_back("history");
  if (story.history.empty() && !story.agent) lines.emplace_back("  nothing yet");
  Fingerprint before;
  std::set<std::uint32_t> ended;
  for (const auto& row : story.history)
    if (row.kind == "ended") ended.insert(row.attempt.value());
  std::uint32_t next = 1;  // the attempt that would come next
  for (const auto& row : story.history) {
    if (row.kind == "ended") {
      const std::uint32_t attempt = row.attempt.value();
      const std::string missing = missing_before(attempt, next, ended);
      if (!missing.empty() && story.state != query::TaskState::running)  // or it may be what runs
        lines.push_back(fmt::format("  {:19}  {}", "", missing));
      next = std::max(next, attempt + 1);
    }
    lines.push_back(fmt::format("  {}  {}", format_time(row.at), history_text(row)));
    const bool failed = row.kind == "ended" && row.report.cause != FailureCause::none;
    if (const std::string said = one_line(last_line(row.report.err.text)); failed && !said.empty())
      lines.push_back(fmt::format("  {:19}  it said: {}", "", said));
    if (const std::string parts = changed_text(query::changed_parts(before, row.fingerprint));
        !parts.empty())
      lines.push_back(fmt::format("  {:19}  changed since the attempt before: {}", "", parts));
    if (!row.fingerprint.empty()) before = row.fingerprint;
  }
  if (!story.agent) return;
  lines.push_back("  " + unjournalled_text(*story.agent));
}

const store::HistoryRow* latest_attempt(const TaskStory& story) {
  for (auto row = story.history.rbegin(); row != story.history.rend(); ++row)
    if (row->kind == "ended") return &*row;
  return nullptr;
}

void add_output(std::vector<std::string>& lines, const TaskStory& story,
                const std::string& output_dir) {
  const auto* attempt = latest_attempt(story);
  if (attempt == nullptr) return;
  lines.emplace_back("output");
  lines.push_back(fmt::format("  {} to standard output, {} to standard error: gantry log {}",
                              format_bytes(attempt->report.out.size),
                              format_bytes(attempt->report.err.size), story.task.value()));
  for (const auto* captured : {&attempt->report.out, &attempt->report.err}) {
    if (!captured->pack.empty())
      lines.push_back(fmt::format("  in {}/{} from byte {}", one_line(output_dir),
                                  one_line(captured->pack), captured->offset));
    if (captured->truncated) lines.emplace_back("  cut: not everything could be kept");
  }
}

}  // namespace

std::string changed_text(const query::ChangedParts& parts) {
  std::string text;
  const auto name = [&](bool changed, std::string_view part) {
    if (changed) text += (text.empty() ? "" : ", ") + std::string(part);
  };
  name(parts.command, "command");
  name(parts.environment, "environment");
  name(parts.inputs, "contents of the inputs or the program");
  return text;
}

std::string what_comes_next(const TaskStory& story) {
  switch (query::next_step(story)) {
    case NextStep::new_run:
      return "The study now gives other tasks than this run has: the next gantry run starts a new "
             "run, and reuses what is unchanged.";
    case NextStep::run_again:
      return "The next gantry run runs it again: an input changed while it ran.";
    case NextStep::keep_result:
      return "The next gantry run keeps this result as long as the command, the environment and "
             "the contents of the inputs stay as they are.";
    case NextStep::try_again:
      return fmt::format("The next gantry run tries it again; so does gantry retry {}.",
                         story.task.value());
    case NextStep::go_on:
      return "It runs.";
    case NextStep::adopt:
      return "It runs without a gantry: the next gantry run adopts it.";
    case NextStep::ask_site:
      return fmt::format(
          "The same gantry run again asks the site, and adopts it or takes its result; {} ends it.",
          cancel_command(story.run, std::to_string(story.task.value()), story.grid));
    case NextStep::await_turn:
      return "It waits for its turn.";
    case NextStep::take_in_end:
      return "It has ended; the next gantry run takes its result.";
    case NextStep::start:
      break;
  }
  return "The next gantry run starts it.";
}

std::vector<std::string> explain(const TaskStory& story, const std::string& output_dir) {
  std::vector<std::string> lines;
  lines.push_back(fmt::format("task {} of run {} ({}): {}", story.task.value(), story.run.value(),
                              one_line(story.run_name), to_string(story.state)));
  if (story.row &&
      (story.state == query::TaskState::failed || story.state == query::TaskState::cancelled))
    lines.push_back("  because: " +
                    one_line(describe(story.row->cause, story.row->code, story.row->detail)));
  if (story.definition)
    add_definition(lines, story);
  else if (story.row)
    lines.push_back(labelled("parameters", words_of(story.row->parameters)));
  if (story.row && !story.row->results.empty())
    lines.push_back(labelled("results", words_of(story.row->results)));
  add_history(lines, story);
  add_output(lines, story, output_dir);
  if (story.place) {
    lines.emplace_back("now");
    for (const auto& line : place_lines(*story.place)) lines.push_back("  " + line);
  }
  lines.emplace_back("next");
  lines.push_back("  " + what_comes_next(story));
  return lines;
}

void append_explain_json(std::string& out, const TaskStory& story) {
  JsonLine line(out);
  line.number("run", story.run.value()).number("task", story.task.value());
  line.text("state", to_string(story.state));
  if (story.definition) {
    const Task& task = *story.definition;
    line.texts("command", task.argv)
        .text("workdir", task.workdir)
        .scalars("parameters", task.parameters);
    line.texts("inputs", task.inputs)
        .texts("outputs", task.outputs)
        .number("cores", task.resources.cores);
    std::vector<std::string> implied;
    for (const auto& input : story.implied) implied.push_back(input.path);
    line.texts("implied_inputs", implied);
    line.number("memory", task.resources.memory).real("timeout_seconds", seconds(task.timeout));
    if (story.memory)
      line.number("learnt_memory", story.memory->bytes)
          .number("learnt_memory_tasks", story.memory->tasks);
  } else if (story.row) {
    line.scalars("parameters", story.row->parameters);
  }
  if (story.row) line.scalars("results", story.row->results);
  if (!story.remote.empty())
    line.objects("remote_outputs", story.remote, [](JsonLine& entry, const RemoteFile& file) {
      entry.text("path", file.path).text("site", file.site).number("bytes", file.bytes);
      entry.text("content", file.content.hex());
    });
  Fingerprint before;
  line.objects("history", story.history, [&](JsonLine& event, const store::HistoryRow& row) {
    event.text("at", format_time_iso(row.at)).text("kind", row.kind);
    event.number("attempt", row.attempt.value()).text("text", history_text(row));
    event.text("changed", changed_text(query::changed_parts(before, row.fingerprint)));
    if (!row.fingerprint.empty()) before = row.fingerprint;
    if (row.kind != "ended") return;
    event.text("cause", to_string(row.report.cause)).number("code", row.report.code);
    event.text("host", row.host).text("detail", row.report.detail);
    event.real("seconds", seconds(row.report.ended - row.report.started));
  });
  if (story.place) {
    const auto& at = story.place->at;
    line.text("host", at.empty() ? "" : at.back().host.name);
    line.text("site", at.empty() ? "" : at.back().host.site);
    line.texts("now", place_lines(*story.place));
  }
  line.text("next", what_comes_next(story));
  line.close();
}

}  // namespace gantry::cli
