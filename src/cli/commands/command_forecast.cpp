// gantry forecast: what is expected of hosts, links and the run, and how good that was so far.

#include "cli/commands/commands.hpp"
#include "cli/commands/forecast_text.hpp"
#include "cli/terminal/error_report.hpp"
#include "query/last_forecast.hpp"

namespace gantry::cli {
namespace {

struct ForecastOptions {
  std::string run;  ///< empty: the one that goes on, or the last one that learnt something
  bool json = false;
};

Result<int> run_forecast(Context& context, const ForecastOptions& options) {
  TRY_ASSIGN(const auto found, options.run.empty()
                                   ? query::newest_forecast(context.state_dir)
                                   : query::forecast_of(context.state_dir, options.run));
  if (!found.state) {
    context.note(options.run.empty()
                     ? "there are no forecasts yet: no task that had one has ended"
                     : "no forecasts are kept of that run: its gantry was killed, no task that had "
                       "a forecast ended in it, or 20 newer runs are kept");
    return kExitTasksFailed;
  }
  if (options.json) {
    context.out.write(store::live_text(*found.state));
    return kExitOk;
  }
  for (const std::string& line :
       forecast_lines(*found.state, found.goes_on, RealClock{}.now(), context.table_style()))
    context.out.line(line);
  return kExitOk;
}

}  // namespace

void add_forecast(CLI::App& app, Action& action) {
  const auto [command, options] = add_command(
      app, action, "forecast", "Show what is expected of hosts, links and tasks", run_forecast);
  command->add_option("--run", options->run, "The run: last or a number")->type_name("RUN");
  command->add_flag("--json", options->json, "One JSON document (docs/formats/live.md)");
  command->footer(
      "Forecasts of the run in progress, or of the last one in which tasks ended; those\n"
      "of the last 20 runs are kept. The first line says how far off run times were,\n"
      "each forecast when its task started. Then, one table each:\n"
      "  host        pace: how long a typical task (of cost 1) takes there\n"
      "  host        share: the part of a processor that a task gets there, less when\n"
      "              others compute there too, or under a quota\n"
      "  link to     how fast it carries files\n"
      "  answer of   how long a message to the site and its answer take\n"
      "  queue of    how long jobs wait in a cluster's queue\n"
      "  start at    what a task costs besides its run time\n"
      "Each has an 80% interval, the average error of past forecasts, the share of\n"
      "values that were inside their interval, and the forecaster that has been best\n"
      "lately (by). If run times depend on parameters, a line names the kind of\n"
      "function, how many tasks it was learnt from (earlier runs included), and its\n"
      "error relative to that of a plain mean. The same for the sizes of outputs and,\n"
      "with 'resources: {memory: learn}', for the memory that tasks are given.\n"
      "\n"
      "Examples:\n"
      "  gantry forecast\n"
      "  gantry forecast --run 3\n"
      "  gantry forecast --json | jq '.hosts[].pace_forecast'");
}

}  // namespace gantry::cli
