#include "simulate/gantt_rows.hpp"

#include <algorithm>
#include <cmath>
#include <map>

namespace gantry::simulate {

namespace {

/// Distributes bars over as few rows as will do. The rows of slots, and mostly those of links, are
/// given: what comes first takes the first row that is free.
std::vector<GanttRow> in_rows(std::vector<GanttBar> bars, const GanttRow& alike,
                              std::size_t at_least) {
  std::ranges::stable_sort(bars, {}, &GanttBar::from);
  std::vector<GanttRow> rows(at_least, alike);
  for (const GanttBar& bar : bars) {
    auto row = std::ranges::find_if(rows, [&](const GanttRow& taken) {
      return taken.bars.empty() || taken.bars.back().until <= bar.from;
    });
    if (row == rows.end()) row = rows.insert(rows.end(), alike);
    row->bars.push_back(bar);
  }
  return rows;
}

/// What came over the link to a site. A link that sends one file at a time says when they were
/// handed to it: a file is on its way when the one before, in either direction, has arrived.
std::vector<GanttBar> transfers(const Simulated& run, SiteId from_site, SiteId site,
                                const LinkSpec& link) {
  const bool one_at_a_time = link.sharing == LinkSharing::fifo && link.streams == 1;
  std::vector<GanttBar> bars;
  double free = 0;
  for (const VirtualMove& move : run.moves) {
    const bool back = move.from == site && move.site == from_site;
    if (!back && (move.site != site || move.from != from_site)) continue;
    const double from = one_at_a_time ? std::max(move.sent, free) : move.sent;
    if (!back) bars.push_back({.from = from, .until = move.arrived, .file = move.file.value()});
    free = move.arrived;
  }
  return bars;
}

std::uint32_t first_file(const engine::Workload& workload, TaskId task) {
  if (!workload.files) return kNoFile;
  const auto files = workload.files(task);
  return files.empty() ? kNoFile : files.front().value();
}

}  // namespace

std::vector<GanttSite> gantt_rows(const Simulated& run, const VirtualGrid& grid,
                                  const engine::Workload& workload) {
  std::vector<std::vector<GanttBar>> of_hosts(grid.hosts.size());
  for (const VirtualTask& task : run.tasks)
    of_hosts[task.host].push_back({.from = task.started,
                                   .until = task.computed,
                                   .file = first_file(workload, task.task),
                                   .task = task.task});
  std::map<SiteId, GanttSite> sites;
  std::map<SiteId, double> busy_seconds;
  for (std::uint32_t i = 0; i < grid.hosts.size(); ++i) {
    const VirtualHost& host = grid.hosts[i];
    GanttSite& site = sites[host.site];
    ++site.hosts;
    for (const GanttBar& bar : of_hosts[i]) busy_seconds[host.site] += bar.until - bar.from;
    auto rows = in_rows(std::move(of_hosts[i]), {.host = i, .bars = {}}, host.spec.slots);
    site.slots.insert(site.slots.end(), rows.begin(), rows.end());
  }
  const auto add_link = [&](SiteId from, SiteId to, const LinkSpec& link) {
    auto bars = transfers(run, from, to, link);
    if (bars.empty()) return;
    const auto rows = in_rows(std::move(bars), {.from = from, .bars = {}}, 1);
    auto& links = sites[to].links;
    links.insert(links.end(), rows.begin(), rows.end());
  };
  for (std::uint32_t i = 0; i < grid.links.size(); ++i)
    if (grid.links[i]) add_link(kHome, SiteId(i), *grid.links[i]);
  for (const PeerLink& peer : grid.peers) {
    add_link(peer.one, peer.other, peer.spec);
    add_link(peer.other, peer.one, peer.spec);
  }
  std::vector<GanttSite> result;
  for (auto& [id, site] : sites) {
    site.site = id;
    const double all = static_cast<double>(site.slots.size()) * run.makespan;
    site.busy = all > 0 ? std::min(busy_seconds[id] / all, 1.0) : 0;
    result.push_back(std::move(site));
  }
  return result;
}

namespace {

/// Bars that share a pixel, and what each colour has of it.
class Crowd {
 public:
  void add(const GanttBar& bar) {
    if (count_ == 0) first_ = bar;
    count_ += bar.count;
    last_ = bar.until;
    time_[bar.file] += bar.until - bar.from;
  }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] double from() const { return first_.from; }

  /// Everything becomes one bar, at least so long.
  GanttBar take(double at_least) {
    const auto most = std::ranges::max_element(time_, {}, [](const auto& of) { return of.second; });
    GanttBar bar = first_;
    bar.file = most->first;
    bar.until = std::max(last_, bar.from + at_least);
    bar.count = count_;
    *this = {};
    return bar;
  }

 private:
  GanttBar first_;
  double last_ = 0;
  std::uint32_t count_ = 0;
  std::map<std::uint32_t, double> time_;  ///< by file
};

}  // namespace

std::vector<GanttBar> merged_bars(const std::vector<GanttBar>& bars, double visible, double seams) {
  std::vector<GanttBar> result;
  const auto append = [&](const GanttBar& bar) {
    if (!result.empty()) {
      GanttBar& last = result.back();
      const bool touches = bar.from - last.until < visible;
      const auto is_short = [&](const GanttBar& one) { return one.until - one.from < seams; };
      const bool no_seam = is_short(bar) || (last.count == 1 && is_short(last));
      if (touches && no_seam && last.file == bar.file) {
        last.until = std::max(last.until, bar.until);
        last.count += bar.count;
        return;
      }
    }
    result.push_back(bar);
  };
  Crowd crowd;
  for (const GanttBar& bar : bars) {
    if (!crowd.empty() && bar.until - crowd.from() >= visible) append(crowd.take(visible));
    if (bar.until - bar.from >= visible)
      append(bar);
    else
      crowd.add(bar);
  }
  if (!crowd.empty()) append(crowd.take(visible));
  return result;
}

}  // namespace gantry::simulate
