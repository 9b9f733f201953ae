#pragma once
/// A simulated run as the bars of a picture: sites, their links, and the slots of their hosts.
/// Plain values and pure functions, in seconds of the run; gantt_svg.hpp draws them.

#include <cstdint>
#include <limits>
#include <vector>

#include "engine/run/workload.hpp"
#include "simulate/simulation.hpp"

namespace gantry::simulate {

/// The bar of a task that reads no shared file.
inline constexpr std::uint32_t kNoFile = std::numeric_limits<std::uint32_t>::max();

/// A task or a transfer, or several that are too small to be told apart.
struct GanttBar {
  double from = 0;
  double until = 0;
  std::uint32_t file = kNoFile;  ///< the first shared one that the task reads; the one that is sent
  TaskId task{};                 ///< of tasks; the first of several
  std::uint32_t count = 1;
  friend bool operator==(const GanttBar&, const GanttBar&) = default;
};

/// What one slot did, or one stream of a link, by time and without overlaps.
struct GanttRow {
  std::uint32_t host = 0;  ///< index in the grid; 0 of links
  SiteId from = kHome;     ///< of links: where the files come from
  std::vector<GanttBar> bars;
};

struct GanttSite {
  SiteId site;
  std::uint32_t hosts = 0;
  std::vector<GanttRow> links;  ///< to it, home's first; empty when nothing was sent
  std::vector<GanttRow> slots;
  double busy = 0;  ///< the part of the slots' time until the end of the run
};

/// Sites that have hosts or got files, by id.
[[nodiscard]] std::vector<GanttSite> gantt_rows(const Simulated& run, const VirtualGrid& grid,
                                                const engine::Workload& workload);

/// Bars for a row where nothing shorter than `visible` seconds can be seen. Neighbours of the same
/// colour become one when a seam between them could not be seen: when one of them is shorter than
/// `seams`. Of different ones that are too short the one with most time stands for all.
[[nodiscard]] std::vector<GanttBar> merged_bars(const std::vector<GanttBar>& bars, double visible,
                                                double seams);

}  // namespace gantry::simulate
