#include "testbed/host_daemon.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/fd.hpp"
#include "testbed/system_tool.hpp"

namespace gantry::testbed {

namespace {

/// In the child: what could not be done, or nothing. errno tells why.
const char* enter_host(const HostDaemon& daemon) {
  const auto procs = open_file(daemon.group.path / "cgroup.procs", O_WRONLY);
  if (!procs || !write_all(procs->get(), "0")) return "join the control group";
  if (!daemon.netns.empty()) {
    const auto netns = open_file("/run/netns/" + daemon.netns, O_RDONLY);
    if (!netns || ::setns(netns->get(), CLONE_NEWNET) != 0) return "enter the network namespace";
  }
  if (!daemon.hostname.empty()) {
    if (::unshare(CLONE_NEWUTS) != 0 ||
        ::sethostname(daemon.hostname.c_str(), daemon.hostname.size()) != 0)
      return "set the host's name";
  }
  if (!daemon.binds.empty()) {
    // A slave: what is mounted here stays here, what is unmounted outside goes here as well.
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount("none", "/", nullptr, MS_REC | MS_SLAVE, nullptr) != 0)
      return "make a mount namespace";
    for (const auto& bind : daemon.binds) {
      if (::mount(bind.from.c_str(), bind.onto.c_str(), nullptr, MS_BIND, nullptr) != 0)
        return bind.onto.c_str();
    }
  }
  return ::chdir("/") == 0 ? nullptr : "/";
}

/// The same for one that stays: until it is in its group, where `testbed down` finds it, it must
/// not outlive us.
const char* enter_for_good(const HostDaemon& daemon, pid_t parent) {
  if (::prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || ::getppid() != parent) return "prctl";
  if (const char* stage = enter_host(daemon)) return stage;
  return ::setsid() < 0 || ::prctl(PR_SET_PDEATHSIG, 0) != 0 ? "start a session" : nullptr;
}

void reset_signals() {
  for (const int number : {SIGPIPE, SIGXFSZ, SIGINT, SIGTERM, SIGHUP, SIGCHLD})
    ::signal(number, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

std::string end_of(const std::filesystem::path& log) {
  constexpr std::size_t kShown = 2000;
  auto text = read_file(log);
  if (!text) return {};
  while (!text->empty() && text->back() == '\n') text->pop_back();
  return text->size() > kShown ? text->substr(text->size() - kShown) : *text;
}

}  // namespace

Result<StartedDaemon> start_daemon(const HostDaemon& daemon) {
  std::vector<std::string> argv = daemon.argv;
  std::string program = daemon.program;
  if (program.empty()) {
    TRY_ASSIGN(program, find_tool(argv.at(0)));
    argv[0] = program;  // sshd wants to be called by its whole name
  }
  TRY_ASSIGN(const UniqueFd log, open_file(daemon.log, O_WRONLY | O_CREAT | O_APPEND, 0600));
  TRY_ASSIGN(const UniqueFd nothing, open_file("/dev/null", O_RDONLY));
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail_errno("pipe");
  const UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  const auto words = pointers_to(argv);
  const auto variables = environment_with(daemon.environment);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return fail_errno("fork");
  if (child == 0) {
    const char* stage = enter_for_good(daemon, parent);
    if (stage == nullptr) {
      reset_signals();
      ::dup2(nothing.get(), 0);
      ::dup2(log.get(), 1);
      ::dup2(log.get(), 2);
      ::execve(program.c_str(), words.data(), variables.data());
      stage = "execve";
    }
    const std::string why = fmt::format("{}: {}", stage, std::strerror(errno));
    static_cast<void>(write_all(writing.get(), why));
    ::_exit(127);
  }
  writing.reset();
  std::array<char, 1000> why{};
  ssize_t got = 0;
  while ((got = ::read(reading.get(), why.data(), why.size())) < 0 && errno == EINTR) {
  }
  if (got == 0)
    return StartedDaemon{fmt::format("{}", fmt::join(daemon.argv, " ")), child, daemon.log};
  ::waitpid(child, nullptr, 0);
  return fail(ErrorCode::io,
              fmt::format("cannot start `{}`: {}", fmt::join(daemon.argv, " "),
                          std::string_view(why.data(),
                                           static_cast<std::size_t>(std::max<ssize_t>(got, 0)))));
}

Result<std::string> run_on_host(const HostDaemon& tool) {
  return run_tool(tool.argv, tool.environment, [&tool] { return enter_host(tool); });
}

Result<> check_running(const StartedDaemon& daemon) {
  int status = 0;
  if (::waitpid(daemon.pid, &status, WNOHANG) != daemon.pid) return {};
  const std::string said = end_of(daemon.log);
  return fail(ErrorCode::io,
              fmt::format("`{}` ended at once (status {}){}{}", daemon.what,
                          WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
                          said.empty() ? "" : ": ", said));
}

}  // namespace gantry::testbed
