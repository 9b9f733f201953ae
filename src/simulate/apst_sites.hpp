#pragma once
/// The three sites, the application and the four scenarios of Casanova, Berman, Obertelli and
/// Wolski, "The AppLeS parameter sweep template" (Scientific Programming 8, 2000), section 4.3.1
/// (Figure 5). docs/simulation.md says what the paper leaves open. Pure functions.

#include <cstdint>

#include "simulate/simulated_tasks.hpp"
#include "simulate/simulation.hpp"

namespace gantry::simulate {

/// Which files are where before anything is sent; each scenario has those of the one before.
enum class ApstScenario : std::uint8_t {
  a,  ///< none
  b,  ///< the two of 100 MB at UCSD
  c,  ///< one of 100 MB and the two of 20 MB at UTK
  d,  ///< all everywhere
};

inline constexpr SiteId kTitech{1};  ///< 32 hosts, where the files are
inline constexpr SiteId kUcsd{2};    ///< 8 hosts
inline constexpr SiteId kUtk{3};     ///< 16 hosts

struct ApstOptions {
  double cheapest_task = 10;  ///< seconds; the dearest one takes 20 times that
  double titech_bandwidth =
      4e6;                 ///< bytes a second, on average: 20 times UCSD's and 40 times UTK's
  std::uint64_t seed = 0;  ///< of traces and costs
};

struct ApstCase {
  VirtualGrid grid;            ///< and what is staged there
  SimulatedTasks application;  ///< files of 1, 1, 20, 20, 100 and 100 MB, each for 200 tasks
};

[[nodiscard]] ApstCase apst_case(ApstScenario scenario, const ApstOptions& options = {});

}  // namespace gantry::simulate
