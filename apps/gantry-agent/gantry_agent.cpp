// gantry-agent: runs tasks on this host for gantry. Started by gantry, not by people.
//   gantry-agent DIR OUTPUT_DIR   (descriptor 3, if open, is told when the agent is ready)
//   gantry-agent files SCRATCH    (takes and gives files on standard input and output)

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string_view>

#include "agent/agent.hpp"
#include "depot/file_server.hpp"

namespace {

/// Nothing of the process that started us may live on in us: not its open files (a lock of the
/// calling script, a pipe that somebody reads to its end), not what it ignores.
void forget_caller() {
  ::close_range(4, ~0U, 0);
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (::chdir("/") != 0) return;  // only so that its directory can be unmounted
}

/// Leaves the terminal and the session of whoever started us.
void become_daemon() {
  if (::fork() != 0) std::_Exit(0);
  ::setsid();
  if (::fork() != 0) std::_Exit(0);
}

int report(const gantry::Result<>& result) {
  if (result) return 0;
  std::fprintf(stderr, "gantry-agent: %s\n", result.error().message.c_str());
  return 3;
}

int serve_files(const char* scratch) {
  return report(gantry::depot::serve_files(STDIN_FILENO, STDOUT_FILENO, scratch));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("gantry-agent is started by gantry; see gantry --help\n", stderr);
    return 2;
  }
  try {
    if (std::string_view(argv[1]) == "files") return serve_files(argv[2]);
    forget_caller();
    gantry::UniqueFd ready(::fcntl(3, F_GETFD) >= 0 ? 3
                                                    : ::open("/dev/null", O_WRONLY | O_CLOEXEC));
    ::fcntl(ready.get(), F_SETFD, FD_CLOEXEC);
    become_daemon();
    return report(gantry::agent::serve({argv[1], argv[2]}, std::move(ready)));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gantry-agent: %s\n", error.what());
  }
  return 3;
}
