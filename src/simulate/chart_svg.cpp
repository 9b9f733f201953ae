#include "simulate/chart_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string_view>
#include <utility>

#include "simulate/svg_text.hpp"

namespace gantry::simulate {

namespace {

/// Paul Tol's "muted" scheme, strong neighbours first: the last of the usual six is the darkest.
constexpr std::array<std::string_view, 9> kSeriesColours{"#cc6677", "#88ccee", "#ddcc77",
                                                         "#44aa99", "#117733", "#332288",
                                                         "#999933", "#882255", "#aa4499"};
/// Marks of a line, around 0 0: colour is not all that tells lines apart.
constexpr std::array<std::string_view, 6> kSeriesMarks{
    "M-3.5 -3.5h7v7h-7z",          "M0 -4.5L4.5 3.5H-4.5z",
    "M-4.5 0L0 -4.5L4.5 0L0 4.5z", "M0 4.5L4.5 -3.5H-4.5z",
    "M-4 -4L4 4M-4 4L4 -4",        "M-3.8 0a3.8 3.8 0 1 0 7.6 0a3.8 3.8 0 1 0 -7.6 0z"};

constexpr double kChartWidth = 1000;
constexpr double kChartMargin = 28;
constexpr double kAxisRoom = 76;     ///< for the numbers left of a panel
constexpr double kBelowPanel = 58;   ///< for labels and the title of the axis
constexpr double kAbovePanel = 30;   ///< for the panel's title
constexpr double kLabelWidth = 7.2;  ///< of a character

struct Area {
  double left = 0;
  double top = 0;
  double width = 0;
  double height = 0;
  [[nodiscard]] double bottom() const { return top + height; }
};

/// Lines may leave their panel when a few values would press all others to the ground.
double top_of_axis(const Chart& chart) {
  std::vector<double> values;
  for (const ChartPanel& panel : chart.panels)
    for (const ChartSeries& series : panel.series)
      for (const Measure& value : series.values)
        if (std::isfinite(value.value)) values.push_back(value.value);
  if (values.empty()) return 1;
  std::ranges::sort(values);
  const double usual = 1.5 * values[(values.size() - 1) * 9 / 10];
  const bool few_are_far_off = !chart.places.empty() && values.back() > 2 * usual;
  return few_are_far_off ? usual : values.back();
}

class ChartPicture {
 public:
  explicit ChartPicture(const Chart& chart)
      : chart_(chart), columns_(chart.panels.size() > 1 && !chart.places.empty() ? 2 : 1) {
    const double most = top_of_axis(chart);
    axis_ = time_axis(most > 0 ? most : 1, 6);
    until_ = axis_.step * std::max(std::ceil(most / axis_.step - 1e-9), 1.0);
  }

  std::string draw() {
    put(R"(<text x="{}" y="36" font-size="20" font-weight="600">{}</text>)"
        "\n",
        kChartMargin, svg_text(chart_.title));
    put(R"(<text x="{}" y="56" class="m">{}</text>)"
        "\n",
        kChartMargin, svg_text(chart_.subtitle));
    draw_legend(76);
    const double panel_width =
        (kChartWidth - 2 * kChartMargin) / static_cast<double>(columns_) - kAxisRoom;
    const double panel_height = columns_ == 1 && chart_.panels.size() == 1 ? 380 : 240;
    double top = chart_.panels.size() == 1 ? 80 : 100;
    for (std::size_t i = 0; i < chart_.panels.size(); ++i) {
      const auto column = static_cast<double>(i % columns_);
      const Area area{kChartMargin + kAxisRoom + column * (panel_width + kAxisRoom),
                      top + kAbovePanel, panel_width, panel_height};
      draw_panel(chart_.panels[i], area);
      if ((i + 1) % columns_ == 0 || i + 1 == chart_.panels.size())
        top = area.bottom() + kBelowPanel;
    }
    return head(top) + text_ + "</svg>\n";
  }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  [[nodiscard]] static std::string head(double height) {
    std::string text = fmt::format(
        R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} {}" width="{}" height="{}" font-family="{}" font-size="13" fill="#24292f">)"
        "\n<style>text{{white-space:pre}}.g{{stroke:#e3e7eb}}.m{{fill:#5b636d}}",
        kChartWidth, svg_number(height), kChartWidth, svg_number(height), kSvgFonts);
    for (std::size_t i = 0; i < kSeriesColours.size(); ++i)
      text += fmt::format(".c{0}{{fill:{1}}}.l{0}{{fill:none;stroke:{1};stroke-width:2}}", i,
                          kSeriesColours[i]);
    return text + "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
  }

  static std::size_t colour(std::size_t series) { return series % kSeriesColours.size(); }

  void draw_mark(std::size_t series, double x, double y) {
    put(R"-(<path class="c{0} l{0}" transform="translate({1} {2})" d="{3}"/>)-", colour(series),
        svg_number(x), svg_number(y), kSeriesMarks[series % kSeriesMarks.size()]);
  }

  void draw_legend(double y) {
    if (chart_.panels.empty()) return;
    double at = kChartMargin;
    for (std::size_t i = 0; i < chart_.panels.front().series.size(); ++i) {
      const std::string& name = chart_.panels.front().series[i].name;
      if (chart_.places.empty()) {
        put(R"(<rect class="c{}" x="{}" y="{}" width="11" height="11" rx="2"/>)", colour(i),
            svg_number(at), svg_number(y));
      } else {
        put(R"(<path class="l{}" d="M{} {}h18"/>)", colour(i), svg_number(at), svg_number(y + 5.5));
        draw_mark(i, at + 9, y + 5.5);
      }
      put(R"(<text x="{}" y="{}">{}</text>)"
          "\n",
          svg_number(at + (chart_.places.empty() ? 17 : 24)), svg_number(y + 10), svg_text(name));
      at += 46 + kLabelWidth * static_cast<double>(name.size());
    }
  }

