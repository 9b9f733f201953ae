#pragma once
/// Starts a program on a host, as a daemon or to be waited for: in the host's control group and
/// network, under the host's name, and with the file system that the host sees.

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "testbed/cpu_group.hpp"

namespace gantry::testbed {

struct FolderBind {
  std::filesystem::path from;
  std::filesystem::path onto;  ///< must exist
};

struct HostDaemon {
  std::vector<std::string> argv;         ///< a program that stays in the foreground
  std::string program;                   ///< its file; empty: the one that argv[0] names
  std::vector<std::string> environment;  ///< "NAME=value", added
  std::filesystem::path log;             ///< what it prints is added there
  CpuGroup group;
  std::string netns;              ///< empty: ours
  std::string hostname;           ///< empty: ours
  std::vector<FolderBind> binds;  ///< in order; only the program and what it starts see them
};

struct StartedDaemon {
  std::string what;
  pid_t pid = -1;
  std::filesystem::path log;
};

/// REQUIRES: the calling process has one thread.
Result<StartedDaemon> start_daemon(const HostDaemon& daemon);

/// Runs a program to its end, where a daemon would be; what it printed. `log` is not used.
Result<std::string> run_on_host(const HostDaemon& tool);

/// An error, with the end of its log, when it has ended. For children of ours.
Result<> check_running(const StartedDaemon& daemon);

}  // namespace gantry::testbed
