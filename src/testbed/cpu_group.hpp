#pragma once
/// Control groups: a testbed's processes are in groups of its own, one for each host, which give a
/// host its speed, and by which every process of it is known, also after a crash.

#include <sys/types.h>

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace gantry::testbed {

/// A folder in the kernel's tree of groups; it need not exist.
struct CpuGroup {
  std::filesystem::path path;
  bool unified = false;  ///< version 2 of control groups

  [[nodiscard]] CpuGroup part(const std::string& name) const { return {path / name, unified}; }
};

/// The group of a testbed. Below it lie those of its hosts.
Result<CpuGroup> cpu_group_of(const std::string& testbed);

/// Makes the group of a testbed, which has a weight of its own for each of `parts`.
Result<> make_testbed_group(const CpuGroup& group, std::size_t parts);
/// Makes a group below it that may use at most `cores`; 0 is no limit.
Result<> make_cpu_group(const CpuGroup& group, double cores);

/// Living processes, also those in groups below. None when there is no such group.
std::vector<pid_t> members_of(const CpuGroup& group);

/// Kills all members until none is left, reaps our own children, and returns who was killed.
Result<std::set<pid_t>> kill_members(const CpuGroup& group);

/// Waits until nobody finds these processes by their numbers: a dead one is still found until its
/// parent has asked how it ended. Gives up after a while.
void wait_until_reaped(const std::set<pid_t>& processes);

/// Removes the group and those below it. REQUIRES: no members.
Result<> remove_group(const CpuGroup& group);

}  // namespace gantry::testbed
