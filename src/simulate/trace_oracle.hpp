#pragma once
/// What a simulated grid will do, read from its traces: estimates that are exact, and capacities
/// for lower bounds. Outages are not foreseen. Plain values.

#include <optional>
#include <span>
#include <vector>

#include "schedule/gantt/makespan_bound.hpp"
#include "schedule/planning.hpp"
#include "simulate/kernel_world.hpp"

namespace gantry::simulate {

struct TraceGrid {
  struct Site {
    std::optional<LinkSpec> inbound{};  ///< none: home, where files are at once
    std::optional<LinkSpec> outbound{};
    std::vector<LinkSpec> peers{};  ///< over which files may come from other sites, for bounds
  };
  std::vector<HostSpec> slots;  ///< of each slot its host
  std::vector<Site> sites;
};

/// A planner's numbers in front of the traces. A transfer is thought to have the full bandwidth for
/// itself.
class TraceEstimates final : public schedule::Estimates {
 public:
  /// `now` is the moment of the traces that the planner calls 0; `slots` and `sites` are those of
  /// the grid, which outlives this, as the planner numbers them.
  TraceEstimates(const TraceGrid& grid, double now, std::vector<std::uint32_t> slots,
                 std::vector<std::uint32_t> sites);
  [[nodiscard]] schedule::Seconds computed(std::uint32_t host, schedule::Seconds from,
                                           double work) const override;
  [[nodiscard]] schedule::Seconds moved(std::uint32_t site, schedule::Seconds from, double bytes,
                                        bool outbound) const override;
  void computed_each(std::uint32_t host, schedule::Seconds from, std::span<const double> works,
                     std::span<schedule::Seconds> ends) const override;
  void moved_each(std::uint32_t site, std::span<const schedule::Seconds> starts, double bytes,
                  bool outbound, std::span<schedule::Seconds> arrivals) const override;
  [[nodiscard]] double fastest(std::uint32_t host) const override { return fastest_[host]; }

 private:
  [[nodiscard]] const HostSpec& slot(std::uint32_t number) const {
    return grid_.slots[slots_[number]];
  }

  const TraceGrid& grid_;
  double now_;
  std::vector<std::uint32_t> slots_;
  std::vector<std::uint32_t> sites_;
  std::vector<double> fastest_;  ///< by the planner's number
};

/// With the grid's own numbers, from its beginning on.
class TraceCapacities final : public schedule::Capacities {
 public:
  explicit TraceCapacities(TraceGrid grid) : grid_(std::move(grid)) {}
  [[nodiscard]] double work(std::uint32_t host, schedule::Seconds from,
                            schedule::Seconds until) const override;
  [[nodiscard]] double bytes(std::uint32_t site, schedule::Seconds from, schedule::Seconds until,
                             bool outbound) const override;

 private:
  TraceGrid grid_;
};

}  // namespace gantry::simulate
