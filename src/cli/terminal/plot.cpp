#include "cli/terminal/plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string_view>
#include <utility>

#include "cli/terminal/display_text.hpp"
#include "cli/terminal/terminal.hpp"
#include "model/quantity.hpp"

namespace gantry::cli {
namespace {

constexpr std::string_view kMarks = "ox+*#@%&";
constexpr char kSeveralMark = '=';
constexpr std::size_t kSeveral = std::numeric_limits<std::size_t>::max();  ///< groups in one place
constexpr std::array kColors{Color::cyan,    Color::yellow, Color::green,
                             Color::magenta, Color::blue,   Color::red};

/// A label, and what part of the axis it stands at.
struct Tick {
  double part = 0;
  std::string label;
};

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
  /// Round values within the axis, at most six; its ends where there are none.
  [[nodiscard]] std::vector<Tick> ticks() const {
    const double step = log_ ? std::max(1.0, std::ceil((high_ - low_) / 5)) : round_step();
    std::vector<Tick> ticks;
    if (step > 0 && std::isfinite(step)) {
      const double first = std::ceil(low_ / step);
      // Counted: beyond 2^53 steps from zero adding one changes nothing.
      for (int i = 0; i < 6; ++i) {
        const double at = (first + i) * step;
        if (at > high_) break;
        const double value = log_ ? std::pow(10.0, at) : at;
        ticks.push_back({part(value), fmt::format("{:.10g}", value)});
      }
    }
    if (ticks.size() >= 2) return ticks;
    return {{0, end_label(low_)}, {1, end_label(high_)}};
  }

 private:
  [[nodiscard]] double scale(double value) const { return log_ ? std::log10(value) : value; }
  [[nodiscard]] std::string end_label(double scaled) const {
    return fmt::format("{:.4g}", log_ ? std::pow(10.0, scaled) : scaled);
  }
  /// 1, 2 or 5 times a power of ten: the smallest that needs at most four steps.
  [[nodiscard]] double round_step() const {
    const double wanted = high_ / 4 - low_ / 4;
    const double power = std::pow(10.0, std::floor(std::log10(wanted)));
    for (const double digit : {1.0, 2.0, 5.0})
      if (digit * power >= wanted * (1 - 1e-9)) return digit * power;
    return 10 * power;
  }
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
    const std::uint8_t cells_before = cells_[at];
    cells_[at] = static_cast<std::uint8_t>(cells_[at] | (braille_ ? kDots[x % 2][y % 4] : 1));
    groups_[at] = cells_before == 0 || groups_[at] == group ? group : kSeveral;
    several_ |= groups_[at] == kSeveral;
  }
  /// Some character holds points of more than one group.
  [[nodiscard]] bool has_several() const { return several_; }

  [[nodiscard]] std::string row(std::size_t row, bool grouped, bool color) const {
    std::string line;
    for (std::size_t column = 0; column < columns_; ++column) {
      const std::size_t at = row * columns_ + column;
      if (cells_[at] == 0) {
        line += ' ';
        continue;
      }
      const std::size_t group = groups_[at];
      const Color group_color = group == kSeveral ? Color::bold : kColors[group % kColors.size()];
      line += paint(mark(cells_[at], group, grouped), group_color, color);
    }
    const std::size_t end = line.find_last_not_of(' ');
    line.resize(end == std::string::npos ? 0 : end + 1);
    return line;
  }

 private:
  [[nodiscard]] std::string mark(std::uint8_t dots, std::size_t group, bool grouped) const {
    if (group == kSeveral) return std::string(1, kSeveralMark);
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
  bool several_ = false;
};

struct YLabels {
  std::vector<std::string> of_row;
  std::size_t width = 0;
};

YLabels label_rows(const Axis& axis, std::size_t rows) {
  YLabels labels{std::vector<std::string>(rows), 0};
  for (const auto& tick : axis.ticks()) {
    const auto row =
        static_cast<std::size_t>(std::lround((1 - tick.part) * static_cast<double>(rows - 1)));
    labels.of_row[row] = tick.label;
    labels.width = std::max(labels.width, tick.label.size());
  }
  return labels;
}

/// The values below the axis: its ticks, or the first, the middle and the last name.
std::vector<Tick> x_ticks(const Axis& axis, const PlotOptions& options) {
  const auto& names = options.x_categories;
  if (names.empty()) return axis.ticks();
  const auto tick = [&](double part, std::size_t index) {
    return Tick{part, fit(one_line(names[index]), 16, options.utf8)};
  };
  if (names.size() == 1) return {tick(0.5, 0)};
  std::vector<Tick> ticks{tick(0, 0)};
  if (names.size() % 2 == 1) ticks.push_back(tick(0.5, names.size() / 2));
  ticks.push_back(tick(1, names.size() - 1));
  return ticks;
}

/// As many of them as have room, the ends first.
std::string x_labels(const Axis& axis, std::size_t width, const PlotOptions& options) {
  const auto ticks = x_ticks(axis, options);
  const auto start_of = [&](const Tick& tick) {
    const std::size_t size = display_width(tick.label);
    const auto centre =
        static_cast<std::size_t>(std::lround(tick.part * static_cast<double>(width - 1)));
    return std::min(centre - std::min(centre, size / 2), width - std::min(width, size));
  };
  const std::size_t last_start = start_of(ticks.back());
  std::string line;
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    const std::size_t used = display_width(line);
    const std::size_t start = std::max(start_of(ticks[i]), used == 0 ? 0 : used + 1);
    const bool last = i + 1 == ticks.size();
    const bool in_the_way =
        start != start_of(ticks[i]) || start + display_width(ticks[i].label) + 1 > last_start;
    if (i > 0 && !last && in_the_way) continue;
    line.append(start - used, ' ');
    line += ticks[i].label;
  }
  return line;
}

std::vector<std::string> legend(const PlotOptions& options, bool several) {
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
  if (several) lines.push_back(fmt::format("{} several in one place", kSeveralMark));
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
  for (auto& line : legend(options, canvas.has_several())) lines.push_back(std::move(line));
  if (const std::size_t left_out = points.size() - usable.size(); left_out > 0)
    lines.push_back(
        fmt::format("({} without a number to plot left out)", count_of(left_out, "row")));
  return lines;
}

}  // namespace gantry::cli
