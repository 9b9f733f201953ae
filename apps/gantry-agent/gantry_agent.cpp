// gantry-agent: runs tasks on this host for gantry. Started by gantry, not by people.
//   gantry-agent DIR OUTPUT_DIR [SCRATCH]   serves in DIR (descriptor 3, if open, is told when it
//   is
//                                           ready); tasks' inputs are in the depot below SCRATCH
//   gantry-agent relay STATE_DIR SCRATCH    joins standard input and output to such an agent
//   gantry-agent pilot STATE_DIR SCRATCH    serves in the foreground, as a job of a batch system
//   gantry-agent reach STATE_DIR            joins standard input and output to such a pilot
//   gantry-agent files SCRATCH              takes and gives files on standard input and output
//   gantry-agent clean SCRATCH HOLDER own|all   removes what is there, when told to

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <memory>
#include <string_view>

#include "agent/agent.hpp"
#include "agent/pilot.hpp"
#include "agent/relay.hpp"
#include "depot/file_server.hpp"
#include "depot/site_removal.hpp"
#include "sandboxes.hpp"

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

int status_of(const gantry::Result<>& result) {
  if (result) return 0;
  std::fprintf(stderr, "gantry-agent: %s\n", result.error().message.c_str());
  return 3;
}

int serve(int argc, char** argv) {
  forget_caller();
  gantry::UniqueFd ready(::fcntl(3, F_GETFD) >= 0 ? 3 : ::open("/dev/null", O_WRONLY | O_CLOEXEC));
  ::fcntl(ready.get(), F_SETFD, FD_CLOEXEC);
  become_daemon();
  gantry::agent::AgentConfig config{argv[1], argv[2]};
  if (argc == 4) config.keeper = gantry::make_sandbox_keeper(argv[3]);
  return status_of(gantry::agent::serve(config, std::move(ready)));
}

int relay(char** argv) {
  ::signal(SIGPIPE, SIG_IGN);
  const auto state = std::filesystem::absolute(argv[2]).lexically_normal();
  const auto scratch = std::filesystem::canonical(argv[3]);
  return status_of(gantry::agent::relay(state, {"/proc/self/exe", {scratch.string()}}, STDIN_FILENO,
                                        STDOUT_FILENO));
}

int pilot(char** argv) {
  const auto state = std::filesystem::absolute(argv[2]).lexically_normal();
  const auto scratch = std::filesystem::canonical(argv[3]);
  forget_caller();
  return status_of(gantry::agent::serve_as_pilot(state, gantry::make_sandbox_keeper(scratch)));
}

int reach(const char* state) {
  ::signal(SIGPIPE, SIG_IGN);
  return status_of(gantry::agent::reach_pilot(state, STDIN_FILENO, STDOUT_FILENO));
}

int serve_files(const char* scratch) {
  return status_of(gantry::depot::serve_files(STDIN_FILENO, STDOUT_FILENO, scratch));
}

int clean(char** argv) {
  ::signal(SIGPIPE, SIG_IGN);
  return status_of(gantry::depot::serve_removal(STDIN_FILENO, STDOUT_FILENO, argv[2], argv[3],
                                                std::string_view(argv[4]) == "all"));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::string_view mode = argc > 1 ? argv[1] : "";
    if (argc == 3 && mode == "files") return serve_files(argv[2]);
    if (argc == 3 && mode == "reach") return reach(argv[2]);
    if (argc == 4 && mode == "pilot") return pilot(argv);
    if (argc == 4 && mode == "relay") return relay(argv);
    if (argc == 5 && mode == "clean") return clean(argv);
    if (argc == 3 || argc == 4) return serve(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gantry-agent: %s\n", error.what());
    return 3;
  }
  std::fputs("gantry-agent is started by gantry; see gantry --help\n", stderr);
  return 2;
}
