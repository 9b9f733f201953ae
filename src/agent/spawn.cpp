#include "agent/spawn.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace gantry::agent {

namespace {

/// Runs in the vfork child, on the parent's memory: system calls only, and _exit at the end.
[[noreturn]] void run_child(const SpawnRequest& request, char* const* shell_argv, pid_t parent,
                            volatile SpawnFailure* failure) {
  const auto give_up = [&](const char* stage) {
    failure->error = errno;
    failure->stage = stage;
    _exit(127);
  };
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) _exit(127);  // the parent died before the line above took hold
  if (::dup2(request.stdin_fd, 0) < 0 || ::dup2(request.stdout_fd, 1) < 0 ||
      ::dup2(request.stderr_fd, 2) < 0) {
    give_up("cannot connect the output");
  }
  if (::chdir(request.workdir.c_str()) != 0) give_up("cannot enter the working directory");
  for (const int changed : {SIGPIPE, SIGXFSZ, SIGCHLD, SIGTERM, SIGUSR1, SIGUSR2})
    ::signal(changed, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::execve(request.program.c_str(), request.argv.data(), request.envp.data());
  // A script without "#!" is a shell script, as execvp and every shell have it.
  if (errno == ENOEXEC) ::execve(shell_argv[0], shell_argv, request.envp.data());
  give_up("cannot start");
  _exit(127);
}

}  // namespace

pid_t spawn(const SpawnRequest& request, SpawnFailure& failure) {
  std::string shell = "/bin/sh";
  std::vector<char*> shell_argv{shell.data(), const_cast<char*>(request.program.c_str())};
  shell_argv.insert(shell_argv.end(), request.argv.begin() + 1, request.argv.end());

  const pid_t parent = ::getpid();
  volatile SpawnFailure child_failure;
  child_failure.error = 0;
  child_failure.stage = "";
  const pid_t pid = ::vfork();
  if (pid == 0) run_child(request, shell_argv.data(), parent, &child_failure);
  if (pid < 0) {
    failure = {errno, "cannot fork"};
    return -1;
  }
  if (child_failure.error != 0) {
    failure = {child_failure.error, child_failure.stage};
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return -1;
  }
  return pid;
}

std::string find_program(const std::string& name, const char* path, const std::string& workdir) {
  if (name.empty() || name.find('/') != std::string::npos) return name;
  std::string_view rest = path != nullptr ? path : "/usr/local/bin:/usr/bin:/bin";
  std::string not_executable;
  for (;;) {
    const auto colon = rest.find(':');
    const auto directory = rest.substr(0, colon);
    std::string candidate(directory);
    if (!directory.starts_with('/')) candidate = workdir + "/" + candidate;
    candidate += '/';
    candidate += name;
    struct stat info {};
    if (::stat(candidate.c_str(), &info) == 0 && S_ISREG(info.st_mode)) {
      if (::access(candidate.c_str(), X_OK) == 0) return candidate;
      if (not_executable.empty()) not_executable = candidate;
    }
    if (colon == std::string_view::npos) return not_executable;
    rest.remove_prefix(colon + 1);
  }
}

}  // namespace gantry::agent
