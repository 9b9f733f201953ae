#pragma once
/// How much hosts differ in speed beyond what is declared, from the run times that were seen on
/// each: empirical Bayes, on logarithms. Where few tasks have ended, or tasks differ much anyway, a
/// host is taken for one like the others; where many have, for what it was seen to be. A value; no
/// clock.

#include <vector>

#include "forecast/run_time_sample.hpp"

namespace gantry::forecast {

/// Of a host.
struct HostPace {
  double times = 1;   ///< a task takes so many times as long as on a usual host of speed 1
  double unsure = 0;  ///< the standard deviation of its logarithm
};

class HostPaces {
 public:
  /// What was seen on a host that is declared to be of this speed. Not after settle().
  void add(const RunTimeSample& sample, double speed);
  /// All were added; of() may be asked.
  void settle();

  /// nullptr: nothing was seen there.
  [[nodiscard]] HostPace of(const RunTimeSample* sample, double speed) const;

 private:
  struct Seen {
    double tasks = 0;
    double log_mean = 0;  ///< if it were of speed 1
  };
  /// By how much means of hosts differ beyond what chance makes of tasks.
  [[nodiscard]] double found_between(double tasks, double mean) const;
  /// The mean over hosts, whatever the number of tasks they have done: fast ones have done more.
  [[nodiscard]] double mean_of_hosts() const;

  std::vector<Seen> hosts_;
  // Of logarithms.
  double squares_ = 0;  ///< of how far tasks are from their host's mean
  double within_ = 0;   ///< variance of tasks on a host
  double between_ = 0;  ///< variance of hosts; 0 = they seem alike
  double usual_ = 0;    ///< host
};

}  // namespace gantry::forecast
