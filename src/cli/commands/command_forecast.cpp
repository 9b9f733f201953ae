// gantry forecast: what is expected of hosts, links and the run, and how good that was so far.
#include <memory>

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
                     ? "nothing is forecast yet: no task has ended of which something was foretold"
                     : "nothing is kept of that run: its gantry was killed, no task ended in it of "
                       "which something was foretold, or 20 newer ones are kept");
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
  auto options = std::make_shared<ForecastOptions>();
  CLI::App* command =
      app.add_subcommand("forecast", "What is expected of hosts and links, and how sure");
  command->add_option("--run", options->run, "The run: last or a number")->type_name("RUN");
  command->add_flag("--json", options->json, "One JSON document (docs/formats/live.md)");
  command->footer(
      "Of the run that goes on, or of the last one that ended tasks (the last 20 are\n"
      "kept). First how far off the run times were that it counted with, each foretold\n"
      "when its task started. For each host: how long a usual task (of cost 1) takes\n"
      "there (pace), and which share of a processor a task gets that could use a whole\n"
      "one: less when others compute there, too, or where the host has a quota (share).\n"
      "For each link: how fast it carries files, and how long a message\n"
      "there and its answer take (answer of); for each cluster: how long its jobs wait\n"
      "(queue of); for each site: what a task costs besides its run time (start at).\n"
      "Each forecast has an interval in which four of five values should lie, the\n"
      "forecaster that was best of late, how far off forecasts were on average\n"
      "(error), and which part of the values lay in their interval (inside).\n"
      "If run times follow from parameters: by which kind of function, learnt from how\n"
      "many tasks (earlier runs' too, not those that were cut short), and how far off\n"
      "it is, as part of how far off the mean of all would be. The same of the sizes\n"
      "of outputs and, with 'resources: {memory: learn}', of the memory that is given.\n\n"
      "Examples:\n"
      "  gantry forecast\n"
      "  gantry forecast --run 3\n"
      "  gantry forecast --json | jq '.hosts[].pace_forecast'");
  set_action(*command, action, options, run_forecast);
}

}  // namespace gantry::cli
