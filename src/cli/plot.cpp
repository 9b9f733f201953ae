#include "cli/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "cli/display_text.hpp"
#include "cli/terminal.hpp"

namespace gantry::cli {
namespace {

constexpr std::string_view kMarks = "ox+*#@%&";
constexpr std::array kColors{Color::cyan,    Color::yellow, Color::green,
                             Color::magenta, Color::blue,   Color::red};

/// One axis: what part of it a value is along, and what value stands at a part.
class Axis {
 public:
  Axis(bool logarithmic, const std::vector<double>& values) : log_(logarithmic) {
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    for (const double value : values) {
      low = std::min(low, scale(value));
      high = std::max(high, scale(value));
    }
    if (high <= low) {  // a single value stands in the middle
      const double margin = low == 0 ? 1 : std::abs(low) / 2;
      low -= margin;
      high = low + 2 * margin;
    }
    low_ = low;
    high_ = high;
  }

  static bool usable(double value, bool logarithmic) {
    return std::isfinite(value) && (!logarithmic || value > 0);
  }
  /// 0 at the low end, 1 at the high end. Halves first: the difference of two huge values may
  /// overflow.
  [[nodiscard]] double part(double value) const {
    const double length = high_ / 2 - low_ / 2;
    return length > 0 ? std::clamp((scale(value) / 2 - low_ / 2) / length, 0.0, 1.0) : 0.5;
  }
  [[nodiscard]] std::string label(double part) const {
    const double scaled = low_ * (1 - part) + high_ * part;
    const double value = log_ ? std::pow(10.0, scaled) : scaled;
    // A rounding residue near zero would read as 1.4e-17.
    const bool residue =
        !log_ && std::abs(value) < 1e-12 * std::max(std::abs(low_), std::abs(high_));
    return fmt::format("{:.4g}", residue ? 0.0 : value);
  }

 private:
  [[nodiscard]] double scale(double value) const { return log_ ? std::log10(value) : value; }
  bool log_;
  double low_ = 0;
  double high_ = 1;
};

/// The drawing area, in characters; with braille each holds 2 x 4 dots.
class Canvas {
 public:
  Canvas(std::size_t columns, std::size_t rows, bool braille)
      : columns_(columns),
        rows_(rows),
        braille_(braille),
        cells_(columns * rows, 0),
        groups_(columns * rows, 0) {}

  void set(double x_part, double y_part, std::size_t group) {
    const std::size_t across = braille_ ? 2 : 1;
    const std::size_t down = braille_ ? 4 : 1;
    const auto place = [](double part, std::size_t count) {
      return static_cast<std::size_t>(std::lround(part * static_cast<double>(count - 1)));
    };
    const std::size_t x = place(x_part, columns_ * across);
    const std::size_t y = place(1 - y_part, rows_ * down);
    const std::size_t at = y / down * columns_ + x / across;
    // Dots 1-2-3-7 go down the left half of a braille character, 4-5-6-8 down the right.
    constexpr std::array<std::array<std::uint8_t, 4>, 2> kDots{
        {{0x01, 0x02, 0x04, 0x40}, {0x08, 0x10, 0x20, 0x80}}};
    cells_[at] = static_cast<std::uint8_t>(cells_[at] | (braille_ ? kDots[x % 2][y % 4] : 1));
    groups_[at] = group;
  }

  [[nodiscard]] std::string row(std::size_t row, bool grouped, bool color) const {
    std::string line;
    for (std::size_t column = 0; column < columns_; ++column) {
      const std::size_t at = row * columns_ + column;
      if (cells_[at] == 0) {
        line += ' ';
        continue;
      }
      const std::size_t group = groups_[at];
      line += paint(mark(cells_[at], group, grouped), kColors[group % kColors.size()], color);
    }
    const std::size_t end = line.find_last_not_of(' ');
    line.resize(end == std::string::npos ? 0 : end + 1);
    return line;
  }

 private:
  [[nodiscard]] std::string mark(std::uint8_t dots, std::size_t group, bool grouped) const {
    if (!braille_) return std::string(1, grouped ? kMarks[group % kMarks.size()] : '*');
    // U+2800 + dots, in UTF-8.
    return {static_cast<char>(0xe2), static_cast<char>(0xa0 | (dots >> 6)),
            static_cast<char>(0x80 | (dots & 0x3f))};
  }

