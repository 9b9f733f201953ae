#pragma once
/// The options of `gantry simulate`, which its experiments share.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace gantry::cli {

struct SimulateOptions {
  std::vector<std::string> words;  ///< the experiment, then files of etc or forecasts
  std::uint32_t cases = 0;         ///< of each point, or series of each kind; 0 = as usual
  std::uint64_t seed = 1;
  std::vector<std::string> schedulers{};  ///< none: the experiment's own
  std::uint32_t jobs = 0;                 ///< 0 = one a core
  std::string out = "simulate";           ///< the folder for CSV and SVG
  bool json = false;
  double bandwidth_scale = 0;  ///< 0 = the paper's bandwidths
  std::string optimize{};      ///< of etc: how long to search, on one core each; empty = not
  std::string kind{};          ///< of erratic runs; empty: grids

  /// REQUIRES: there are words.
  [[nodiscard]] const std::string& experiment() const { return words.front(); }
  [[nodiscard]] std::span<const std::string> files() const { return std::span(words).subspan(1); }
};

}  // namespace gantry::cli
