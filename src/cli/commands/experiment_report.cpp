#include "cli/commands/experiment_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/terminal/json_line.hpp"

namespace gantry::cli {
namespace {

/// More points than this are compared in one table.
constexpr std::size_t kFewPoints = 3;

void print_point(Context& context, const simulate::ExperimentPoint& point) {
  const std::size_t cases = point.table.makespans.size();
  context.out.line(fmt::format("{} ({} {})", point.label, cases, cases == 1 ? "case" : "cases"));
  Table table = context.table({{"scheduler", false, false},
                               {"geometric mean s", false},
                               {"above best %", false},
                               {"average rank", false},
                               {"x bound", false}});
  for (const auto& found : simulate::statistics(point.table))
    table.add({found.scheduler, seconds_text(found.geometric_mean.value),
               fmt::format("{:.2f}", 100 * found.degradation.value),
               fmt::format("{:.2f}", found.rank.value),
               fmt::format("{:.3f}", found.distance.value)});
  table.finish();
}

void print_compact(Context& context, const std::vector<simulate::ExperimentPoint>& points) {
  std::vector<Column> columns{{"mean makespan s", false, false}};
  for (const std::string& scheduler : points.front().table.schedulers)
    columns.push_back({scheduler, false});
  Table table = context.table(std::move(columns));
  for (const simulate::ExperimentPoint& point : points) {
    const auto means = simulate::mean_makespans(point.table);
    const bool empty = point.table.makespans.empty();
    const double least = std::ranges::min(means, {}, &simulate::Measure::value).value;
    std::vector<Cell> cells{{point.label}};
    for (const simulate::Measure& mean : means)
      cells.emplace_back(empty ? "-" : seconds_text(mean.value),
                         mean.value <= least * (1 + 1e-9) ? Color::green : Color::none);
    table.add(std::move(cells));
  }
  table.finish();
}

void append_measure(JsonLine& line, const std::string& name, const simulate::Measure& measure) {
  line.real(name, measure.value)
      .real(name + "_low", measure.low)
      .real(name + "_high", measure.high);
}

void append_point(JsonLine& line, const simulate::ExperimentPoint& point) {
  line.text("point", point.label).number("cases", point.table.makespans.size());
  auto found = simulate::statistics(point.table);
  if (point.table.makespans.empty()) found.clear();
  const auto means = simulate::mean_makespans(point.table);
  auto mean = means.begin();
  line.objects("schedulers", found, [&](JsonLine& entry, const auto& scheduler) {
    entry.text("scheduler", scheduler.scheduler);
    append_measure(entry, "geometric_mean_s", scheduler.geometric_mean);
    append_measure(entry, "mean_s", *mean++);
    append_measure(entry, "degradation", scheduler.degradation);
    append_measure(entry, "rank", scheduler.rank);
    append_measure(entry, "distance", scheduler.distance);
  });
}

}  // namespace

std::string seconds_text(double seconds) {
  if (seconds >= 1000) return fmt::format("{:.0f}", seconds);
  return fmt::format("{:.{}f}", seconds, seconds >= 100 ? 1 : seconds >= 10 ? 2 : 3);
}

Result<std::filesystem::path> make_folder(const std::string& name) {
  std::filesystem::path folder(name);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return fail(ErrorCode::io,
                fmt::format("cannot make the folder {}: {}", folder.string(), error.message()));
  return folder;
}

void print_experiment(Context& context, const std::vector<simulate::ExperimentPoint>& points) {
  if (points.size() > kFewPoints) return print_compact(context, points);
  bool first = true;
  for (const simulate::ExperimentPoint& point : points) {
    if (point.table.makespans.empty()) continue;
    if (!std::exchange(first, false)) context.out.line("");
    print_point(context, point);
  }
}

void print_experiment_json(Context& context, const ExperimentLabel& label,
                           const std::vector<simulate::ExperimentPoint>& points) {
  JsonLine line(context.out.buffer());
  line.text("experiment", label.experiment)
      .number("seed", label.seed)
      .number("cases", label.cases)
      .flag("complete", label.complete);
  line.objects("points", points, append_point).close();
  context.out.settle();
}

}  // namespace gantry::cli
