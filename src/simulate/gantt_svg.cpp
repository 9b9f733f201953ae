#include "simulate/gantt_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "simulate/gantt_rows.hpp"
#include "simulate/svg_text.hpp"

namespace gantry::simulate {

namespace {

/// Paul Tol's "muted" scheme: nine colours that people with any kind of colour vision tell apart.
constexpr std::array<std::string_view, 9> kColours{"#332288", "#88ccee", "#44aa99",
                                                   "#117733", "#999933", "#ddcc77",
                                                   "#cc6677", "#882255", "#aa4499"};

constexpr double kWidth = 1200;
constexpr double kLeft = 150;  ///< of the bars
constexpr double kRight = kWidth - 28;
constexpr double kSiteGap = 14;
constexpr double kLeastSite = 30;  ///< two lines of text
constexpr double kSeam = 3;        ///< pixels that a task needs for a seam behind it
constexpr double kReachable = 3;   ///< pixels that a row needs for a mouse to rest on a task
constexpr std::size_t kLegendFiles = 18;

std::string name_of(const std::vector<std::string>& names, std::size_t index, std::string_view what,
                    std::size_t number) {
  return index < names.size() ? names[index] : fmt::format("{} {}", what, number);
}

std::string clipped(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  text.resize(most - 1);
  // Not in the middle of a character.
  while (!text.empty() && (static_cast<unsigned char>(text.back()) & 0xc0U) == 0x80)
    text.pop_back();
  if (!text.empty() && static_cast<unsigned char>(text.back()) >= 0xc0) text.pop_back();
  return text + "…";
}

class GanttPicture {
 public:
  GanttPicture(const Simulated& run, const VirtualGrid& grid, const engine::Workload& workload,
               const GanttNames& names)
      : run_(run),
        workload_(workload),
        names_(names),
        sites_(gantt_rows(run, grid, workload)),
        hosts_(grid.hosts.size()),
        until_(run.makespan > 0 ? run.makespan : 1) {
    std::size_t slots = 0;
    for (const GanttSite& site : sites_) slots += site.slots.size();
    row_height_ =
        std::clamp(720.0 / static_cast<double>(std::max<std::size_t>(slots, 1)), 1.0, 18.0);
    if (row_height_ >= 3) row_height_ = static_cast<int>(row_height_);
    link_height_ = std::clamp(row_height_, 6.0, 10.0);
  }

  std::string draw() {
    draw_title();
    draw_legend();
    const double top = y_;
    std::string bars;
    std::swap(text_, bars);
    for (const GanttSite& site : sites_) draw_site(site);
    if (!sites_.empty()) y_ -= kSiteGap;
    std::swap(text_, bars);
    draw_axis(top);
    text_ += bars;
    draw_end(top);
    return head(y_ + 40) + text_ + "</svg>\n";
  }

  [[nodiscard]] std::string summary() const {
    return fmt::format("{} · {} on {} · {} moved", duration_text(run_.makespan),
                       count_text(run_.tasks.size(), "task"), count_text(hosts_, "host"),
                       bytes_text(run_.bytes_moved));
  }

 private:
  template <class... Args>
  void put(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
  }

  [[nodiscard]] double x(double seconds) const {
    return kLeft + (kRight - kLeft) * std::min(seconds / until_, 1.0);
  }

  [[nodiscard]] std::string head(double height) const {
    std::string text = fmt::format(
        R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {} {}" width="{}" height="{}" font-family="{}" font-size="12" fill="#33383f">)"
        "\n<style>.n{{fill:#a9b0b8}}.i{{fill:#eef1f4}}.g{{stroke:#d5dae0}}.m{{fill:#78818b}}",
        kWidth, svg_number(height), kWidth, svg_number(height), kSvgFonts);
    for (std::size_t i = 0; i < kColours.size(); ++i) {
      text += fmt::format(".c{}{{fill:{}}}", i, kColours[i]);
      // The same colours again, lighter, for more files.
      text += fmt::format(".c{}{{fill:{};fill-opacity:.5}}", i + kColours.size(), kColours[i]);
    }
    return text + "</style>\n<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n";
  }

  static std::string colour(std::uint32_t file) {
    return file == kNoFile ? "n" : fmt::format("c{}", file % (2 * kColours.size()));
  }

