#pragma once
/// What files contain, by digest. A file is read once: again only when its size, inode or the time
/// of its last change differ, also across runs (the store remembers). Used from the driver's
/// thread.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "base/result.hpp"
#include "model/outcome.hpp"
#include "model/sweep.hpp"
#include "store/store.hpp"

namespace gantry::driver {

class ContentCache {
 public:
  /// `store` must outlive the cache. `state_dir` is part of no folder: it changes all the time.
  explicit ContentCache(store::Store& store, std::filesystem::path state_dir = {})
      : store_(store), state_dir_(std::move(state_dir)) {}

  /// Asked now and then while a file is read: true ends the reading with an error.
  using Stop = std::function<bool()>;

  /// The digest of a file, or of a directory's tree. Error io when it is not there, or neither (a
  /// pipe has no contents to compare, and may never end).
  Result<Digest> digest(const std::string& path, const Stop& stop = {});

  /// An input as a task found it. Valid as long as the cache.
  struct Used {
    const std::string* path;
    Digest digest;
  };

  /// What the task is now: its command, its environment and its inputs' contents, which are told in
  /// `used`, too. The error names the input that is missing. After `stop` has said true, the answer
  /// means nothing.
  Result<Fingerprint> fingerprint(const Task& task, const Stop& stop = {},
                                  std::vector<Used>* used = nullptr);

  /// The first that is not what it was; null when all are. Looks at an input once a
  /// round, however many tasks have used it.
  const std::string* first_changed(const std::vector<Used>& used, const Stop& stop = {});
  void begin_round() { ++round_; }

 private:
  struct Known {
    std::uint64_t size = 0;
    std::int64_t changed_ns = 0;
    std::uint64_t inode = 0;
    Digest digest;
    friend bool operator==(const Known&, const Known&) = default;
  };
  Result<Digest> tree_digest(const std::string& path, const Stop& stop);

  struct Look {
    std::uint64_t round = 0;
    std::optional<Digest> digest{};  ///< nothing when it cannot be read
  };
  /// Takes an input of a task into its fingerprint.
  void use(const std::string& path, const Digest& content, std::vector<Used>* used);
  [[nodiscard]] bool is_state_dir(const std::filesystem::path& path) const;

  store::Store& store_;
  std::filesystem::path state_dir_;
  std::unordered_map<std::string, Known> known_;
  std::unordered_map<std::string, Look> looks_;
  std::uint64_t round_ = 1;
  Hasher hasher_;
};

/// Why the task's result, which was `before` and whose making began at `since`, must be made again,
/// for a person; names the first file that is newer. REQUIRES: the fingerprints differ.
std::string what_changed(const Fingerprint& before, const Fingerprint& now, const Task& task,
                         TimePoint since);

}  // namespace gantry::driver