  std::size_t columns_;
  std::size_t rows_;
  bool braille_;
  std::vector<std::uint8_t> cells_;
  std::vector<std::size_t> groups_;
};

struct YLabels {
  std::vector<std::string> of_row;
  std::size_t width = 0;
};

YLabels label_rows(const Axis& axis, std::size_t rows) {
  YLabels labels{std::vector<std::string>(rows), 0};
  const std::size_t step = std::max<std::size_t>(1, (rows - 1) / 4);
  for (std::size_t row = 0; row < rows; row += step) {
    labels.of_row[row] = axis.label(1 - static_cast<double>(row) / static_cast<double>(rows - 1));
    labels.width = std::max(labels.width, labels.of_row[row].size());
  }
  return labels;
}

std::string x_label(const Axis& axis, double part, double value_part, const PlotOptions& options) {
  if (options.x_categories.empty()) return axis.label(part);
  const auto count = static_cast<double>(options.x_categories.size());
  const auto index = static_cast<std::size_t>(std::lround(value_part * (count - 1)));
  return fit(one_line(options.x_categories[index]), 16, options.utf8);
}

/// Low, middle and high value below the axis.
std::string x_labels(const Axis& axis, std::size_t width, const PlotOptions& options) {
  const std::string low = x_label(axis, 0, 0, options);
  const std::string middle = x_label(axis, 0.5, 0.5, options);
  const std::string high = x_label(axis, 1, 1, options);
  const auto pad_to = [](std::string& line, std::size_t column) {
    const std::size_t used = display_width(line);
    if (used < column) line.append(column - used, ' ');
  };
  if (options.x_categories.size() == 1) {
    std::string line;
    pad_to(line, width / 2 - std::min(width / 2, display_width(middle) / 2));
    return line + middle;
  }
  std::string line = low;
  const std::size_t middle_at = width / 2 - std::min(width / 2, display_width(middle) / 2);
  const std::size_t high_at = width - std::min(width, display_width(high));
  const bool middle_exact = options.x_categories.empty() || options.x_categories.size() % 2 == 1;
  if (middle_exact && middle_at > display_width(line) + 1 &&
      middle_at + display_width(middle) + 1 < high_at) {
    pad_to(line, middle_at);
    line += middle;
  }
  pad_to(line, std::max(high_at, display_width(line) + 1));
  return line + high;
}

std::vector<std::string> legend(const PlotOptions& options) {
  std::string line;
  std::vector<std::string> lines;
  std::size_t used = 0;
  for (std::size_t i = 0; i < options.groups.size(); ++i) {
    const std::string name = fit(one_line(options.groups[i]), 24, options.utf8);
    const std::size_t width = display_width(name) + 4;
    if (used > 0 && used + width > options.columns) {
      lines.push_back(std::exchange(line, {}));
      used = 0;
    }
    line += used > 0 ? "  " : "";
    line += paint(std::string(1, kMarks[i % kMarks.size()]), kColors[i % kColors.size()],
                  options.color);
    line += ' ' + name;
    used += width;
  }
  if (!line.empty()) lines.push_back(line);
  return lines;
}

std::string axis_name(const std::string& name, bool logarithmic) {
  return one_line(name) + (logarithmic ? " (log)" : "");
}

}  // namespace

std::vector<std::string> plot(const std::vector<PlotPoint>& points, const PlotOptions& options) {
  std::vector<PlotPoint> usable;
  for (const auto& point : points)
    if (Axis::usable(point.x, options.log_x) && Axis::usable(point.y, options.log_y))
      usable.push_back(point);
  if (usable.empty()) return {"nothing to plot: no row has a number in both columns"};

  std::vector<double> xs;
  std::vector<double> ys;
  for (const auto& point : usable) {
    xs.push_back(point.x);
    ys.push_back(point.y);
  }
  const Axis x_axis(options.log_x, xs);
  const Axis y_axis(options.log_y, ys);
  const bool grouped = !options.groups.empty();
  const YLabels labels = label_rows(y_axis, options.rows);
  const std::size_t width = options.columns - std::min(options.columns - 10, labels.width + 3);
  Canvas canvas(width, options.rows, options.utf8 && !grouped);
  for (const auto& point : usable)
    canvas.set(x_axis.part(point.x), y_axis.part(point.y), grouped ? point.group : 0);

  std::vector<std::string> lines{
      fit(axis_name(options.y_name, options.log_y), options.columns, options.utf8)};
  for (std::size_t row = 0; row < options.rows; ++row) {
    const auto& label = labels.of_row[row];
    const std::string_view bar =
        options.utf8 ? (label.empty() ? "│" : "┤") : (label.empty() ? "|" : "+");
    lines.push_back(fmt::format("{:>{}} {}{}", label, labels.width, bar,
                                canvas.row(row, grouped, options.color)));
  }
  std::string floor(labels.width + 1, ' ');
  floor += options.utf8 ? "└" : "+";
  for (std::size_t i = 0; i < width; ++i) floor += options.utf8 ? "─" : "-";
  lines.push_back(floor);
  lines.push_back(std::string(labels.width + 2, ' ') + x_labels(x_axis, width, options));
  const std::string x_name = fit(axis_name(options.x_name, options.log_x), width, options.utf8);
  lines.push_back(std::string(labels.width + 2 + (width - display_width(x_name)) / 2, ' ') +
                  x_name);
  for (auto& line : legend(options)) lines.push_back(std::move(line));
  if (const std::size_t left_out = points.size() - usable.size(); left_out > 0)
    lines.push_back(fmt::format("({} row{} without a number to plot left out)", left_out,
                                left_out == 1 ? "" : "s"));
  return lines;
}

}  // namespace gantry::cli
