#pragma once
/// Computes digests of files in the background, for a loop that must not wait for large ones. Files
/// are read one after the other, in the order of the requests. Owned by a ContentCache, used from
/// its thread.

#include <sys/stat.h>

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "base/background.hpp"
#include "base/hash.hpp"

namespace gantry::driver {

/// Shows whether a file has changed. Uses the inode's change time, not the modification time, which
/// anyone can set back (cp -p, tar, touch).
struct FileStamp {
  std::uint64_t size = 0;
  std::int64_t changed_ns = 0;
  std::uint64_t inode = 0;
  friend bool operator==(const FileStamp&, const FileStamp&) = default;
};
[[nodiscard]] FileStamp stamp_of(const struct stat& info);
/// True if the file changed so recently that one more change could leave the same stamp.
[[nodiscard]] bool may_change_unseen(const FileStamp& stamp);

struct ReadContent {
  std::string path;
  FileStamp stamp{};     ///< when reading began
  bool settled = false;  ///< later changes show in the stamp
  Result<Digest> digest{};
};

class ContentReader {
 public:
  void ask(const std::string& path, std::uint64_t bytes);
  /// How many files were requested so far, and how many of them take() has returned.
  [[nodiscard]] std::uint64_t asked() const { return asked_; }
  [[nodiscard]] std::uint64_t told() const { return told_; }
  /// Becomes readable when take() has something; -1 while nothing is being read. May change with
  /// take().
  [[nodiscard]] int fd() const { return work_ ? work_->done_fd() : -1; }
  /// The files read since the last call; never waits.
  std::vector<ReadContent> take();

 private:
  struct Asked {
    std::string path;
    std::uint64_t bytes = 0;
  };
  void begin_next();

  std::deque<Asked> queue_;
  std::unordered_set<std::string> waiting_;  ///< requested, and not returned by take() yet
  /// The files that work_ is reading. It writes their digests here until it is done.
  std::unique_ptr<std::vector<ReadContent>> batch_;
  std::optional<Background> work_;  ///< declared after batch_, so that it ends first
  std::uint64_t asked_ = 0;
  std::uint64_t told_ = 0;
};

}  // namespace gantry::driver
