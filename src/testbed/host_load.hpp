#pragma once
/// A competing load: processes that compute in a host's group, and so take from its speed what
/// others of the machine's users would.

#include <string>
#include <vector>

#include "base/result.hpp"
#include "testbed/cpu_group.hpp"

namespace gantry::testbed {

inline constexpr std::string_view kSpinWord = "spin";  ///< `gantry testbed spin PART`

/// Computes for this part of the time, until it is killed.
[[noreturn]] void spin(double part);

/// What the processes of a load of `load` have to do: 2.5 is two that compute all the time, and one
/// half of it.
std::vector<double> parts_of_load(double load);

/// The load that a host has, and the processes that make it.
struct HostLoad {
  double load = 0;
  std::vector<pid_t> processes;
};
HostLoad load_in(const CpuGroup& group);
/// Ends it, and waits until it has gone: a host without any processor time left dies slowly.
void end_load(const CpuGroup& group);

}  // namespace gantry::testbed
