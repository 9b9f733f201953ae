#include "testbed/system_tool.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/fd.hpp"

namespace gantry::testbed {

namespace {

constexpr std::size_t kMaxPrinted = 1U << 20U;

std::string_view package_of(std::string_view tool) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kPackages{{
      {"ip", "iproute2"},
      {"tc", "iproute2"},
      {"sysctl", "procps"},
      {"sshd", "openssh-server"},
      {"ssh-keygen", "openssh-client"},
      {"munged", "munge"},
      {"slurmctld", "slurmctld"},
      {"slurmd", "slurmd"},
      {"sinfo", "slurm-client"},
      {"sge_qmaster", "gridengine-master"},
      {"sge_execd", "gridengine-exec"},
      {"qconf", "gridengine-client"},
      {"qstat", "gridengine-client"},
      {"spoolinit", "gridengine-master"},
  }};
  for (const auto& [name, package] : kPackages)
    if (name == tool) return package;
  return {};
}

/// Reads to the end, and keeps the first part.
std::string drain(int fd) {
  std::string text;
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t got = ::read(fd, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    if (text.size() < kMaxPrinted) text.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

}  // namespace

Result<std::string> find_tool(const std::string& name) {
  const auto missing = [](std::string_view tool) {
    const auto package = package_of(tool.substr(tool.rfind('/') + 1));
    return fail(ErrorCode::io, fmt::format("the program '{}' is not installed", tool),
                package.empty() ? "" : fmt::format("apt-get install {}", package));
  };
  if (name.find('/') != std::string::npos) {
    if (::access(name.c_str(), X_OK) != 0) return missing(name);
    return name;
  }
  const char* path = std::getenv("PATH");
  std::string folders = path == nullptr ? "" : path;
  folders += ":/usr/sbin:/sbin:/usr/bin:/bin";
  for (std::size_t begin = 0; begin < folders.size();) {
    const std::size_t end = std::min(folders.find(':', begin), folders.size());
    const std::string found = folders.substr(begin, end - begin) + "/" + name;
    // sshd insists on an absolute name.
    if (found.front() == '/' && found[1] != '/' && ::access(found.c_str(), X_OK) == 0) return found;
    begin = end + 1;
  }
  return missing(name);
}

std::vector<char*> pointers_to(const std::vector<std::string>& argv) {
  std::vector<char*> pointers;
  pointers.reserve(argv.size() + 1);
  for (const auto& word : argv) pointers.push_back(const_cast<char*>(word.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<char*> environment_with(const std::vector<std::string>& environment) {
  std::vector<char*> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto name = text.substr(0, text.find('=') + 1);
    bool replaced = false;
    for (const auto& own : environment) replaced = replaced || own.starts_with(name);
    if (!replaced) all.push_back(*entry);
  }
  for (const auto& own : environment) all.push_back(const_cast<char*>(own.c_str()));
  all.push_back(nullptr);
  return all;
}

Result<std::string> run_tool(const std::vector<std::string>& argv,
                             const std::vector<std::string>& environment,
                             const std::function<const char*()>& enter) {
  TRY_ASSIGN(const std::string program, find_tool(argv.at(0)));
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return fail_errno("pipe");
  UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  TRY_ASSIGN(const UniqueFd nothing, open_file("/dev/null", O_RDONLY));
  const auto words = pointers_to(argv);
  const auto variables = environment_with(environment);
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child < 0) return fail_errno("fork");
  if (child == 0) {
    // A gantry that is killed must not leave behind what goes on making things.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(127);
    ::dup2(nothing.get(), 0);
    ::dup2(writing.get(), 1);
    ::dup2(writing.get(), 2);
    if (enter) {
      if (const char* stage = enter()) {
        static_cast<void>(write_all(2, fmt::format("{}: {}", stage, std::strerror(errno))));
        ::_exit(127);
      }
    }
    ::execve(program.c_str(), words.data(), variables.data());
    ::_exit(127);
  }
  writing.reset();
  std::string printed = drain(reading.get());
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return printed;
  while (!printed.empty() && printed.back() == '\n') printed.pop_back();
  const std::string how = WIFEXITED(status)
                              ? fmt::format("ended with status {}", WEXITSTATUS(status))
                              : fmt::format("was ended by signal {}", WTERMSIG(status));
  return fail(ErrorCode::io, fmt::format("`{}` {}{}{}", fmt::join(argv, " "), how,
                                         printed.empty() ? "" : ": ", printed));
}

}  // namespace gantry::testbed
