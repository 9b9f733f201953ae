#pragma once
/// What files contain, by digest. A file is read once: again only when its size, inode or the time
/// of its last change differ, also across runs (the store remembers). Used from the driver's
/// thread.

#include <sys/stat.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "actuate/launcher.hpp"
#include "base/hash.hpp"
#include "base/result.hpp"
#include "driver/content_reader.hpp"
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
  Result<Digest> digest(const std::string& path, const Stop& stop = {}) {
    return digest_as(Kind::named, path, stop);
  }

  /// The file itself, or all files of a folder, for those who do not see them here.
  Result<std::vector<TaskFile>> files(const std::string& path, const Stop& stop = {});

  /// Who says that a file is an input: `inputs:`, or the command that runs it, or a value.
  enum class Kind : std::uint8_t { named, program, value };

  /// An input as a task found it. Valid as long as the cache.
  struct Used {
    const std::string* path = nullptr;
    Digest digest{};
    Kind kind = Kind::named;
  };

  /// What the task is now: its command, its environment and its inputs' contents, which are told in
  /// `used`, too. The error names the input that is missing. After `stop` has said true, the answer
  /// means nothing. Of inputs that are not named, those are left out that were changed after
  /// `made_since`; files of values only if they were made or changed until `made_until`.
  Result<Fingerprint> fingerprint(const Task& task, const Stop& stop = {},
                                  std::vector<Used>* used = nullptr,
                                  TimePoint made_since = TimePoint::max(),
                                  TimePoint made_until = TimePoint::max());

  /// Whether a result of `before`, whose making began at `began`, is that of the task as it is now.
  /// A program that the task built, and a file that it made from its value until it `ended`, were
  /// not there before it: they are no inputs, although they look like some now.
  Result<bool> holds(const Fingerprint& before, TimePoint began, const Task& task,
                     const Fingerprint& now, const Stop& stop = {},
                     TimePoint ended = TimePoint::max());

  enum class Changed : std::uint8_t {
    no,
    yes,
    being_read,  ///< by an Aside: to be asked again
  };
  /// Looks at an input once a round, however many tasks have used it.
  Changed has_changed(const Used& used, const Stop& stop = {});
  void begin_round() { ++round_; }

  // For a loop that must not wait for large files to be read.
  // -------------------------------------------------------------------------------------------

  /// While an Aside lives, large files are read in the background: error busy says that something
  /// is being read. Whoever gets it asks again when all that was asked_for() until then has_read().
  enum class Reading : std::uint8_t {
    at_once,
    aside,       ///< what has just been read counts, however it changes
    aside_anew,  ///< only what is there now counts
  };
  class Aside {
   public:
    explicit Aside(ContentCache& cache, Reading reading = Reading::aside) : cache_(cache) {
      cache_.reading_ = reading;
    }
    ~Aside() { cache_.reading_ = Reading::at_once; }
    Aside(const Aside&) = delete;
    Aside& operator=(const Aside&) = delete;

   private:
    ContentCache& cache_;
  };
  [[nodiscard]] std::uint64_t asked_for() const { return reader_.asked(); }
  [[nodiscard]] std::uint64_t has_read() const { return reader_.told(); }
  /// Becomes readable when something has been read; -1 while nothing is.
  [[nodiscard]] int read_fd() const { return reader_.fd(); }
  /// Takes in what has been read; never waits. Once in each turn of the loop.
  Result<> take_read();

  /// What is no part of a folder, although it lies there: files that tasks write. Each is asked
  /// once, when a folder is looked at.
  void leave_out(std::function<std::vector<std::string>()> files) {
    left_out_by_.push_back(std::move(files));
  }

 private:
  struct Known {
    FileStamp stamp;
    Digest digest;
  };
  /// Regular files below a folder, in the order of their names.
  Result<std::vector<std::string>> tree(const std::string& path);
  Result<Digest> tree_digest(const std::string& path, const Stop& stop);
  /// As digest(); but nobody said that a value's file is worth reading all of it.
  Result<Digest> digest_as(Kind kind, const std::string& path, const Stop& stop);
  /// The same of a regular file that looks like `info`.
  Result<Digest> file_digest(Kind kind, const std::string& path, const struct stat& info,
                             const Stop& stop);
  Result<> remember(const std::string& path, const FileStamp& stamp, const Digest& digest);

  struct Look {
    std::uint64_t round = 0;
    std::optional<Digest> digest{};  ///< nothing when it cannot be read
    std::uint64_t asked = 0;         ///< when so many files have been read, it has been, too
  };
  /// Takes an input of a task into its fingerprint.
  void use(const std::string& path, const Digest& content, Kind kind, std::vector<Used>* used);
  [[nodiscard]] bool is_left_out(const std::filesystem::path& path);

  store::Store& store_;
  std::filesystem::path state_dir_;
  std::unordered_map<std::string, Known> known_;
  std::unordered_map<std::string, Look> looks_;
  Reading reading_ = Reading::at_once;
  /// What a turn of the loop may read itself when large files are read aside: a fraction of a
  /// second.
  static constexpr std::uint64_t kReadAtOnce = std::uint64_t{64} << 20;
  std::uint64_t at_once_ = kReadAtOnce;  ///< bytes that are left of it in this turn
  /// As they were found, however they change, until all that was asked for has been read: a file
  /// that never stands still must not keep its task waiting for ever.
  std::unordered_map<std::string, Result<Digest>> just_read_;
  std::uint64_t round_ = 1;
  Hasher hasher_;
  struct Part {
    std::string path;
    Kind kind;
    Digest digest;
  };
  std::vector<Part> parts_;                                             ///< scratch
  std::vector<std::function<std::vector<std::string>()>> left_out_by_;  ///< not asked yet
  std::unordered_set<std::string> left_out_;
  ContentReader reader_;
};

}  // namespace gantry::driver
