#include "simulate/gantt_svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <span>
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

// A picture this wide with letters this large can be read when it is printed across a page.
constexpr double kWidth = 1000;
constexpr double kEdge = 16;
constexpr double kRight = kWidth - 40;  ///< leaves room for half a label of the axis
constexpr double kCharacter = 7.2;      ///< the width of a letter of 13 pixels, about
constexpr std::size_t kLongestName = 30;

constexpr double kBarsHeight = 720;  ///< for the slots of all hosts, when they have room
constexpr double kNameHeight = 15;   ///< a host's least, while every host shows its name
constexpr double kHalfName = 6.5;
constexpr std::size_t kNamedHosts = 100;  ///< with more, only hosts this far apart show theirs
constexpr double kTallestSlot = 18;
constexpr double kLinkHeight = 12;
constexpr double kRowGap = 2;
constexpr double kSiteHead = 22;
constexpr double kSiteGap = 12;
constexpr double kAxisHeight = 24;
constexpr double kAxisEvery = 480;  ///< so that a window or a printed page always shows one

constexpr double kSeam = 3;       ///< pixels that a task needs for a seam behind it
constexpr double kReachable = 3;  ///< pixels that a row needs for a mouse to rest on a task
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
    std::size_t longest = 10;
    for (const GanttSite& site : sites_) {
      slots += site.slots.size();
      for (const GanttRow& row : site.slots) longest = std::max(longest, host_name(row).size());
      for (const GanttRow& row : site.links) longest = std::max(longest, link_name(row).size());
    }
    left_ = 2 * kEdge + kCharacter * static_cast<double>(std::min(longest, kLongestName));
    row_height_ = std::clamp(kBarsHeight / static_cast<double>(std::max<std::size_t>(slots, 1)),
                             1.0, kTallestSlot);
    if (row_height_ >= 3) row_height_ = static_cast<int>(row_height_);
  }

  std::string draw() {
    draw_title();
    draw_legend();
    const double top = y_;
    std::string bars;
    std::swap(text_, bars);
    draw_axis();
    end_ = y_;
    for (const GanttSite& site : sites_) end_ += site_height(site);
    for (const GanttSite& site : sites_) draw_site(site);
    draw_axis();
    std::swap(text_, bars);
    draw_grid_lines(top);
    text_ += bars;
    return head(y_ + 8) + text_ + "</svg>\n";
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

  void write(double x, double y, std::string_view css, std::string_view text) {
    put(R"(<text x="{}" y="{}" class="{}">{}</text>)"
        "\n",
        svg_number(x), svg_number(y), css, svg_text(text));
  }

  [[nodiscard]] double x(double seconds) const {
    return left_ + (kRight - left_) * std::min(seconds / until_, 1.0);
  }

  [[nodiscard]] std::string head(double height) const {
    std::string text = fmt::format(
        R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} {1}" width="{0}" height="{1}" font-family="{2}" font-size="13" fill="#24292f">)"
        "\n<style>text{{white-space:pre}}.t{{font-size:20px}}.t,.b{{font-weight:600}}.m{{fill:#"
        "5b636d}}"
        ".k,.a{{font-size:12px}}.h,.k{{text-anchor:end}}.a{{text-anchor:middle}}"
        ".s{{stroke:#fff;stroke-width:4px;paint-order:stroke}}.n{{fill:#a9b0b8}}.i{{fill:#eef1f4}}."
        "g{{stroke:#d5dae0}}",
        kWidth, svg_number(height), kSvgFonts);
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
    write(kEdge, 32, "t", clipped(names_.title, 80));
    write(kEdge, 53, "m", summary());
    y_ = 66;
  }

  void draw_legend() {
    double at = kEdge;
    const auto entry = [&](std::string_view css, const std::string& text) {
      const double width = 30 + kCharacter * static_cast<double>(text.size());
      if (at > kEdge && at + width > kRight) {
        at = kEdge;
        y_ += 20;
      }
      if (!css.empty())
        put(R"(<rect class="{}" x="{}" y="{}" width="12" height="12" rx="2"/>)", css,
            svg_number(at), svg_number(y_));
      write(at + (css.empty() ? 0 : 18), y_ + 10.5, "", text);
      at += width;
    };
    const std::size_t files = workload_.file_bytes.size();
    for (std::uint32_t i = 0; i < std::min(files, kLegendFiles); ++i)
      entry(colour(i),
            fmt::format("{} ({})", clipped(file_name(i), 28), bytes_text(workload_.file_bytes[i])));
    if (files > kLegendFiles) entry("", fmt::format("and {} more", files - kLegendFiles));
    if (shows_tasks_without_files()) entry("n", "no shared file");
    y_ += 22;
  }

  [[nodiscard]] bool shows_tasks_without_files() const {
    for (const GanttSite& site : sites_)
      for (const GanttRow& row : site.slots)
        if (std::ranges::find(row.bars, kNoFile, &GanttBar::file) != row.bars.end()) return true;
    return false;
  }

  void draw_grid_lines(double top) {
    const TimeAxis axis = time_axis(until_, 10);
    for (int i = 0; i * axis.step <= until_ * (1 + 1e-9); ++i)
      put(R"(<path class="g" d="M{} {}V{}"/>)", svg_number(x(i * axis.step)),
          svg_number(top + kAxisHeight - 6), svg_number(y_ - kAxisHeight + 6));
    put(R"(<path d="M{} {}V{}" stroke="#24292f" stroke-dasharray="3 3"/>)"
        "\n",
        svg_number(x(until_)), svg_number(top + kAxisHeight - 6), svg_number(y_ - kAxisHeight + 6));
  }

  /// The times, on a strip of their own.
  void draw_axis() {
    put(R"(<rect y="{}" width="100%" height="{}" fill="#fff"/>)", svg_number(y_ + 4),
        svg_number(kAxisHeight - 10));
    const TimeAxis axis = time_axis(until_, 10);
    for (int i = 0; i * axis.step <= until_ * (1 + 1e-9); ++i) {
      const double at = x(i * axis.step);
      if (at > kRight - 100) break;  // the label of the end is there
      write(at, y_ + 15, "a m",
            fmt::format("{:.4g}{}", i * axis.step / axis.unit,
                        i == 0 ? "" : fmt::format(" {}", axis.name)));
    }
    write(kWidth - kEdge, y_ + 15, "k b", duration_text(run_.makespan));
    y_ += kAxisHeight;
    axis_at_ = y_;
  }

  /// Another axis where the last one is far above, unless the one at the end is close.
  void repeat_axis(double after) {
    if (y_ - axis_at_ < after || end_ - y_ < kAxisEvery / 2) return;
    end_ += kAxisHeight;
    draw_axis();
  }

  void draw_site(const GanttSite& site) {
    // Between two sites rather than soon after, between two hosts.
    const bool fits = y_ + site_height(site) - axis_at_ <= kAxisEvery;
    repeat_axis(fits ? kAxisEvery : kAxisEvery / 2);
    put(R"(<text x="{}" y="{}" class="s"><tspan class="b">{}</tspan><tspan class="m">  {} · {:.0f}% busy</tspan></text>)"
        "\n",
        kEdge, svg_number(y_ + 13), svg_text(clipped(site_name(site.site), 60)),
        count_text(site.hosts, "host"), 100 * site.busy);
    y_ += kSiteHead;
    named_until_ = y_ - kHalfName;
    const GanttRow* before = nullptr;
    for (const GanttRow& row : site.links) {
      if (before == nullptr || before->from != row.from) write_name(link_name(row), kLinkHeight);
      before = &row;
      draw_row(row, kLinkHeight, true);
      y_ += kLinkHeight + kRowGap;
    }
    if (!site.links.empty()) y_ += kRowGap;
    for (const auto slots : hosts_of(site)) draw_host(slots);
    y_ += kSiteGap;
  }

  void draw_host(std::span<const GanttRow> slots) {
    repeat_axis(kAxisEvery);
    const double height = slot_height(slots);
    write_name(host_name(slots.front()),
               std::min(height * static_cast<double>(slots.size()), kTallestSlot));
    for (const GanttRow& row : slots) {
      draw_row(row, height, false);
      y_ += height;
    }
    y_ += gap_below(height);
  }

  /// Left of what is drawn next, unless it would overlap with the name above.
  void write_name(const std::string& name, double height) {
    const double middle = y_ + height / 2;
    if (middle - kHalfName < named_until_) return;
    write(left_ - 8, middle + 4.5, "h", clipped(name, kLongestName));
    named_until_ = middle + kHalfName;
  }

  [[nodiscard]] double slot_height(std::span<const GanttRow> slots) const {
    const double named = kNameHeight / static_cast<double>(slots.size());
    return hosts_ <= kNamedHosts ? std::max(row_height_, named) : row_height_;
  }

  /// Between hosts, where slots are tall enough for it not to look like another one.
  static double gap_below(double slot) { return slot >= kReachable ? kRowGap : 0; }

  [[nodiscard]] double site_height(const GanttSite& site) const {
    double height = kSiteHead + kSiteGap + kRowGap;
    height += (kLinkHeight + kRowGap) * static_cast<double>(site.links.size());
    for (const auto slots : hosts_of(site)) {
      const double slot = slot_height(slots);
      height += slot * static_cast<double>(slots.size()) + gap_below(slot);
    }
    return height;
  }

  static std::vector<std::span<const GanttRow>> hosts_of(const GanttSite& site) {
    std::vector<std::span<const GanttRow>> hosts;
    for (auto row = site.slots.begin(); row != site.slots.end();) {
      const auto next = std::find_if(row, site.slots.end(),
                                     [&](const GanttRow& one) { return one.host != row->host; });
      hosts.emplace_back(row, next);
      row = next;
    }
    return hosts;
  }

  [[nodiscard]] std::string site_name(SiteId site) const {
    if (site == kHome && names_.sites.empty()) return std::string(kHomeSite);
    return name_of(names_.sites, site.value(), "site", site.value());
  }

  [[nodiscard]] std::string link_name(const GanttRow& row) const {
    return "from " + site_name(row.from);
  }

  void draw_row(const GanttRow& row, double height, bool link) {
    const double inner = height >= 4 ? height - 1 : height;
    put(R"-(<g transform="translate(0 {})"><rect class="i" x="{}" width="{}" height="{}"/>)-",
        svg_number(y_), svg_number(left_), svg_number(kRight - left_),
        link ? "1" : svg_number(inner));
    const double pixel = until_ / (kRight - left_);
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
  double left_ = 0;  ///< of the bars
  double row_height_ = 1;
  double y_ = 0;
  double end_ = 0;          ///< of the last site
  double axis_at_ = 0;      ///< below the last axis that was drawn
  double named_until_ = 0;  ///< names above this would overlap
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
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>{}</title>\n"
      "<style>body{{margin:0;background:#fff}}"
      "svg{{display:block;margin:0 auto;max-width:100%;height:auto}}"
      "@media screen{{svg{{min-width:720px}}}}"
      "svg rect:hover{{filter:brightness(1.15)}}</style>\n"
      "</head>\n<body>\n{}</body>\n</html>\n",
      svg_text(names.title), gantt_svg(run, grid, workload, names));
}

}  // namespace gantry::simulate
