#pragma once
/// The agent of one host: takes tasks from gantry over a socket, queues them, packs them onto the
/// host's cores and memory, and keeps every report until gantry has acknowledged it. It outlives
/// gantry: without one it finishes what runs and then exits, leaving its reports in the slot logs
/// for the next agent. One thread; each slot is a process of its own (shepherd.hpp).

#include <signal.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "agent/staging.hpp"
#include "base/fd.hpp"
#include "base/result.hpp"

namespace gantry::agent {

struct AgentConfig {
  std::filesystem::path dir;         ///< absolute: lock, socket, pid, slot logs
  std::filesystem::path output_dir;  ///< absolute: where large output goes
  SandboxKeeper keeper = {};         ///< of tasks with a sandbox
  std::string mark = {};  ///< NAME=value in the environment of all its tasks; set by serve()
  /// Ends when it gets one of stop_signals(), which whoever calls serve() has blocked and ignored
  /// (so that they do not end the processes of its slots), instead of dying of it.
  bool heeds_signals = false;
  std::chrono::nanoseconds time{0};  ///< for which tasks may use the host, from now on; 0 = no end
  std::chrono::seconds lingers{0};   ///< with nothing to do and nobody there, before it exits
};

inline constexpr const char* kSocketName = "socket";

/// By which batch systems say that a job has to end.
sigset_t stop_signals();
/// It ended as tasks do that get one of them.
bool was_told_to_end(const Ended& ended);

/// Serves until there is neither a gantry nor a running task. `ready` gets one byte once the socket
/// listens, or the text of what went wrong; it is closed in both cases. Becomes a child subreaper.
Result<> serve(const AgentConfig& config, UniqueFd ready);

}  // namespace gantry::agent
