#include "driver/content_cache.hpp"

#include <sys/stat.h>
#include <time.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "model/fingerprint.hpp"

namespace gantry::driver {

namespace {

/// The kernel's coarse clock, which also stamps files, moves on every 10 ms at the slowest.
constexpr std::int64_t kTwoTicks = 20'000'000;

std::int64_t to_ns(const timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// Changed so lately that one more change could leave it with the same stamp.
bool may_change_unseen(std::int64_t changed_ns) {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return changed_ns > to_ns(now) - kTwoTicks;
}

}  // namespace

Result<Digest> ContentCache::digest(const std::string& path, const Stop& stop) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return fail_errno(path);
  if (S_ISDIR(info.st_mode)) return tree_digest(path, stop);
  if (!S_ISREG(info.st_mode))
    return fail(ErrorCode::io, path + ": an input must be a file or a folder");
  // The inode's time and not the content's, which anyone can set back (cp -p, tar, touch).
  Known now{static_cast<std::uint64_t>(info.st_size), to_ns(info.st_ctim), info.st_ino, {}};
  const auto found = known_.find(path);
  if (found != known_.end()) {
    now.digest = found->second.digest;
    if (now == found->second) return now.digest;
  }
  TRY_ASSIGN(const auto stored, store_.known_digest(path, now.size, now.changed_ns, now.inode));
  if (stored) {
    now.digest = *stored;
  } else {
    const bool keep = !may_change_unseen(now.changed_ns);
    TRY_ASSIGN(now.digest, hash_file(path, stop));
    if (!keep) return now.digest;
    TRY(store_.remember_digest(path, now.size, now.changed_ns, now.inode, now.digest));
  }
  known_[path] = now;
  return now.digest;
}

/// Names and contents of everything below, in the order of the names.
Result<Digest> ContentCache::tree_digest(const std::string& path, const Stop& stop) {
  std::error_code error;
  std::vector<std::string> files;
  for (std::filesystem::recursive_directory_iterator at(path, error), end; at != end && !error;
       at.increment(error)) {
    if (is_state_dir(at->path())) at.disable_recursion_pending();
    if (at->is_regular_file(error)) files.push_back(at->path().string());
  }
  if (error) return fail(ErrorCode::io, path + ": " + error.message());
  std::sort(files.begin(), files.end());
  Hasher hasher;
  for (const auto& file : files) {
    TRY_ASSIGN(const Digest content, digest(file, stop));
    hasher.add(file).add(content);
  }
  return hasher.digest();
}

bool ContentCache::is_state_dir(const std::filesystem::path& path) const {
  std::error_code error;
  return path.filename() == state_dir_.filename() &&
         std::filesystem::equivalent(path, state_dir_, error);
}

void ContentCache::use(const std::string& path, const Digest& content, std::vector<Used>* used) {
  hasher_.add(path).add(content);
  if (used != nullptr) used->push_back({&looks_.try_emplace(path).first->first, content});
}

const std::string* ContentCache::first_changed(const std::vector<Used>& used, const Stop& stop) {
  for (const auto& [path, before] : used) {
    Look& look = looks_[*path];
    if (std::exchange(look.round, round_) != round_) {
      const auto now = digest(*path, stop);
      look.digest = now ? std::optional(*now) : std::nullopt;
    }
    if (look.digest != before) return path;
  }
  return nullptr;
}

Result<Fingerprint> ContentCache::fingerprint(const Task& task, const Stop& stop,
                                              std::vector<Used>* used) {
  Fingerprint print;
  print.command = command_digest(task);
  print.environment = environment_digest(task);
  hasher_.reset();
  for (const auto& input : task.inputs) {
    TRY_ASSIGN(const Digest content, digest(input, stop));
    use(input, content, used);
  }
  for (const auto& input : implied_inputs(task)) {
    // The program itself: if it is missing, starting it will say so better than we can here.
    if (const auto content = digest(input, stop)) use(input, *content, used);
  }
  print.inputs = hasher_.digest();
  return print;
}

namespace {

/// ": mesh.dat and 2 more"; empty when no file tells. The digests say only that something changed.
std::string newer_files(const Task& task, TimePoint since) {
  std::vector<std::string> files = implied_inputs(task);
  files.insert(files.begin(), task.inputs.begin(), task.inputs.end());
  std::erase_if(files, [&](const std::string& path) {
    struct stat info {};
    return ::stat(path.c_str(), &info) != 0 ||
           to_ns(info.st_ctim) <= since.time_since_epoch().count();
  });
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());  // named, and the program
  if (files.empty()) return {};
  std::string name = files[0];
  if (name.starts_with(task.workdir + "/")) name.erase(0, task.workdir.size() + 1);
  return ": " + name +
         (files.size() > 1 ? " and " + std::to_string(files.size() - 1) + " more" : "");
}

}  // namespace

std::string what_changed(const Fingerprint& before, const Fingerprint& now, const Task& task,
                         TimePoint since) {
  if (before.empty()) return "what it was made from is not known";
  if (before.command != now.command) return "its command changed";
  if (before.environment != now.environment) return "its environment changed";
  if (before.inputs.empty()) return "an input changed while it ran";
  return "an input or the program changed" + newer_files(task, since);
}

}  // namespace gantry::driver
