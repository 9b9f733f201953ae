#pragma once
/// The words of a run's progress and of its end, for given facts. Pure.

#include <cstddef>
#include <string>
#include <vector>

#include "driver/driver.hpp"

namespace gantry::cli {

struct ProgressStyle {
  std::size_t columns = 80;
  bool utf8 = false;
  bool color = false;
};

/// Two lines for a live block, and one for each of several runs, at most `columns - 1` wide (a full
/// line would wrap on some terminals).
std::vector<std::string> progress_block(const driver::Progress& progress,
                                        const ProgressStyle& style);

/// One line for a log: "120/1000 done, 3 failed, 16 running, 41 tasks/s, elapsed 3.1 s, ETA 21 s".
std::string progress_line(const driver::Progress& progress);

/// "998 done (12 unchanged), 2 failed, 1000 in all". `unknown`: of those that are neither ended nor
/// running.
std::string counts_text(const store::Counts& counts, std::uint32_t unchanged,
                        std::uint32_t unknown = 0);

}  // namespace gantry::cli
