#include "agent/process_tree.hpp"

#include <dirent.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <set>

#include "base/fd.hpp"
#include "base/whole_number.hpp"

namespace gantry::agent {

namespace {

std::vector<pid_t> numeric_entries(const std::string& directory) {
  std::vector<pid_t> out;
  DIR* dir = ::opendir(directory.c_str());
  if (dir == nullptr) return out;
  while (const dirent* entry = ::readdir(dir)) {
    if (const auto pid = parse_whole<pid_t>(entry->d_name)) out.push_back(*pid);
  }
  ::closedir(dir);
  return out;
}

std::string proc_path(pid_t pid, const char* file) {
  return "/proc/" + std::to_string(pid) + "/" + file;
}

/// Appends the direct children of `pid`; false when the kernel was built without the `children`
/// files.
bool append_children(pid_t pid, std::vector<pid_t>& out) {
  const std::string tasks = proc_path(pid, "task");
  for (const pid_t thread : numeric_entries(tasks)) {
    const auto text = read_file(tasks + "/" + std::to_string(thread) + "/children");
    if (!text) {
      // The thread may have ended meanwhile; a missing file for a living one means no kernel
      // support.
      if (::access((tasks + "/" + std::to_string(thread) + "/stat").c_str(), F_OK) == 0)
        return false;
      continue;
    }
    const char* at = text->data();
    const char* end = at + text->size();
    while (at < end) {
      pid_t child = 0;
      const auto [next, error] = std::from_chars(at, end, child);
      if (error == std::errc{}) out.push_back(child);
      at = next + 1;
    }
  }
  return true;
}

/// The parent's pid from /proc/PID/stat: the second field after the command, which may itself hold
/// ") ".
pid_t parent_of(pid_t pid) {
  const auto stat = read_file(proc_path(pid, "stat"));
  if (!stat) return 0;
  const auto close = stat->rfind(')');
  if (close == std::string::npos || close + 4 >= stat->size()) return 0;
  return static_cast<pid_t>(std::atol(stat->c_str() + close + 4));
}

std::vector<pid_t> children_by_scan(pid_t parent) {
  std::vector<pid_t> out;
  for (const pid_t pid : numeric_entries("/proc")) {
    if (parent_of(pid) == parent) out.push_back(pid);
  }
  return out;
}

template <class PerProcess>
std::uint64_t sum_over_descendants(PerProcess per_process) {
  std::uint64_t total = 0;
  for (const pid_t pid : descendants(::getpid())) total += per_process(pid);
  return total;
}

std::uint64_t resident_memory(pid_t pid) {
  const auto statm = read_file(proc_path(pid, "statm"));
  if (!statm) return 0;
  char* after_size = nullptr;
  std::strtoull(statm->c_str(), &after_size, 10);
  return std::strtoull(after_size, nullptr, 10) *
         static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
}

/// Whether a process of this user has `needle` (between zero bytes) in its environment. One that
/// has ended and was not reaped has none.
bool is_marked(pid_t pid, const std::string& needle) {
  struct stat info {};
  if (::stat(proc_path(pid, "").c_str(), &info) != 0 || info.st_uid != ::geteuid()) return false;
  const auto environment = read_file(proc_path(pid, "environ"));
  return environment && (std::string(1, '\0') + *environment).find(needle) != std::string::npos;
}

void pause_ms(long ms) {
  const timespec pause{0, ms * 1'000'000};
  ::nanosleep(&pause, nullptr);
}

/// Reaps without waiting. False when no child is left.
bool reap_some() {
  for (;;) {
    const pid_t pid = ::waitpid(-1, nullptr, WNOHANG);
    if (pid < 0 && errno == ECHILD) return false;
    if (pid <= 0) return true;
  }
}

}  // namespace

std::vector<pid_t> children(pid_t parent) {
  std::vector<pid_t> out;
  if (!append_children(parent, out)) return children_by_scan(parent);
  return out;
}

std::vector<pid_t> descendants(pid_t root, std::size_t most) {
  std::vector<pid_t> out = children(root);
  for (std::size_t i = 0; i < out.size() && out.size() < most; ++i) {
    const auto next = children(out[i]);
    out.insert(out.end(), next.begin(), next.end());
  }
  if (out.size() > most) out.resize(most);
  return out;
}

std::vector<pid_t> threads(pid_t pid) {
  return numeric_entries(proc_path(pid, "task"));
}

void signal_descendants(int signal) {
  for (const pid_t pid : descendants(::getpid())) ::kill(pid, signal);
}

bool kill_descendants(int patience_ms) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(patience_ms);
  while (reap_some()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    // Stopped first, so that a fork bomb cannot outrun the walk over its own tree.
    signal_descendants(SIGSTOP);
    signal_descendants(SIGKILL);
    pause_ms(1);
  }
  return true;
}

std::uint64_t resident_memory_of_descendants() {
  return sum_over_descendants(resident_memory);
}

std::uint64_t proportional_memory_of_descendants() {
  return sum_over_descendants([](pid_t pid) -> std::uint64_t {
    const auto rollup = read_file(proc_path(pid, "smaps_rollup"));
    const auto at = rollup ? rollup->find("\nPss:") : std::string::npos;
    // Not ours to read (a set-uid program): too much is safer than nothing.
    if (at == std::string::npos) return resident_memory(pid);
    return std::strtoull(rollup->c_str() + at + 5, nullptr, 10) * 1024;
  });
}

int kill_processes_marked(std::string_view marker) {
  const std::string needle = std::string(1, '\0') + std::string(marker) + std::string(1, '\0');
  std::set<pid_t> found;
  // Again until none is seen: others may have been forked while we looked, and a dying process
  // still runs. One that is stuck in the kernel is not waited for.
  for (int pass = 0; pass < 300; ++pass) {
    bool clean = true;
    for (const pid_t pid : numeric_entries("/proc")) {
      if (pid == ::getpid() || !is_marked(pid, needle)) continue;
      if (::kill(pid, SIGKILL) != 0) continue;
      found.insert(pid);
      clean = false;
    }
    if (clean) break;
    pause_ms(10);
  }
  return static_cast<int>(found.size());
}

}  // namespace gantry::agent
