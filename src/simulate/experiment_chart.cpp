#include "simulate/experiment_chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

namespace gantry::simulate {

namespace {

/// "every 500 s p=10%" belongs to the panel "planned every 500 s", at "10%"; others to one panel.
struct PlaceInChart {
  std::string panel;
  std::string label;
};

PlaceInChart place_in_chart(const std::string& label) {
  constexpr std::string_view kError = " p=";
  const std::size_t at = label.find(kError);
  if (at == std::string::npos) return {"", label};
  return {"planned " + label.substr(0, at), label.substr(at + kError.size())};
}

ChartPanel& panel_named(Chart& chart, const std::string& title,
                        const std::vector<std::string>& schedulers) {
  const auto known = std::ranges::find(chart.panels, title, &ChartPanel::title);
  if (known != chart.panels.end()) return *known;
  ChartPanel panel{.title = title};
  for (const std::string& scheduler : schedulers) panel.series.push_back({.name = scheduler});
  return chart.panels.emplace_back(std::move(panel));
}

Chart chart_of_points(const std::vector<ExperimentPoint>& points) {
  Chart chart;
  for (const ExperimentPoint& point : points) {
    const auto [title, label] = place_in_chart(point.label);
    ChartPanel& panel = panel_named(chart, title, point.table.schedulers);
    const auto means = mean_makespans(point.table);
    for (std::size_t i = 0; i < panel.series.size(); ++i) {
      Measure mean = means[i];
      if (point.table.makespans.empty()) mean.value = std::numeric_limits<double>::quiet_NaN();
      panel.series[i].values.push_back(mean);
    }
    if (std::ranges::find(chart.labels, label) == chart.labels.end()) chart.labels.push_back(label);
  }
  return chart;
}

}  // namespace

Chart experiment_chart(std::string_view experiment, const std::vector<ExperimentPoint>& points) {
  Chart chart = chart_of_points(points);
  chart.title = experiment;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const ExperimentPoint& point : points) least = std::min(least, point.table.makespans.size());
  chart.subtitle =
      fmt::format("mean makespan, {} {} per point", least, least == 1 ? "case" : "cases");
  const bool sizes = experiment == "psa-filesize";
  if (!sizes && experiment != "psa-qoi") return chart;
  chart.x_title = sizes ? "size of a shared file (logarithmic)" : "estimates are off by up to";
  for (const std::string& label : chart.labels) {
    const double number = std::strtod(label.c_str(), nullptr);
    chart.places.push_back(sizes ? std::log(number) : number);
  }
  return chart;
}

}  // namespace gantry::simulate
