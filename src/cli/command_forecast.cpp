// gantry forecast: what is expected of hosts, links and the run, and how good that was so far.
#include <fmt/format.h>

#include <memory>

#include "cli/commands.hpp"
#include "cli/error_report.hpp"
#include "cli/forecast_text.hpp"
#include "cli/stored_run.hpp"
#include "driver/live_state.hpp"

namespace gantry::cli {
namespace {

/// Of the run that goes on, or else of the last one that learnt something.
Result<std::optional<driver::LiveState>> newest(const Context& context, bool& goes_on) {
  auto state = driver::read_live(context.state_dir);
  goes_on = state.has_value();
  if (state) return state;
  TRY_ASSIGN(const auto store, store::Store::open(context.state_dir, store::Access::read_only));
  TRY_ASSIGN(const auto kept, store.learned(std::string(driver::kForecastsKind)));
  if (kept.empty()) return std::nullopt;
  return driver::read_live_text(kept.front().value);
}

Result<int> run_forecast(Context& context, bool json) {
  bool goes_on = false;
  TRY_ASSIGN(const auto state, newest(context, goes_on));
  if (!state) {
    context.note("nothing is forecast yet: no task has ended here. gantry run begins");
    return kExitTasksFailed;
  }
  if (json) {
    context.out.write(driver::live_text(*state));
    return kExitOk;
  }
  for (const std::string& line :
       forecast_lines(*state, goes_on, RealClock{}.now(), context.table_style(false)))
    context.out.line(line);
  return kExitOk;
}

}  // namespace

void add_forecast(CLI::App& app, Action& action) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command =
      app.add_subcommand("forecast", "What is expected of hosts and links, and how sure");
  command->add_flag("--json", *json, "One JSON document (docs/formats/live.md)");
  command->footer(
      "Of the run that goes on, or of the last one. For each host: the seconds that a\n"
      "task of cost 1 takes there (pace), and which share of their speed its tasks get\n"
      "as others compute there too; for each link: how fast it carries files.\n"
      "Each forecast has an interval in which four of five values should lie, the\n"
      "forecaster that was best of late, how far off forecasts were on average\n"
      "(error), and which part of the values lay in their interval (inside).\n"
      "If run times follow from parameters: by which kind of function, and how far off\n"
      "that is, as part of how far off the mean would be.\n\n"
      "Examples:\n"
      "  gantry forecast\n"
      "  gantry forecast --json | jq '.hosts[].pace_forecast'");
  command->callback([json, &action] {
    action = [json](Context& context) { return run_forecast(context, *json); };
  });
}

}  // namespace gantry::cli
