// Where live.json lies, and whose it is.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.hpp"
#include "store/live_state.hpp"
#include "store/run_lock.hpp"

namespace gantry::store {

namespace {

constexpr std::size_t kMostBytes = std::size_t{8} << 20;

/// Whatever lies there: a pipe, for example, is not waited for.
std::optional<std::string> read_plain_file(const std::filesystem::path& path) {
  const auto fd = open_file(path, O_RDONLY | O_NONBLOCK);
  if (!fd) return std::nullopt;
  struct stat info {};
  if (::fstat(fd->get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  auto text = read_file(path, kMostBytes);
  return text ? std::optional(std::move(*text)) : std::nullopt;
}

std::optional<LiveState> read_shown(const std::filesystem::path& state_dir) {
  const auto text = read_plain_file(live_path(state_dir));
  return text ? read_live_text(*text) : std::nullopt;
}

}  // namespace

std::filesystem::path live_path(const std::filesystem::path& state_dir) {
  return state_dir / "live.json";
}

std::optional<LiveState> read_live(const std::filesystem::path& state_dir) {
  const auto holder = RunLock::holder(state_dir);
  if (!holder) return std::nullopt;
  auto state = read_shown(state_dir);
  // A gantry that was killed has left its last one.
  if (state && state->pid != *holder) return std::nullopt;
  return state;
}

std::optional<LiveState> read_left_live(const std::filesystem::path& state_dir) {
  auto state = read_shown(state_dir);
  // Whoever holds the lock now shows something else in a moment, or has just ended.
  if (RunLock::holder(state_dir)) return std::nullopt;
  return state;
}

void forget_left_live(const std::filesystem::path& state_dir) {
  if (read_left_live(state_dir)) ::unlink(live_path(state_dir).c_str());
}

}  // namespace gantry::store
