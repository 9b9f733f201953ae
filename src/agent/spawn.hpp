#pragma once
/// Starts one program at the lowest price the kernel offers: vfork and exec, no copy of page
/// tables.

#include <sys/types.h>

#include <string>
#include <vector>

namespace gantry::agent {

/// Everything is prepared before the fork: the child only makes system calls.
struct SpawnRequest {
  std::vector<char*> argv;  ///< ends with nullptr
  std::vector<char*> envp;  ///< ends with nullptr
  std::string program;      ///< resolved path of argv[0]
  std::string workdir;
  int stdin_fd = -1;
  int stdout_fd = -1;
  int stderr_fd = -1;
};

struct SpawnFailure {
  int error = 0;           ///< errno
  const char* stage = "";  ///< what could not be done
};

/// The child leads a process group of its own, dies with its parent, and blocks no signal. What an
/// agent ignores or handles (SIGPIPE, SIGXFSZ, SIGCHLD) is as usual in it.
/// On failure returns -1 and fills `failure`; no child is left behind.
/// REQUIRES: the calling process has one thread, and SIGCHLD is blocked.
pid_t spawn(const SpawnRequest& request, SpawnFailure& failure);

/// Finds a program as execvp would, with the PATH and working directory that the task will have. A
/// name with a slash is returned as it is; so is a file that is not executable, if there is nothing
/// better: execve then tells why. Empty when there is none.
std::string find_program(const std::string& name, const char* path, const std::string& workdir);

}  // namespace gantry::agent
