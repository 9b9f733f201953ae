// gantry forecast: what is expected of hosts, links and the run, and how good that was so far.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "cli/commands/commands.hpp"
#include "cli/commands/forecast_text.hpp"
#include "cli/commands/stored_run.hpp"
#include "cli/terminal/error_report.hpp"
#include "store/live_state.hpp"

namespace gantry::cli {
namespace {

struct ForecastOptions {
  std::string run;  ///< empty: the one that goes on, or the last one that learnt something
  bool json = false;
};

struct Found {
  std::optional<store::LiveState> state{};
  bool goes_on = false;
};

/// What a gantry shows, or has shown until it was killed.
Found shown_now(const Context& context) {
  if (auto state = store::read_live(context.state_dir)) return {std::move(state), true};
  auto left = store::read_left_live(context.state_dir);
  if (left) {
    left->pid = 0;
    left->ends = left->ends_soonest = left->ends_latest = kNever;
    left->draining = "it was killed";
  }
  return {std::move(left)};
}

Result<Found> find_newest(const Context& context) {
  if (Found shown = shown_now(context); shown.state) return shown;
  TRY_ASSIGN(const auto store, open_store(context));
  TRY_ASSIGN(auto kept, store.learned(std::string(store::kForecastsKind)));
  std::ranges::sort(kept, std::ranges::greater{}, &store::Store::Learned::updated);
  for (const auto& each : kept)  // one may be damaged
    if (auto state = store::read_live_text(each.value)) return Found{std::move(state)};
  return Found{};
}

Result<Found> find_run(const Context& context, const std::string& selector) {
  TRY_ASSIGN(const StoredRun run, open_run(context, selector));
  const auto id = run.record.id.value();
  if (Found shown = shown_now(context); shown.state && shown.state->run == id) return shown;
  TRY_ASSIGN(const auto kept,
             run.store.learned(std::string(store::kForecastsKind), std::to_string(id)));
  return Found{kept ? store::read_live_text(kept->value) : std::nullopt};
}

Result<int> run_forecast(Context& context, const ForecastOptions& options) {
  TRY_ASSIGN(const Found found,
             options.run.empty() ? find_newest(context) : find_run(context, options.run));
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
  auto options = std::make_shared<ForecastOptions>();
  CLI::App* command =
      app.add_subcommand("forecast", "Show what is expected of hosts, links and tasks");
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
  command->callback([options, &action] {
    action = [options](Context& context) { return run_forecast(context, *options); };
  });
}

}  // namespace gantry::cli
