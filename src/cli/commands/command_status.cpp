// gantry status: where the last run, or any run, stands.
#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "cli/commands/commands.hpp"
#include "cli/commands/run_text.hpp"
#include "cli/terminal/display_text.hpp"
#include "cli/terminal/error_report.hpp"
#include "cli/terminal/format.hpp"
#include "cli/terminal/progress_text.hpp"
#include "cli/terminal/redraw_block.hpp"
#include "model/quantity.hpp"
#include "query/run_status.hpp"
#include "query/stored_run.hpp"
#include "store/run_lock.hpp"

namespace gantry::cli {
namespace {

constexpr std::size_t kNameColumns = 48;  ///< leaves room for the rest of its line

struct StatusOptions {
  std::string run = "last";
  bool json = false;
  bool watch = false;
};

std::string what_next(const store::RunRecord& record) {
  const auto& counts = record.counts;
  if (counts.failed > 0 && counts.done + counts.failed < counts.total)
    return "gantry tasks --failed says why; the same gantry run continues with the pending tasks, "
           "and retries the failed ones";
  if (counts.failed > 0)
    return "gantry tasks --failed says why; gantry retry --failed runs them again";
  if (counts.done < counts.total) return "the same gantry run again continues it";
  return record.result_names.empty() ? "" : "gantry results shows the results";
}

std::vector<std::string> status_lines(const store::RunRecord& record,
                                      const query::RunStatus& status, bool color) {
  const query::AgentView::Tally& outlived = status.outlived;
  const bool warns = status.phase == query::RunPhase::interrupted || record.counts.failed > 0;
  std::vector<std::string> lines;
  lines.push_back(fmt::format(
      "run {} ({}): {}", record.id.value(), fit(one_line(record.name), kNameColumns, false),
      paint(to_string(status.phase), warns ? Color::yellow : Color::green, color)));
  lines.push_back("  " + counts_text(status.counts, 0, status.unknown));
  lines.push_back(fmt::format("  started {}, last news {}", format_time(record.created),
                              format_time(record.updated)));
  const std::uint32_t left = outlived.running;
  if (status.driver) {
    const bool foretold = status.eta.expected > Duration{0};
    lines.push_back(fmt::format("  driven by process {}{}", *status.driver,
                                foretold ? ", ETA " + format_eta(status.eta) : ""));
  } else if (left > 0) {
    lines.push_back(
        fmt::format("  {} still run{} without a gantry: the same gantry run again adopts {}, "
                    "gantry cancel --run {} ends {}",
                    count_of(left, "task"), left == 1 ? "s" : "", left == 1 ? "it" : "them",
                    record.id.value(), left == 1 ? "it" : "them"));
  }
  if (outlived.unseen > 0)
    lines.push_back(fmt::format(
        "  {} at {} when gantry was killed, and may still run: {}",
        outlived.unseen == 1 ? "1 task was" : fmt::format("{} tasks were", outlived.unseen),
        sites_text(outlived), next_for_unseen(record.id, outlived.grid)));
  if (outlived.ended > 0) {
    lines.push_back(fmt::format(
        "  {} ended without a gantry: the next gantry run takes {} in",
        outlived.ended == 1 ? "1 task has" : fmt::format("{} tasks have", outlived.ended),
        outlived.ended == 1 ? "its end" : "their ends"));
  } else if (left > 0 || outlived.unseen > 0 || status.driver) {
    return lines;
  } else if (const std::string next = what_next(record); !next.empty()) {
    lines.push_back("  " + next);
  }
  return lines;
}

/// The first line of a run, which may be painted, is short.
void print_wrapped(Context& context, const std::string& line) {
  if (!line.starts_with(' ')) return context.out.line(line);
  for (const auto& piece : wrap(line, Terminal::columns(context.out.fd()), 4))
    context.out.line(piece);
}

Result<int> show_once(Context& context, const StatusOptions& options) {
  TRY_ASSIGN(const auto runs, query::open_runs(context.state_dir, options.run));
  const auto holder = store::RunLock::holder(context.state_dir);
  const query::AgentView agent(context.state_dir);
  for (const auto& record : runs.records) {
    TRY_ASSIGN(const auto status,
               query::status_of(runs.store, agent, record, holder, RealClock{}.now()));
    if (options.json) {
      append_run_json(context.out.buffer(), record, status);
      context.out.settle();
      continue;
    }
    for (const auto& line : status_lines(record, status, context.terminal.color_stdout))
      print_wrapped(context, line);
  }
  return kExitOk;
}

/// Until nobody drives the run any more. Ctrl-C ends the program in the ordinary way.
Result<int> watch_status(Context& context, const StatusOptions& options) {
  TRY_ASSIGN(const query::StoredRun run, query::open_run(context.state_dir, options.run));
  {
    RedrawBlock block(context.out, [&] { return Terminal::columns(context.out.fd()); });
    while (!context.out.closed()) {
      TRY_ASSIGN(const auto record, run.store.run(run.record.id));
      const auto holder = store::RunLock::holder(context.state_dir);
      if (!record || !query::driver_of(*record, holder)) break;
      TRY_ASSIGN(const auto status,
                 query::status_of(run.store, {}, *record, holder, RealClock{}.now()));
      if (options.json) {
        append_run_json(context.out.buffer(), *record, status);
        context.out.flush();
      } else {
        auto lines = status_lines(*record, status, false);
        const std::size_t columns = Terminal::columns(context.out.fd());
        for (auto& line : lines) line = fit(line, columns - 1, context.terminal.utf8);
        if (context.terminal.stdout_is_tty) block.draw(std::move(lines));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
    }
  }
  return show_once(context, {std::to_string(run.record.id.value()), options.json, false});
}

Result<int> show_status(Context& context, const StatusOptions& options) {
  return options.watch ? watch_status(context, options) : show_once(context, options);
}

}  // namespace

void add_status(CLI::App& app, Action& action) {
  const auto [command, options] =
      add_command(app, action, "status", "Show where a run stands", show_status);
  command->add_option("RUN", options->run, "last (default), all, or a run's number")->type_name("");
  command->add_flag("--json", options->json, "One JSON object per line");
  command->add_flag("--watch", options->watch, "Refresh until the run ends");
  command->footer(
      "Examples:\n"
      "  gantry status              the last run\n"
      "  gantry status 3 --json     run 3, for a program\n"
      "  gantry status --watch      follow a run from another terminal");
}

}  // namespace gantry::cli
