#pragma once
/// A process and everything that descends from it. The caller is the tree's child subreaper, so
/// that a process that tries to leave (daemons, double forks) becomes the caller's child instead of
/// vanishing.

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

namespace gantry::agent {

/// The direct children of `parent`.
std::vector<pid_t> children(pid_t parent);

/// Every living descendant of `root`, parents before children, without `root` itself; so many at
/// the most.
std::vector<pid_t> descendants(pid_t root,
                               std::size_t most = std::numeric_limits<std::size_t>::max());

/// The threads of a process; none when it is gone.
std::vector<pid_t> threads(pid_t pid);

/// Sends `signal` to every descendant of this process.
void signal_descendants(int signal);

/// Kills every descendant of this process, and reaps until the kernel says that none is left. False
/// if some survive after `patience_ms` (a process stuck in the kernel).
bool kill_descendants(int patience_ms);

/// Memory of this process's descendants in bytes: each page counted once for each process that maps
/// it (cheap), or shared pages divided among their users (exact, reads smaps_rollup).
std::uint64_t resident_memory_of_descendants();
std::uint64_t proportional_memory_of_descendants();

/// Kills processes of this user whose environment holds `marker` ("NAME=value"), as an agent that
/// was killed may have left them behind, and waits (a few seconds at most) until they are gone.
/// Returns how many were found.
int kill_processes_marked(std::string_view marker);

}  // namespace gantry::agent
