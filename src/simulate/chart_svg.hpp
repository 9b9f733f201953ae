#pragma once
/// Charts of makespans for several schedulers: lines over something that is varied, or bars side by
/// side. In the style of gantt_svg.hpp: self-contained text, no scripts. Pure functions.

#include <string>
#include <vector>

#include "simulate/experiment_statistics.hpp"

namespace gantry::simulate {

struct ChartSeries {
  std::string name;
  std::vector<Measure> values{};  ///< seconds, one for each label; not finite: left out
};

struct ChartPanel {
  std::string title;
  std::vector<ChartSeries> series{};
};

/// All panels have the same axes.
struct Chart {
  std::string title;
  std::string subtitle{};
  std::string x_title{};
  std::vector<std::string> labels{};
  std::vector<double> places{};  ///< of the labels, ascending; none: bars
  std::vector<ChartPanel> panels{};
};

[[nodiscard]] std::string chart_svg(const Chart& chart);

}  // namespace gantry::simulate