  [[nodiscard]] std::string file_name(std::uint32_t file) const {
    return file == kNoFile ? "no shared file" : name_of(names_.files, file, "file", file + 1);
  }

  void draw_title() {
    put(R"(<text x="{}" y="34" font-size="19" font-weight="600">{}</text>)"
        "\n",
        kLeft, svg_text(clipped(names_.title, 90)));
    put(R"(<text x="{}" y="54" class="m">{}</text>)"
        "\n",
        kLeft, svg_text(summary()));
    y_ = 66;
  }

  void draw_legend() {
    double at = kLeft;
    const auto entry = [&](std::string_view css, const std::string& text) {
      const double width = 26 + 6.6 * static_cast<double>(text.size());
      if (at > kLeft && at + width > kRight) {
        at = kLeft;
        y_ += 18;
      }
      if (!css.empty())
        put(R"(<rect class="{}" x="{}" y="{}" width="11" height="11" rx="2"/>)", css,
            svg_number(at), svg_number(y_));
      put(R"(<text x="{}" y="{}" font-size="11">{}</text>)"
          "\n",
          svg_number(at + (css.empty() ? 0 : 16)), svg_number(y_ + 9.5), svg_text(text));
      at += width;
    };
    const std::size_t files = workload_.file_bytes.size();
    for (std::uint32_t i = 0; i < std::min(files, kLegendFiles); ++i)
      entry(colour(i),
            fmt::format("{} ({})", clipped(file_name(i), 28), bytes_text(workload_.file_bytes[i])));
    if (files > kLegendFiles) entry("", fmt::format("and {} more", files - kLegendFiles));
    if (shows_tasks_without_files()) entry("n", "no shared file");
    y_ += 30;
  }

  [[nodiscard]] bool shows_tasks_without_files() const {
    for (const GanttSite& site : sites_)
      for (const GanttRow& row : site.slots)
        if (std::ranges::find(row.bars, kNoFile, &GanttBar::file) != row.bars.end()) return true;
    return false;
  }

  void draw_axis(double top) {
    const TimeAxis axis = time_axis(until_, 10);
    for (int i = 0; i * axis.step <= until_ * (1 + 1e-9); ++i) {
      const double at = x(i * axis.step);
      put(R"(<path class="g" d="M{} {}V{}"/>)", svg_number(at), svg_number(top - 4),
          svg_number(y_ + 5));
      // Not under the label of the end.
      if (at > kRight - 90 && at < kRight - 1) continue;
      put(R"(<text class="m" x="{}" y="{}" font-size="11" text-anchor="middle">{:.4g}{}</text>)"
          "\n",
          svg_number(at), svg_number(y_ + 20), i * axis.step / axis.unit,
          i == 0 ? "" : fmt::format(" {}", axis.name));
    }
  }

  void draw_end(double top) {
    put(R"(<path d="M{} {}V{}" stroke="#33383f" stroke-dasharray="3 3"/>)", svg_number(x(until_)),
        svg_number(top - 4), svg_number(y_ + 5));
    put(R"(<text x="{}" y="{}" font-size="11" font-weight="600" text-anchor="end">{}</text>)"
        "\n",
        svg_number(kRight + 20), svg_number(y_ + 20), svg_text(duration_text(run_.makespan)));
  }

  void draw_site(const GanttSite& site) {
    const double top = y_;
    const std::string name = site_name(site.site);
    put(R"(<text x="16" y="{}" font-weight="600">{}</text>)", svg_number(top + 11),
        svg_text(clipped(name, 17)));
    put(R"(<text class="m" x="16" y="{}" font-size="11">{} {} · {:.0f}% busy</text>)"
        "\n",
        svg_number(top + 26), site.hosts, site.hosts == 1 ? "host" : "hosts", 100 * site.busy);
    const GanttRow* before = nullptr;
    for (const GanttRow& row : site.links) {
      if (before == nullptr || before->from != row.from)
        put(R"(<text class="m" x="{}" y="{}" font-size="9" text-anchor="end">{}</text>)", kLeft - 6,
            svg_number(y_ + link_height_ / 2 + 3), row.from == kHome ? "link" : "peer");
      before = &row;
      draw_row(row, link_height_, true);
      y_ += link_height_ + 1;
    }
    if (!site.links.empty()) y_ += 3;
    for (const GanttRow& row : site.slots) {
      draw_row(row, row_height_, false);
      y_ += row_height_;
    }
    y_ = std::max(y_, top + kLeastSite) + kSiteGap;
  }

