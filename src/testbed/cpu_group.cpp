#include "testbed/cpu_group.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <sstream>
#include <thread>

#include "base/fd.hpp"
#include "testbed/testbed_files.hpp"

namespace gantry::testbed {

namespace fs = std::filesystem;

namespace {

/// Microseconds; short, so that slow hosts do not stutter, unless their quota would be too small
/// for the kernel.
constexpr double kQuotaPeriod = 50'000;
constexpr double kLeastQuota = 1'000;
constexpr auto kPatience = std::chrono::seconds(10);
constexpr auto kPause = std::chrono::milliseconds(10);

/// Files of the kernel are written in place.
Result<> write_setting(const fs::path& path, const std::string& value) {
  TRY_ASSIGN(const UniqueFd file, open_file(path, O_WRONLY));
  if (auto written = write_all(file.get(), value); !written)
    return fail(ErrorCode::io, fmt::format("cannot write '{}' to {}: {}", value, path.string(),
                                           written.error().message));
  return {};
}

bool has_word(const std::string& text, std::string_view word, char separator) {
  std::istringstream stream(text);
  std::string one;
  while (std::getline(stream, one, separator))
    if (one == word || one == std::string(word) + "\n") return true;
  return false;
}

/// Where groups with a share of the processor are made. Version 1 is asked first: where both are
/// mounted, it has the controllers.
Result<CpuGroup> cpu_hierarchy() {
  TRY_ASSIGN(const std::string mounts, read_file("/proc/mounts"));
  std::istringstream lines(mounts);
  std::string device, place, type, options, rest;
  CpuGroup unified;
  while (lines >> device >> place >> type >> options && std::getline(lines, rest)) {
    if (type == "cgroup" && has_word(options, "cpu", ',')) return CpuGroup{place, false};
    if (type != "cgroup2") continue;
    const auto controllers = read_file(fs::path(place) / "cgroup.controllers");
    if (controllers && has_word(*controllers, "cpu", ' ')) unified = {place, true};
  }
  if (!unified.path.empty()) return unified;
  return fail(ErrorCode::io, "the kernel's control groups for processors are not mounted",
              "a testbed needs /sys/fs/cgroup; inside a container it may be missing");
}

}  // namespace

Result<CpuGroup> cpu_group_of(const std::string& testbed) {
  TRY_ASSIGN(const CpuGroup top, cpu_hierarchy());
  return top.part("gantry-" + testbed);
}

Result<> make_testbed_group(const CpuGroup& group, std::size_t parts) {
  if (group.unified)
    TRY(write_setting(group.path.parent_path() / "cgroup.subtree_control", "+cpu"));
  TRY(make_folder(group.path));
  // Among the rest of the machine the testbed counts for as much as its hosts.
  if (group.unified) {
    TRY(write_setting(group.path / "cgroup.subtree_control", "+cpu"));
    return write_setting(group.path / "cpu.weight",
                         std::to_string(std::min<std::size_t>(parts * 100, 10'000)));
  }
  return write_setting(group.path / "cpu.shares",
                       std::to_string(std::min<std::size_t>(parts * 1024, 200'000)));
}

Result<> make_cpu_group(const CpuGroup& group, double cores) {
  TRY(make_folder(group.path));
  if (cores <= 0) return {};
  const long period = std::lround(std::max(kQuotaPeriod, kLeastQuota / cores));
  const long quota = std::lround(cores * static_cast<double>(period));
  if (group.unified)
    return write_setting(group.path / "cpu.max", fmt::format("{} {}", quota, period));
  TRY(write_setting(group.path / "cpu.cfs_period_us", std::to_string(period)));
  return write_setting(group.path / "cpu.cfs_quota_us", std::to_string(quota));
}

std::vector<pid_t> members_of(const CpuGroup& group) {
  std::vector<pid_t> members;
  const auto add = [&](const fs::path& folder) {
    const auto text = read_file(folder / "cgroup.procs");
    if (!text) return;
    std::istringstream numbers(*text);
    for (pid_t pid = 0; numbers >> pid;) members.push_back(pid);
  };
  add(group.path);
  std::error_code error;
  for (const auto& entry : fs::recursive_directory_iterator(group.path, error))
    if (entry.is_directory(error)) add(entry.path());
  return members;
}

Result<std::set<pid_t>> kill_members(const CpuGroup& group) {
  std::set<pid_t> killed;
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    const auto members = members_of(group);
    for (const pid_t pid : members) ::kill(pid, SIGKILL);
    killed.insert(members.begin(), members.end());
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    if (members.empty()) return killed;
    if (std::chrono::steady_clock::now() > deadline)
      return fail(ErrorCode::io,
                  fmt::format("{} processes of {} cannot be killed (the first is {})",
                              members.size(), group.path.string(), members[0]));
    std::this_thread::sleep_for(kPause);
  }
}

void wait_until_reaped(const std::set<pid_t>& processes) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  for (const pid_t pid : processes) {
    while (::kill(pid, 0) == 0 && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(kPause);
  }
}

Result<> remove_group(const CpuGroup& group) {
  std::vector<fs::path> folders;
  std::error_code error;
  if (!fs::is_directory(group.path, error)) return {};
  folders.push_back(group.path);
  for (const auto& entry : fs::recursive_directory_iterator(group.path, error))
    if (entry.is_directory(error)) folders.push_back(entry.path());
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  for (auto folder = folders.rbegin(); folder != folders.rend(); ++folder) {
    // The kernel lets go of a group a moment after its last process has gone.
    while (::rmdir(folder->c_str()) != 0 && errno != ENOENT) {
      if (errno != EBUSY || std::chrono::steady_clock::now() > deadline)
        return fail_errno(fmt::format("cannot remove {}", folder->string()));
      std::this_thread::sleep_for(kPause);
    }
  }
  return {};
}

}  // namespace gantry::testbed
