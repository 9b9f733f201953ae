#pragma once
/// What a table of makespans says of the schedulers that reached them: the paper's three measures
/// (HCW 2000, section 4.3.1) and the distance from a lower bound, each with an interval of
/// confidence. Pure functions.

#include <cstdint>
#include <string>
#include <vector>

namespace gantry::simulate {

/// REQUIRES: makespans and bounds are positive and finite; every case has all schedulers.
struct ExperimentTable {
  std::vector<std::string> schedulers{};
  std::vector<std::vector<double>> makespans{};  ///< of each case, in the order of the schedulers
  std::vector<double> bounds{};                  ///< of each case; empty = not known
};

/// An estimate, and an interval around it from cases drawn again and again from those that there
/// are (bootstrap, percentiles).
struct Measure {
  double value = 0;
  double low = 0;
  double high = 0;
};

struct ConfidenceOptions {
  double confidence = 0.95;
  std::uint32_t resamples = 1000;
  std::uint64_t seed = 0;
};

struct SchedulerStatistics {
  std::string scheduler;
  Measure geometric_mean;  ///< of the makespans
  /// How much longer than that of the best scheduler of the case, on average: 0.05 = 5%.
  Measure degradation;
  Measure rank;      ///< 1 = best; those who tie share their places
  Measure distance;  ///< geometric mean of makespan / bound; 0 without bounds
};

/// In the order of the table. Zeros when it has no cases.
[[nodiscard]] std::vector<SchedulerStatistics> statistics(const ExperimentTable& table,
                                                          const ConfidenceOptions& options = {});

/// The mean over numbers that were drawn, such as the runs of one point in a figure.
[[nodiscard]] Measure mean_of_runs(const std::vector<double>& values,
                                   const ConfidenceOptions& options = {});

}  // namespace gantry::simulate
