#include "cli/commands/forecast_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/fd.hpp"
#include "base/parallel.hpp"
#include "cli/commands/experiment_report.hpp"
#include "cli/commands/result_rows.hpp"
#include "cli/commands/watched_work.hpp"
#include "cli/terminal/error_report.hpp"
#include "cli/terminal/json_line.hpp"
#include "simulate/forecast_experiment.hpp"

namespace gantry::cli {
namespace {

using forecast::Battery;
using simulate::ForecastSeries;
using simulate::GroupScore;
using simulate::SeriesScore;

constexpr std::uint32_t kUsualSeries = 30;
/// What the battery's own answer, the last of its members, is called here.
constexpr std::string_view kBatteryName = "battery";

std::string_view forecaster_name(std::size_t member) {
  return member + 1 == Battery::members().size() ? kBatteryName : Battery::members()[member];
}

Result<std::vector<ForecastSeries>> all_series(const SimulateOptions& options) {
  auto all =
      simulate::generated_series(options.seed, options.cases > 0 ? options.cases : kUsualSeries);
  for (std::size_t i = 0; i < options.files().size(); ++i) {
    TRY_ASSIGN(auto some, simulate::load_series(options.files()[i], i));
    std::move(some.begin(), some.end(), std::back_inserter(all));
  }
  return all;
}

/// A line for each series, distance and forecaster, below a line of names.
std::string scores_csv(const std::vector<ForecastSeries>& series,
                       const std::vector<SeriesScore>& scores) {
  std::string text = "group,series,values,ahead,forecaster,mean_absolute_error,inside\n";
  for (std::size_t s = 0; s < series.size(); ++s) {
    std::string name;
    append_csv_field(name, series[s].name);
    for (std::size_t d = 0; d < simulate::kDistances; ++d) {
      const auto& [errors, inside] = scores[s].distances[d];
      for (std::size_t i = 0; i < errors.size(); ++i)
        text += fmt::format("{},{},{},{},{},{},{}\n", series[s].group, name,
                            series[s].values.size(), Battery::kHorizons[d], forecaster_name(i),
                            errors[i], i + 1 == errors.size() ? fmt::format("{:.4f}", inside) : "");
    }
  }
  return text;
}

/// Who of the members, on average over the group's series.
std::size_t best_member(const GroupScore& group) {
  return static_cast<std::size_t>(
      std::min_element(group.above_best.begin(), group.above_best.end() - 1) -
      group.above_best.begin());
}

void print_groups(Context& context, const std::vector<GroupScore>& groups) {
  Table table = context.table({{"series", false, false},
                               {"ahead", false, false},
                               {"count", false, false},
                               {"of last", false, false},
                               {"of best", false, false},
                               {"inside %", true, false},
                               {"best member", true, false}});
  for (const GroupScore& group : groups) {
    const std::size_t best = best_member(group);
    table.add({group.group, fmt::format("{}", group.ahead), fmt::format("{}", group.series),
               fmt::format("{:.3f}", group.of_last_value),
               fmt::format("{:.3f}", group.above_best.back()),
               fmt::format("{:.1f}", 100 * group.inside), std::string(Battery::members()[best])});
  }
  table.finish();
}

void print_groups_json(Context& context, const std::vector<GroupScore>& groups,
                       std::uint64_t seed) {
  for (const GroupScore& group : groups) {
    JsonLine line(context.out.buffer());
    line.text("group", group.group)
        .number("seed", seed)
        .number("ahead", group.ahead)
        .number("series", group.series)
        .real("of_last_value", group.of_last_value)
        .real("inside", group.inside);
    line.object("of_best", [&](JsonLine& members) {
      for (std::size_t i = 0; i < group.above_best.size(); ++i)
        members.real(forecaster_name(i), group.above_best[i]);
    });
    line.close();
    context.out.settle();
  }
}

}  // namespace

Result<int> run_forecast_experiment(Context& context, const SimulateOptions& options) {
  TRY_ASSIGN(const auto series, all_series(options));
  TRY_ASSIGN(const auto folder, make_folder(options.out));
  std::vector<SeriesScore> scores(series.size());
  const auto run = [&](const std::stop_token& stop, const std::function<void()>& step) -> Result<> {
    in_parallel(series.size(), options.jobs, [&](std::size_t i) {
      if (stop.stop_requested()) return false;
      scores[i] = simulate::score_series(series[i].values);
      step();
      return true;
    });
    return {};
  };
  TRY_ASSIGN(const bool interrupted,
             watch_work(context,
                        {.name = "forecasts", .steps = series.size(), .keeps = false, .run = run}));
  if (interrupted) return kExitTasksFailed;
  const auto groups = simulate::group_scores(series, scores);
  if (options.json)
    print_groups_json(context, groups, options.seed);
  else
    print_groups(context, groups);
  context.out.flush();
  const auto csv = folder / "forecasts.csv";
  TRY(write_file_atomic(csv, scores_csv(series, scores)));
  context.note(fmt::format("each series and forecaster: {}", csv.string()));
  return kExitOk;
}

}  // namespace gantry::cli
