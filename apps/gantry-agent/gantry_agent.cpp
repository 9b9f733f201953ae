// gantry-agent: runs tasks on this host for gantry. Started by gantry, not by people.
//   gantry-agent DIR OUTPUT_DIR [SCRATCH]   serves in DIR (descriptor 3, if open, is told when it
//   is
//                                           ready); tasks' inputs are in the depot below SCRATCH
//   gantry-agent relay STATE_DIR SCRATCH    joins standard input and output to such an agent
//   gantry-agent pilot STATE_DIR SCRATCH [SECONDS]   serves in the foreground, as a job of a batch
//                                           system, in which tasks have so much time
//   gantry-agent reach STATE_DIR            joins standard input and output to such a pilot
//   gantry-agent jobs STATE_DIR SCRATCH ... makes jobs of tasks, on standard input and output
//   gantry-agent job STATE_DIR BATCH SCRATCH   runs one of them, as an element of an array job
//   gantry-agent files SCRATCH              takes and gives files on standard input and output
//   gantry-agent give SCRATCH TOKEN         gives files of the depot to another site, in the same
//   way gantry-agent clean SCRATCH HOLDER own|all   removes what is there, when told to

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <filesystem>
#include <memory>
#include <string_view>

#include "agent/agent.hpp"
#include "agent/job_desk.hpp"
#include "agent/job_element.hpp"
#include "agent/pilot.hpp"
#include "agent/relay.hpp"
#include "depot/file_server.hpp"
#include "depot/giver.hpp"
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

/// In which tasks may run; 0 when nobody knows. Newer Slurms tell when the job ends.
std::chrono::seconds time_of_job(const char* told) {
  constexpr long kToEndTasks = 120;
  if (told != nullptr) return std::chrono::seconds(std::atol(told));
  const char* end = std::getenv("SLURM_JOB_END_TIME");
  const long left = end != nullptr ? std::atol(end) - std::time(nullptr) - kToEndTasks : 0;
  return std::chrono::seconds(std::max(0L, left));
}

int pilot(int argc, char** argv) {
  const auto state = std::filesystem::absolute(argv[2]).lexically_normal();
  const auto scratch = std::filesystem::canonical(argv[3]);
  forget_caller();
  return status_of(gantry::agent::serve_as_pilot(state, gantry::make_sandbox_keeper(scratch),
                                                 time_of_job(argc == 5 ? argv[4] : nullptr)));
}

int reach(const char* state) {
  ::signal(SIGPIPE, SIG_IGN);
  return status_of(gantry::agent::reach_pilot(state, STDIN_FILENO, STDOUT_FILENO));
}

/// The words behind the folders are those of actuate/launch/batch/batch_system.hpp's desk_words().
int jobs(char** argv) {
  ::signal(SIGPIPE, SIG_IGN);
  gantry::agent::DeskConfig config;
  config.state_dir = std::filesystem::absolute(argv[2]).lexically_normal();
  std::filesystem::current_path(argv[3]);
  config.system =
      std::string_view(argv[4]) == "sge" ? gantry::BatchSystem::sge : gantry::BatchSystem::slurm;
  config.name = argv[5];
  config.most = static_cast<std::uint32_t>(std::max(1L, std::atol(argv[6])));
  config.rate = std::max(0.001, std::atof(argv[7]));
  config.submit = argv[8];
  config.queue = argv[9];
  config.cancel = argv[10];
  return status_of(gantry::agent::serve_desk(config, STDIN_FILENO, STDOUT_FILENO));
}

int job(char** argv) {
  const auto state = std::filesystem::absolute(argv[2]).lexically_normal();
  const auto scratch = std::filesystem::canonical(argv[4]);
  const char* element = std::getenv("SLURM_ARRAY_TASK_ID");
  if (element == nullptr) element = std::getenv("SGE_TASK_ID");
  const long index = element != nullptr ? std::atol(element) : 0;
  forget_caller();
  return status_of(gantry::agent::run_job_element(
      state / "jobs" / argv[3], static_cast<std::uint32_t>(std::max(0L, index)), state / "output",
      gantry::make_sandbox_keeper(scratch)));
}

int serve_files(const char* scratch) {
  return status_of(gantry::depot::serve_files(STDIN_FILENO, STDOUT_FILENO, scratch,
                                              {.open = gantry::depot::open_ssh_peer}));
}

int give(char** argv) {
  return status_of(gantry::depot::serve_wants(STDIN_FILENO, STDOUT_FILENO, argv[2], argv[3]));
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
    if ((argc == 4 || argc == 5) && mode == "pilot") return pilot(argc, argv);
    if (argc == 11 && mode == "jobs") return jobs(argv);
    if (argc == 5 && mode == "job") return job(argv);
    if (argc == 4 && mode == "relay") return relay(argv);
    if (argc == 4 && mode == "give") return give(argv);
    if (argc == 5 && mode == "clean") return clean(argv);
    if (argc == 3 || argc == 4) return serve(argc, argv);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gantry-agent: %s\n", error.what());
    return 3;
  }
  std::fputs("gantry-agent is started by gantry; see gantry --help\n", stderr);
  return 2;
}
