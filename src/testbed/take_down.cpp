#include "testbed/take_down.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "testbed/system_tool.hpp"
#include "testbed/testbed.hpp"

namespace gantry::testbed {

namespace fs = std::filesystem;

namespace {

std::vector<std::string> namespaces_of(const std::string& testbed) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator("/run/netns", error)) {
    std::string name = entry.path().filename().string();
    if (name.starts_with(netns_prefix(testbed))) names.push_back(std::move(name));
  }
  std::ranges::sort(names);
  return names;
}

bool has_home_device(const std::string& testbed) {
  std::error_code error;
  return fs::exists(fs::path("/sys/class/net") / home_device_of(testbed), error);
}

bool is_anything_of(const std::string& testbed, const CpuGroup& group) {
  std::error_code error;
  return fs::exists(group.path, error) || fs::exists(inner_folder(testbed), error) ||
         !folder_of_testbed(testbed).empty() || has_home_device(testbed) ||
         !namespaces_of(testbed).empty();
}

}  // namespace

Result<UniqueFd> lock_folder(const fs::path& dir) {
  constexpr auto kLockPatience = std::chrono::seconds(20);
  TRY_ASSIGN(UniqueFd lock, open_file(dir, O_RDONLY | O_DIRECTORY));
  const auto deadline = std::chrono::steady_clock::now() + kLockPatience;
  while (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (std::chrono::steady_clock::now() > deadline)
      return fail(ErrorCode::busy,
                  fmt::format("another command works on the testbed in {}", dir.string()));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return lock;
}

Result<> dismantle(const std::string& testbed) {
  TRY_ASSIGN(const CpuGroup group, cpu_group_of(testbed));
  TRY(kill_members(group));
  if (has_home_device(testbed)) TRY(run_tool({"ip", "link", "del", home_device_of(testbed)}));
  for (const auto& name : namespaces_of(testbed)) TRY(run_tool({"ip", "netns", "del", name}));
  TRY(remove_group(group));
  return release_testbed(testbed);
}

Result<bool> take_down_folder(const fs::path& dir) {
  TRY(need_root());
  const TestbedFiles files{fs::absolute(dir).lexically_normal()};
  std::error_code error;
  if (!fs::exists(files.dir, error)) return false;
  TRY_ASSIGN(const UniqueFd lock, lock_folder(files.dir));
  if (!fs::exists(files.description(), error)) {
    if (remove_half_written(files)) fs::remove(files.dir, error);
    return false;
  }
  TRY_ASSIGN(const Testbed testbed, Testbed::open(files.dir));
  const std::string& name = testbed.plan().name;
  // After an `up` that did not get the name, somebody else may have it.
  const auto owner = folder_of_testbed(name);
  if (owner.empty() || owner == files.dir) TRY(dismantle(name));
  TRY(remove_files(files));
  return true;
}

Result<bool> take_down_name(const std::string& testbed) {
  TRY(need_root());
  if (!is_testbed_name(testbed))
    return fail(ErrorCode::usage, fmt::format("'{}' is no name of a testbed", testbed),
                "--dir names its folder");
  if (const auto folder = folder_of_testbed(testbed); !folder.empty()) {
    TRY_ASSIGN(const bool done, take_down_folder(folder));
    if (done) return true;
  }
  TRY_ASSIGN(const CpuGroup group, cpu_group_of(testbed));
  const bool is_there = is_anything_of(testbed, group);
  TRY(dismantle(testbed));
  return is_there;
}

}  // namespace gantry::testbed