  [[nodiscard]] double y(const Area& area, double seconds) const {
    return area.bottom() - area.height * seconds / until_;
  }

  void draw_panel(const ChartPanel& panel, const Area& area) {
    put(R"(<text x="{}" y="{}" font-weight="600">{}</text>)"
        "\n",
        svg_number(area.left), svg_number(area.top - 10), svg_text(panel.title));
    for (int i = 0; i * axis_.step <= until_ * (1 + 1e-9); ++i) {
      const double at = y(area, i * axis_.step);
      put(R"(<path class="g" d="M{} {}h{}"/>)", svg_number(area.left), svg_number(at),
          svg_number(area.width));
      put(R"(<text class="m" x="{}" y="{}" font-size="12" text-anchor="end">{:.4g}{}</text>)"
          "\n",
          svg_number(area.left - 8), svg_number(at + 4), i * axis_.step / axis_.unit,
          i == 0 ? "" : fmt::format(" {}", axis_.name));
    }
    if (chart_.places.empty())
      draw_bars(panel, area);
    else
      draw_lines(panel, area);
    put(R"(<text class="m" x="{}" y="{}" font-size="12" text-anchor="middle">{}</text>)"
        "\n",
        svg_number(area.left + area.width / 2), svg_number(area.bottom() + 36),
        svg_text(chart_.x_title));
  }

  void draw_label(std::size_t label, double x, const Area& area) {
    put(R"(<text x="{}" y="{}" font-size="12" text-anchor="middle">{}</text>)"
        "\n",
        svg_number(x), svg_number(area.bottom() + 18), svg_text(chart_.labels[label]));
  }

  void draw_bars(const ChartPanel& panel, const Area& area) {
    const double group =
        area.width / static_cast<double>(std::max<std::size_t>(chart_.labels.size(), 1));
    const double bar =
        group * 0.8 / static_cast<double>(std::max<std::size_t>(panel.series.size(), 1));
    for (std::size_t label = 0; label < chart_.labels.size(); ++label) {
      const double left = area.left + group * (static_cast<double>(label) + 0.1);
      for (std::size_t i = 0; i < panel.series.size(); ++i) {
        const Measure& value = panel.series[i].values[label];
        if (!std::isfinite(value.value)) continue;
        const double x = left + bar * static_cast<double>(i);
        put(R"(<rect class="c{}" x="{}" y="{}" width="{}" height="{}"><title>{}</title></rect>)",
            colour(i), svg_number(x), svg_number(y(area, value.value)), svg_number(bar - 2),
            svg_number(area.bottom() - y(area, value.value)),
            svg_text(caption(panel.series[i].name, label, value)));
      }
      text_ += '\n';
      draw_label(label, left + group * 0.4, area);
    }
  }

  [[nodiscard]] std::string caption(std::string_view series, std::size_t label,
                                    const Measure& value) const {
    return fmt::format("{}, {}: {}", series, chart_.labels[label], duration_text(value.value));
  }

  [[nodiscard]] double x(const Area& area, std::size_t label) const {
    const double first = chart_.places.front();
    const double range = chart_.places.back() - first;
    constexpr double kInset = 10;
    return area.left + kInset +
           (area.width - 2 * kInset) * (range > 0 ? (chart_.places[label] - first) / range : 0.5);
  }

  void draw_lines(const ChartPanel& panel, const Area& area) {
    double free_from = 0;
    for (std::size_t label = 0; label < chart_.labels.size(); ++label) {
      const double half = kLabelWidth * static_cast<double>(chart_.labels[label].size()) / 2;
      if (x(area, label) - half < free_from) continue;
      draw_label(label, x(area, label), area);
      free_from = x(area, label) + half + 12;
    }
    // Room for marks on the edges.
    put(R"-(<svg x="0" y="{}" width="{}" height="{}" viewBox="0 {} {} {}">)-",
        svg_number(area.top - 6), kChartWidth, svg_number(area.height + 12),
        svg_number(area.top - 6), kChartWidth, svg_number(area.height + 12));
    for (std::size_t i = 0; i < panel.series.size(); ++i) {
      const ChartSeries& series = panel.series[i];
      std::string line;
      for (std::size_t label = 0; label < series.values.size(); ++label)
        if (std::isfinite(series.values[label].value))
          line += fmt::format("{}{} {}", line.empty() ? 'M' : 'L', svg_number(x(area, label)),
                              svg_number(y(area, series.values[label].value)));
      if (!line.empty()) put(R"(<path class="l{}" d="{}"/>)", colour(i), line);
      for (std::size_t label = 0; label < series.values.size(); ++label) {
        const Measure& value = series.values[label];
        if (!std::isfinite(value.value)) continue;
        put("<g><title>{}</title>", svg_text(caption(series.name, label, value)));
        draw_mark(i, x(area, label), y(area, value.value));
        text_ += "</g>";
      }
      text_ += '\n';
    }
    text_ += "</svg>\n";
  }

  const Chart& chart_;
  std::size_t columns_;
  TimeAxis axis_;
  double until_ = 1;
  std::string text_;
};

}  // namespace

std::string chart_svg(const Chart& chart) {
  return ChartPicture(chart).draw();
}

}  // namespace gantry::simulate