  [[nodiscard]] std::string site_name(SiteId site) const {
    if (site == kHome && names_.sites.empty()) return std::string(kHomeSite);
    return name_of(names_.sites, site.value(), "site", site.value());
  }

  void draw_row(const GanttRow& row, double height, bool link) {
    const double inner = height >= 4 ? height - 1 : height;
    put(R"-(<g transform="translate(0 {})"><rect class="i" x="{}" width="{}" height="{}"/>)-",
        svg_number(y_), kLeft, kRight - kLeft, link ? "1" : svg_number(inner));
    const double pixel = until_ / (kRight - kLeft);
    const double seams = height >= 4 && !link ? kSeam * pixel : kForever;
    const auto bars = merged_bars(row.bars, pixel, link ? pixel : seams);
    if (height < kReachable)
      draw_together(row, bars, inner);
    else
      for (const GanttBar& bar : bars)
        put(R"(<rect class="{}" x="{}" width="{}" height="{}"><title>{}</title></rect>)",
            colour(bar.file), svg_number(x(bar.from)), svg_number(width(bar)), svg_number(inner),
            svg_text(caption(row, bar, link)));
    text_ += "</g>\n";
  }

  [[nodiscard]] double width(const GanttBar& bar) const {
    const double whole = x(bar.until) - x(bar.from);
    return std::max(whole >= kSeam ? whole - 0.6 : whole, 0.5);
  }

  /// A fifth of the text: one shape for each colour, and only the host is named.
  void draw_together(const GanttRow& row, const std::vector<GanttBar>& bars, double height) {
    std::map<std::string, std::string> shapes;
    for (const GanttBar& bar : bars)
      fmt::format_to(std::back_inserter(shapes[colour(bar.file)]), "M{} 0h{}v{}h-{}z",
                     svg_number(x(bar.from)), svg_number(width(bar)), svg_number(height),
                     svg_number(width(bar)));
    put("<title>{}</title>", svg_text(host_name(row)));
    for (const auto& [css, shape] : shapes) put(R"(<path class="{}" d="{}"/>)", css, shape);
  }

  [[nodiscard]] std::string host_name(const GanttRow& row) const {
    return name_of(names_.hosts, row.host, "host", row.host + 1);
  }

  [[nodiscard]] std::string caption(const GanttRow& row, const GanttBar& bar, bool link) const {
    const std::string time =
        fmt::format("{} – {}", duration_text(bar.from), duration_text(bar.until));
    const std::string file = file_name(bar.file);
    if (link) {
      const std::string from =
          row.from == kHome ? std::string() : fmt::format(" from {}", site_name(row.from));
      return bar.count == 1 ? fmt::format("{} on its way{}, {}", file, from, time)
                            : fmt::format("{} files on their way{}, {}", bar.count, from, time);
    }
    const std::string what = bar.count == 1
                                 ? fmt::format("task {}", bar.task.value())
                                 : fmt::format("{} tasks from {}", bar.count, bar.task.value());
    return fmt::format("{} ({}) on {}, {}", what, file, host_name(row), time);
  }

  const Simulated& run_;
  const engine::Workload& workload_;
  const GanttNames& names_;
  std::vector<GanttSite> sites_;
  std::size_t hosts_;
  double until_;
  double row_height_ = 1;
  double link_height_ = 6;
  double y_ = 0;
  std::string text_;
};

}  // namespace

std::string gantt_svg(const Simulated& run, const VirtualGrid& grid,
                      const engine::Workload& workload, const GanttNames& names) {
  return GanttPicture(run, grid, workload, names).draw();
}

std::string gantt_html(const Simulated& run, const VirtualGrid& grid,
                       const engine::Workload& workload, const GanttNames& names) {
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<title>{}</title>\n"
      "<style>body{{margin:0;background:#fff}}svg{{display:block;margin:0 auto;max-width:100%;"
      "height:auto}}svg rect:hover{{filter:brightness(1.15)}}</style>\n"
      "</head>\n<body>\n{}</body>\n</html>\n",
      svg_text(names.title), gantt_svg(run, grid, workload, names));
}

}  // namespace gantry::simulate
