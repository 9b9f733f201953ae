#include "sandboxes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "base/fd.hpp"
#include "base/hash.hpp"
#include "depot/depot.hpp"
#include "depot/folder_tools.hpp"
#include "depot/kept_files.hpp"

namespace gantry {

namespace {

namespace fs = std::filesystem;
using agent::Keeping;
using agent::Staging;
using agent::Start;

/// Of one slot, in its process. An empty folder that a task leaves becomes the next one's sandbox:
/// to make and remove a folder costs a tenth of a task that does nothing.
class Sandboxes {
 public:
  explicit Sandboxes(fs::path scratch) : scratch_(std::move(scratch)) {}

  Staging stage(const Start& start) {
    Staging staging;
    const auto fail = [&](const Error& error) {
      staging.error = EIO;
      staging.problem = error.message;
      return staging;
    };
    use_spare(start.sandbox);
    linked_.clear();
    if (start.inputs.empty()) return staging;
    auto depot = depot::Depot::open(scratch_);
    if (!depot) return fail(depot.error());
    for (const auto& input : start.inputs) {
      const auto content = Digest::from_hex(input.content);
      const fs::path below = fs::path(input.path).lexically_normal();
      if (!content || below.is_absolute() || below.empty() || *below.begin() == "..")
        return fail({ErrorCode::peer, "an input has no place in the sandbox", ""});
      const auto linked =
          depot->link_into(*content, fs::path(start.sandbox) / below, input.executable);
      linked_.push_back(linked ? *linked : 0);
      if (linked) continue;
      const auto code = linked.error().code;
      if (code != ErrorCode::gone && code != ErrorCode::corrupt) return fail(linked.error());
      staging.unstaged.push_back(input.content);
      staging.problem = linked.error().message;
    }
    return staging;
  }

  /// Whether what the task read of them was what it should have been.
  [[nodiscard]] Staging check(const Start& start) const {
    Staging found;
    if (start.inputs.empty()) return found;
    const auto depot = depot::Depot::open(scratch_);
    if (!depot) return found;
    for (std::size_t i = 0; i < std::min(linked_.size(), start.inputs.size()); ++i) {
      const auto& input = start.inputs[i];
      const auto content = Digest::from_hex(input.content);
      const fs::path path = fs::path(start.sandbox) / input.path;
      if (!content || !depot->is_spoilt(*content, path, linked_[i])) continue;
      found.unstaged.push_back(input.content);
      found.problem = "somebody wrote to its input " + input.path + " while it ran";
    }
    return found;
  }

  static Keeping keep(const Start& start) {
    Keeping keeping;
    std::vector<std::string> names;
    for (const auto& path : start.keep)
      names.push_back(fs::path(path).lexically_relative(start.sandbox).string());
    const auto kept = depot::keep_files(start.sandbox, names, start.kept_folder);
    if (!kept) {
      keeping.problem = kept.error().message;
      return keeping;
    }
    for (std::size_t i = 0; i < kept->size(); ++i)
      keeping.kept.push_back({start.keep[i], (*kept)[i].bytes, (*kept)[i].content.hex()});
    return keeping;
  }

  bool sweep(const Start& start, const Start* next) {
    if (keep_as_spare(start.sandbox, next)) return true;
    const fs::path sandbox(start.sandbox);
    const auto parent = open_file(sandbox.parent_path(), O_RDONLY | O_DIRECTORY);
    return parent && depot::remove_tree(parent->get(), sandbox.filename());
  }

  void leave() {
    if (!spare_.empty()) ::rmdir(spare_.c_str());
  }

 private:
  /// Else the agent makes the folder, as all others.
  void use_spare(const fs::path& sandbox) {
    if (spare_.empty()) return;
    if (spare_ != sandbox && ::rename(spare_.c_str(), sandbox.c_str()) != 0)
      ::rmdir(spare_.c_str());
    spare_.clear();
  }

  bool keep_as_spare(const fs::path& sandbox, const Start* next) {
    if (!spare_.empty() || !is_as_made(sandbox)) return false;
    if (next != nullptr && !next->sandbox.empty() &&
        ::rename(sandbox.c_str(), next->sandbox.c_str()) == 0) {
      spare_ = next->sandbox;
      return true;
    }
    const fs::path folder = sandbox.parent_path().parent_path() / "spare";
    const fs::path spare = folder / sandbox.filename();
    if (::rename(sandbox.c_str(), spare.c_str()) != 0) {
      if (errno != ENOENT || ::mkdir(folder.c_str(), 0700) != 0) return false;
      if (::rename(sandbox.c_str(), spare.c_str()) != 0) return false;
    }
    spare_ = spare;
    return true;
  }

  /// Empty, and nobody has changed who may use it.
  static bool is_as_made(const fs::path& folder) {
    const depot::OpenDir dir = depot::open_dir(AT_FDCWD, folder.c_str());
    struct stat found {};
    struct stat parent {};
    if (!dir || ::fstat(::dirfd(dir.get()), &found) != 0) return false;
    if (::stat(folder.parent_path().c_str(), &parent) != 0) return false;
    const auto access = [](const struct stat& of) {
      return std::tuple(of.st_uid, of.st_gid, of.st_mode);
    };
    if (access(found) != access(parent)) return false;
    std::size_t entries = 0;
    while (::readdir(dir.get()) != nullptr) ++entries;
    return entries == 2;  // itself and its parent
  }

  fs::path scratch_;
  fs::path spare_;
  std::vector<ino_t> linked_;  ///< the inputs of the task at hand, as the depot had them
};

}  // namespace

agent::SandboxKeeper make_sandbox_keeper(const fs::path& scratch) {
  const auto sandboxes = std::make_shared<Sandboxes>(scratch);
  return {
      .stage = [=](const Start& start) { return sandboxes->stage(start); },
      .check = [=](const Start& start) { return sandboxes->check(start); },
      .keep = [](const Start& start) { return Sandboxes::keep(start); },
      .sweep = [=](const Start& start, const Start* next) { return sandboxes->sweep(start, next); },
      .leave = [=] { sandboxes->leave(); }};
}

}  // namespace gantry
