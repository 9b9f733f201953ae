// gantry results: parameters and the values that came out, as a table, CSV, JSON Lines or a plot.
#include <fmt/format.h>

#include <map>

#include "cli/commands/commands.hpp"
#include "cli/commands/result_plot.hpp"
#include "cli/commands/result_rows.hpp"
#include "cli/commands/run_text.hpp"
#include "cli/commands/study.hpp"
#include "cli/commands/task_options.hpp"
#include "cli/terminal/error_report.hpp"

namespace gantry::cli {
namespace {

struct ResultsOptions {
  TaskOptions tasks;
  std::string format = "table";
  bool json = false;
  bool csv = false;
  bool all = false;
  bool wide = false;
  std::vector<std::string> plot;
  std::string by;
  bool log_x = false;
  bool log_y = false;
};

ResultFormat format_of(const ResultsOptions& options) {
  if (options.json || options.format == "jsonl") return ResultFormat::jsonl;
  if (options.csv || options.format == "csv") return ResultFormat::csv;
  return ResultFormat::table;
}

Result<int> plot_results(Context& context, const ResultsOptions& options,
                         const query::StoredRun& run, const query::TaskFilter& filter) {
  TRY_ASSIGN(PlotData data,
             PlotData::create(run.record, options.plot[0], options.plot[1], options.by));
  TRY(query::for_each_task(run.store, run.record, filter,
                           [&](TaskId, query::TaskState, const store::TaskRow* row) {
                             if (row != nullptr) data.add(*row);
                           }));
  PlotOptions drawing;
  drawing.columns = std::clamp<std::size_t>(Terminal::columns(context.out.fd()), 40, 120);
  drawing.log_x = options.log_x;
  drawing.log_y = options.log_y;
  drawing.utf8 = context.terminal.utf8;
  drawing.color = context.terminal.color_stdout;
  for (const auto& line : data.draw(drawing)) context.out.line(line);
  return kExitOk;
}

Result<int> show_results(Context& context, const ResultsOptions& options) {
  TRY_ASSIGN(const query::StoredRun run, query::open_run(context.state_dir, options.tasks.run));
  TRY_ASSIGN(query::TaskFilter filter, filter_of(options.tasks, run.record));
  filter.done = true;
  filter.failed = filter.cancelled = options.all;
  if (!options.plot.empty()) return plot_results(context, options, run, filter);
  const ResultFormat format = format_of(options);
  ResultWriter writer(format, run.record, options.all, context.table_style(options.wide),
                      [&](std::string_view line) { context.out.line(line); });
  std::uint64_t rows = 0;
  TRY(query::for_each_task(run.store, run.record, filter,
                           [&](TaskId, query::TaskState, const store::TaskRow* row) {
                             if (row == nullptr || context.out.closed()) return;
                             ++rows;
                             writer.add(*row);
                           }));
  writer.finish();
  if (rows == 0)
    context.note(fmt::format("no task of run {} has succeeded yet", run.record.id.value()));
  if (format == ResultFormat::table) {
    TRY_ASSIGN(const auto outputs,
               query::outputs_at_sites(run.store, run.record, reload_application));
    const std::string text = remote_output_text(run.record, outputs);
    if (!text.empty()) context.note(text);
  }
  if (rows > 0 && run.record.result_names.empty() && format == ResultFormat::table)
    context.note(
        "This study extracts no values: 'results:' in a sweep file does that. 'gantry log' shows "
        "what tasks printed.");
  return kExitOk;
}

}  // namespace

void add_results(CLI::App& app, Action& action) {
  const auto [command, options] =
      add_command(app, action, "results", "Show parameters and results", show_results);
  add_task_options(*command, options->tasks);
  command->add_option("--format", options->format, "table (default), csv or jsonl")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"table", "csv", "jsonl"}).description(""));
  command->add_flag("--csv", options->csv, "The same as --format csv");
  command->add_flag("--jsonl,--json", options->json, "The same as --format jsonl");
  command->add_flag("--all", options->all, "Include failed and cancelled tasks");
  command->add_flag("--wide", options->wide, "Do not cut lines to the terminal's width");
  command->add_option("--plot", options->plot, "Draw column Y over column X")
      ->expected(2)
      ->type_name("X Y");
  command->add_option("--by", options->by, "With --plot: one mark for each value of COLUMN")
      ->type_name("COLUMN");
  command->add_flag("--log-x", options->log_x, "With --plot: logarithmic X");
  command->add_flag("--log-y", options->log_y, "With --plot: logarithmic Y");
  command->footer(
      "Examples:\n"
      "  gantry results                               a table\n"
      "  gantry results --csv > study.csv             for a spreadsheet or pandas\n"
      "  gantry results --plot start peak --by strength");
}

}  // namespace gantry::cli
