#pragma once
/// The random grids and applications of Casanova, Legrand, Zagorodnov and Berman, "Heuristics for
/// Scheduling Parameter Sweep Applications in Grid Environments" (HCW 2000), section 4.3.1.
/// docs/simulation.md says what the paper leaves open, and what was chosen. All of it follows from
/// the seed and the options; a case is made from its number, in any order, on any thread.

#include <cstdint>
#include <vector>

#include "simulate/simulated_tasks.hpp"
#include "simulate/simulation.hpp"

namespace gantry::simulate {

/// The paper's: 100,000 of them are its 95 MBytes.
inline constexpr double kKilobyte = 1000;

inline constexpr std::uint32_t kPsaGrids = 1000;
inline constexpr std::uint32_t kPsaApplications = 1000;

struct PsaOptions {
  double host_speed = 2.3;  ///< of the paper's base CPU
  /// 1: links as the paper describes them, 50 to 500 KB/s on average. The default makes planning
  /// worth as much as in the paper.
  double bandwidth_scale = 2.5;
  /// Some tasks read files of others, too.
  bool perturbed = false;
};

struct PsaCase {
  std::uint32_t grid_number = 0;  ///< among the paper's 1,000
  std::uint32_t application_number = 0;
  VirtualGrid grid{};
  SimulatedTasks application{};
};

class PsaCases {
 public:
  explicit PsaCases(std::uint64_t seed, const PsaOptions& options = {});

  /// A grid and an application, picked by chance. With and without perturbation the same ones.
  [[nodiscard]] PsaCase at(std::uint32_t index) const;

  /// REQUIRES: number < kPsaGrids.
  [[nodiscard]] VirtualGrid grid(std::uint32_t number) const;
  /// REQUIRES: number < kPsaApplications.
  [[nodiscard]] SimulatedTasks application(std::uint32_t number) const;

 private:
  std::uint64_t seed_;
  PsaOptions options_;
  std::vector<Trace> cpus_;
  std::vector<LinkSpec> links_;
};

}  // namespace gantry::simulate
