#include "driver/content_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <tuple>
#include <vector>

#include "model/fingerprint.hpp"

namespace gantry::driver {

namespace {

/// A film that a value names is told by its size and time: reading it takes longer than many a
/// task.
constexpr off_t kLargeValue = off_t{256} << 20;

tl::unexpected<Error> is_being_read(const std::string& path) {
  return fail(ErrorCode::busy, path + ": is being read");
}

bool is_busy(const Error& error) {
  return error.code == ErrorCode::busy;
}

/// Whether the file came to be in that time, as far as the file system tells.
bool born_between(const std::string& path, TimePoint since, TimePoint until) {
  struct statx info {};
  if (::statx(AT_FDCWD, path.c_str(), 0, STATX_BTIME, &info) != 0) return false;
  if ((info.stx_mask & STATX_BTIME) == 0) return false;
  const TimePoint born =
      from_ns(std::int64_t{info.stx_btime.tv_sec} * 1'000'000'000 + info.stx_btime.tv_nsec);
  return born > since && born <= until;
}

/// One spelling for each name: `a//b`, `a/./b` and `a/b/` are `a/b`.
std::string plain_path(const std::string& path) {
  const bool odd = path.find("//") != std::string::npos || path.find("/.") != std::string::npos ||
                   path.ends_with('/');
  if (!odd) return path;
  std::string plain = std::filesystem::path(path).lexically_normal().string();
  if (plain.size() > 1 && plain.ends_with('/')) plain.pop_back();
  return plain;
}

}  // namespace

Result<Digest> ContentCache::digest_as(Kind kind, const std::string& path, const Stop& stop) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return fail_errno(path);
  if (S_ISREG(info.st_mode)) return file_digest(kind, path, info, stop);
  if (S_ISDIR(info.st_mode)) return tree_digest(path, stop);
  return fail(ErrorCode::io, path + ": an input must be a file or a folder");
}

Result<Digest> ContentCache::file_digest(Kind kind, const std::string& path,
                                         const struct stat& info, const Stop& stop) {
  if (kind == Kind::value && info.st_size > kLargeValue)
    return Hasher()
        .add(static_cast<std::uint64_t>(info.st_size))
        .add(static_cast<std::uint64_t>(to_ns(info.st_mtim)))
        .digest();
  const FileStamp stamp = stamp_of(info);
  const auto found = known_.find(path);
  if (found != known_.end() && found->second.stamp == stamp) return found->second.digest;
  TRY_ASSIGN(const auto stored,
             store_.known_digest(path, stamp.size, stamp.changed_ns, stamp.inode));
  if (stored) {
    known_[path] = {stamp, *stored};
    return *stored;
  }
  if (reading_ != Reading::at_once) {
    const auto read = just_read_.find(path);
    if (reading_ == Reading::aside && read != just_read_.end()) return read->second;
    if (stamp.size > at_once_) {
      reader_.ask(path, stamp.size);
      return is_being_read(path);
    }
    at_once_ -= stamp.size;
  }
  const bool settled = !may_change_unseen(stamp);
  TRY_ASSIGN(const Digest digest, hash_file(path, stop));
  if (settled) TRY(remember(path, stamp, digest));
  return digest;
}

Result<> ContentCache::remember(const std::string& path, const FileStamp& stamp,
                                const Digest& digest) {
  TRY(store_.remember_digest(path, stamp.size, stamp.changed_ns, stamp.inode, digest));
  known_[path] = {stamp, digest};
  return {};
}

Result<> ContentCache::take_read() {
  at_once_ = kReadAtOnce;
  if (reader_.told() == reader_.asked()) {
    just_read_.clear();  // whoever waited for it has asked again
    return {};
  }
  for (ReadContent& read : reader_.take()) {
    if (read.digest && read.settled) TRY(remember(read.path, read.stamp, *read.digest));
    just_read_.insert_or_assign(std::move(read.path), std::move(read.digest));
  }
  return {};
}

Result<std::vector<std::string>> ContentCache::tree(const std::string& path) {
  std::error_code error;
  std::vector<std::string> files;
  for (std::filesystem::recursive_directory_iterator at(path, error), end; at != end && !error;
       at.increment(error)) {
    if (is_left_out(at->path())) {
      at.disable_recursion_pending();
      continue;
    }
    if (at->is_regular_file(error)) files.push_back(at->path().string());
  }
  if (error) return fail(ErrorCode::io, path + ": " + error.message());
  std::sort(files.begin(), files.end());
  return files;
}

/// Names and contents of everything below, in the order of the names.
Result<Digest> ContentCache::tree_digest(const std::string& path, const Stop& stop) {
  TRY_ASSIGN(const auto files, tree(path));
  Hasher hasher;
  bool busy = false;  // all that is to be read is asked for together
  for (const auto& file : files) {
    auto content = digest(file, stop);
    if (!content && !is_busy(content.error())) return content;
    busy = busy || !content;
    if (content) hasher.add(file).add(*content);
  }
  if (busy) return is_being_read(path);
  return hasher.digest();
}

Result<std::vector<TaskFile>> ContentCache::files(const std::string& path, const Stop& stop) {
  std::vector<std::string> paths{path};
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    TRY_ASSIGN(paths, tree(path));
  }
  std::vector<TaskFile> files;
  bool busy = false;
  for (auto& each : paths) {
    const auto content = digest(each, stop);
    if (!content && !is_busy(content.error())) return tl::unexpected<Error>(content.error());
    if (!content) {
      busy = true;
      continue;
    }
    struct stat info {};
    if (::stat(each.c_str(), &info) != 0) return fail_errno(each);
    files.push_back({std::move(each), *content, static_cast<std::uint64_t>(info.st_size),
                     (info.st_mode & S_IXUSR) != 0});
  }
  if (busy) return is_being_read(path);
  return files;
}

