// gantry status: where the last run, or any run, stands.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>

#include "cli/commands/commands.hpp"
#include "cli/commands/selector.hpp"
#include "cli/commands/stored_run.hpp"
#include "cli/terminal/display_text.hpp"
#include "cli/terminal/error_report.hpp"
#include "cli/terminal/format.hpp"
#include "cli/terminal/live_block.hpp"
#include "cli/terminal/progress_text.hpp"
#include "store/run_lock.hpp"

namespace gantry::cli {
namespace {

constexpr std::size_t kNameColumns = 48;  ///< leaves room for the rest of its line

struct StatusOptions {
  std::string run = "last";
  bool json = false;
  bool watch = false;
};

std::string what_next(const store::RunRecord& record, std::string_view state) {
  const auto& counts = record.counts;
  if (state == "running") return {};
  if (counts.failed > 0 && counts.done + counts.failed < counts.total)
    return "gantry tasks --failed says why; the same gantry run continues with the pending tasks, "
           "and retries the failed ones";
  if (counts.failed > 0)
    return "gantry tasks --failed says why; gantry retry --failed runs them again";
  if (counts.done < counts.total) return "the same gantry run again continues it";
  return record.result_names.empty() ? "" : "gantry results shows the results";
}

std::vector<std::string> status_lines(const store::RunRecord& record, std::optional<int> holder,
                                      const AgentView::Tally& outlived, bool color) {
  const std::string_view state = run_state(record, holder);
  const Color state_color =
      state == "interrupted" || record.counts.failed > 0 ? Color::yellow : Color::green;
  store::Counts counts = record.counts;
  const std::uint32_t left = outlived.running;
  if (state != "running") counts.running = left;  // not the last figure of a driver that is gone
  std::vector<std::string> lines;
  lines.push_back(fmt::format("run {} ({}): {}", record.id.value(),
                              fit(one_line(record.name), kNameColumns, false),
                              paint(state, state_color, color)));
  lines.push_back("  " + counts_text(counts, 0, unknown_of(counts, outlived)));
  std::string times = fmt::format("  started {}, last news {}", format_time(record.created),
                                  format_time(record.updated));
  lines.push_back(times);
  if (const auto driver = driver_of(record, holder)) {
    const Eta eta = eta_of(record, RealClock{}.now());
    lines.push_back(fmt::format("  driven by process {}{}", *driver,
                                eta.expected > Duration{0} ? ", ETA " + format_eta(eta) : ""));
  } else if (left > 0) {
    lines.push_back(
        fmt::format("  {} still run{} without a gantry: the same gantry run again adopts {}, "
                    "gantry cancel --run {} ends {}",
                    left == 1 ? "1 task" : fmt::format("{} tasks", left), left == 1 ? "s" : "",
                    left == 1 ? "it" : "them", record.id.value(), left == 1 ? "it" : "them"));
  }
  if (outlived.may_run > 0)
    lines.push_back(fmt::format(
        "  {} at {} when gantry was killed, and may still run: {}",
        outlived.may_run == 1 ? "1 task was" : fmt::format("{} tasks were", outlived.may_run),
        fmt::join(outlived.sites, ", "), next_for_unseen(record.id, outlived.grid)));
  if (outlived.ended > 0) {
    lines.push_back(fmt::format(
        "  {} ended without a gantry: the next gantry run takes {} in",
        outlived.ended == 1 ? "1 task has" : fmt::format("{} tasks have", outlived.ended),
        outlived.ended == 1 ? "its end" : "their ends"));
  } else if (left > 0 || outlived.may_run > 0 || driver_of(record, holder)) {
    return lines;
  } else if (const std::string next = what_next(record, state); !next.empty()) {
    lines.push_back("  " + next);
  }
  return lines;
}

Result<std::vector<store::RunRecord>> chosen_runs(const Context& context,
                                                  const RunSelector& which) {
  if (which.kind == RunSelector::Kind::all) {
    TRY_ASSIGN(const store::Store store, open_store(context));
    return store.runs();
  }
  const std::string name =
      which.kind == RunSelector::Kind::last ? "last" : std::to_string(which.id.value());
  TRY_ASSIGN(StoredRun run, open_run(context, name));
  return std::vector{std::move(run.record)};
}

/// The first line of a run, which may be painted, is short.
void print_wrapped(Context& context, const std::string& line) {
  if (!line.starts_with(' ')) return context.out.line(line);
  for (const auto& piece : wrap(line, Terminal::columns(context.out.fd()), 4))
    context.out.line(piece);
}

Result<int> show_once(Context& context, const StatusOptions& options) {
  TRY_ASSIGN(const RunSelector which, parse_run_selector(options.run));
  TRY_ASSIGN(const auto records, chosen_runs(context, which));
  const auto holder = store::RunLock::holder(context.state_dir);
  TRY_ASSIGN(const store::Store store, open_store(context));
  const AgentView agent(context);
  for (const auto& record : records) {
    TRY_ASSIGN(const auto left, outlived(store, agent, record, holder));
    if (options.json) {
      append_run_json(context.out.buffer(), record, holder, left);
      context.out.settle();
      continue;
    }
    for (const auto& line : status_lines(record, holder, left, context.terminal.color_stdout))
      print_wrapped(context, line);
  }
  return kExitOk;
}

/// Until nobody drives the run any more. Ctrl-C ends the program in the ordinary way.
Result<int> watch(Context& context, const StatusOptions& options) {
  TRY_ASSIGN(const StoredRun run, open_run(context, options.run));
  {
    LiveBlock block(context.out, [&] { return Terminal::columns(context.out.fd()); });
    while (!context.out.closed()) {
      TRY_ASSIGN(const auto record, run.store.run(run.record.id));
      const auto holder = store::RunLock::holder(context.state_dir);
      if (!record || !driver_of(*record, holder)) break;
      if (options.json) {
        append_run_json(context.out.buffer(), *record, holder);
        context.out.flush();
      } else {
        auto lines = status_lines(*record, holder, {}, false);
        const std::size_t columns = Terminal::columns(context.out.fd());
        for (auto& line : lines) line = fit(line, columns - 1, context.terminal.utf8);
        if (context.terminal.stdout_is_tty) block.draw(std::move(lines));
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(500));
    }
  }
  return show_once(context, {std::to_string(run.record.id.value()), options.json, false});
}

}  // namespace

void add_status(CLI::App& app, Action& action) {
  auto options = std::make_shared<StatusOptions>();
  CLI::App* command = app.add_subcommand("status", "Show where a run stands");
  command->add_option("RUN", options->run, "last (default), all, or a run's number")->type_name("");
  command->add_flag("--json", options->json, "One JSON object per line");
  command->add_flag("--watch", options->watch, "Refresh until the run ends");
  command->footer(
      "Examples:\n"
      "  gantry status              the last run\n"
      "  gantry status 3 --json     run 3, for a program\n"
      "  gantry status --watch      follow a run from another terminal");
  command->callback([options, &action] {
    action = [options](Context& context) {
      return options->watch ? watch(context, *options) : show_once(context, *options);
    };
  });
}

}  // namespace gantry::cli