bool ContentCache::Study::leaves_out(const std::string& path) {
  if (const Paths written = std::exchange(written_, {}))
    for (const auto& file : written()) left_out_.insert(plain_path(file));
  return left_out_.contains(path);
}

/// The state directory changes all the time, and so do others of its name below.
bool ContentCache::is_left_out(const std::filesystem::path& path) {
  const std::string plain = plain_path(path.string());
  std::error_code error;
  return path.filename() == ".gantry" || any_study_.leaves_out(plain) ||
         study_->leaves_out(plain) ||
         (path.filename() == state_dir_.filename() &&
          std::filesystem::equivalent(path, state_dir_, error));
}

void ContentCache::use(const std::string& path, const Digest& content, Kind kind,
                       std::vector<Used>* used) {
  hasher_.add(path).add(content);
  if (used != nullptr)
    used->push_back({&study_->looks_.try_emplace(path).first->first, content, kind});
}

ContentCache::Changed ContentCache::has_changed(const Used& used, const Stop& stop) {
  Study::Look& look = study_->looks_[*used.path];
  if (look.round != round_) {
    const auto now = digest_as(used.kind, *used.path, stop);
    if (!now && is_busy(now.error())) {
      if (look.asked == 0) look.asked = reader_.asked();
      if (reader_.told() < look.asked) return Changed::being_read;
      // It is another one again: it does not stand still.
    }
    look = {round_, now ? std::optional(*now) : std::nullopt};
  }
  return look.digest == used.digest ? Changed::no : Changed::yes;
}

Result<Fingerprint> ContentCache::fingerprint(const Task& task, const Stop& stop,
                                              std::vector<Used>* used, TimePoint made_since,
                                              TimePoint made_until) {
  Fingerprint print;
  print.command = command_digest(task);
  print.environment = environment_digest(task);
  parts_.clear();
  for (const auto& input : task.inputs) {
    std::string path = plain_path(input);
    TRY_ASSIGN(const Digest content, digest(path, stop));
    parts_.push_back({std::move(path), Kind::named, content});
  }
  bool busy = false;
  // One that is missing: starting the program will say so better than we can here.
  const auto add = [&](const std::string& path, Kind kind) {
    struct stat info {};
    if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return;
    // What other tasks build later is no input of this one either; but somebody's file is.
    const TimePoint changed = from_ns(to_ns(info.st_ctim));
    if (changed > made_since && (kind != Kind::value || changed <= made_until ||
                                 born_between(path, made_since, made_until)))
      return;
    const auto content = file_digest(kind, path, info, stop);
    busy = busy || (!content && is_busy(content.error()));
    if (content) parts_.push_back({plain_path(path), kind, *content});
  };
  for (const auto& path : implied_inputs(task)) add(path, Kind::program);
  for (const auto& path : task.value_files) add(path, Kind::value);
  if (busy) return is_being_read("what the task reads");
  // By name and once each: it does not matter who says that a file is an input, nor where.
  std::ranges::sort(parts_, [](const Part& a, const Part& b) {
    return std::tie(a.path, a.kind) < std::tie(b.path, b.kind);
  });
  const auto same = [](const Part& a, const Part& b) { return a.path == b.path; };
  parts_.erase(std::unique(parts_.begin(), parts_.end(), same), parts_.end());
  hasher_.reset();
  for (const auto& part : parts_) use(part.path, part.digest, part.kind, used);
  print.inputs = hasher_.digest();
  return print;
}

Result<bool> ContentCache::holds(const Fingerprint& before, TimePoint began, const Task& task,
                                 const Fingerprint& now, const Stop& stop, TimePoint ended) {
  if (before == now) return true;
  if (before.command != now.command || before.environment != now.environment) return false;
  TRY_ASSIGN(const auto without, fingerprint(task, stop, nullptr, began - kStampLag, ended));
  return without == before;
}

}  // namespace gantry::driver
