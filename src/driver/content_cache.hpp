#pragma once
/// Digests of files' contents. A file is read again only if its size, inode or change time differs,
/// also across runs (the store remembers). Used from the driver's thread.

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
  /// `store` must outlive the cache. `state_dir` is left out of every folder's digest, because it
  /// changes all the time.
  explicit ContentCache(store::Store& store, std::filesystem::path state_dir = {})
      : store_(store), state_dir_(std::move(state_dir)) {}
  ContentCache(const ContentCache&) = delete;
  ContentCache& operator=(const ContentCache&) = delete;

  /// Asked now and then while a file is read: true ends the reading with an error.
  using Stop = std::function<bool()>;

  /// The digest of a file, or of a directory's tree. Error io if it does not exist or is something
  /// else (a pipe has no contents to compare, and may never end).
  Result<Digest> digest(const std::string& path, const Stop& stop = {}) {
    return digest_as(Kind::named, path, stop);
  }

  /// The file itself, or all files of a folder, for hosts that do not see this machine's files.
  Result<std::vector<TaskFile>> files(const std::string& path, const Stop& stop = {});

  /// What makes a file an input: `inputs:` names it, the command runs it, or a value names it.
  enum class Kind : std::uint8_t { named, program, value };

  /// An input as a task found it. Valid as long as its study.
  struct Used {
    const std::string* path = nullptr;
    Digest digest{};
    Kind kind = Kind::named;
  };

  /// The task's present fingerprint: command, environment and contents of its inputs, which are
  /// also appended to `used`. The error names the missing input. Once `stop` has returned true,
  /// ignore the answer. Inputs that `inputs:` does not name are left out if they changed after
  /// `made_since`; a value's file only if it also was created or last changed by `made_until`.
  Result<Fingerprint> fingerprint(const Task& task, const Stop& stop = {},
                                  std::vector<Used>* used = nullptr,
                                  TimePoint made_since = TimePoint::max(),
                                  TimePoint made_until = TimePoint::max());

  /// Whether a result with fingerprint `before`, from an attempt that ran from `began` to `ended`,
  /// still holds for the task as it is now. Files that the attempt itself made (a program it built,
  /// a file that its value names) look like inputs now, but are not.
  Result<bool> holds(const Fingerprint& before, TimePoint began, const Task& task,
                     const Fingerprint& now, const Stop& stop = {},
                     TimePoint ended = TimePoint::max());

  enum class Changed : std::uint8_t {
    no,
    yes,
    being_read,  ///< in the background: ask again
  };
  /// Checks each input once a round, however many tasks have used it.
  Changed has_changed(const Used& used, const Stop& stop = {});
  void begin_round() { ++round_; }

  // For a loop that must not wait for large files to be read.
  // -------------------------------------------------------------------------------------------

  /// While an Aside lives, large files are read in the background, and calls that need one fail
  /// with error busy. Note asked_for() then, and call again when has_read() has reached it.
  enum class Reading : std::uint8_t {
    at_once,
    aside,       ///< a digest that was just read counts even if the file has changed since
    aside_anew,  ///< only the present content counts
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
  /// Becomes readable when a file has been read; -1 while none is being read.
  [[nodiscard]] int read_fd() const { return reader_.fd(); }
  /// Takes in the digests of files read so far; never waits. Call it once in each turn of the loop.
  Result<> take_read();

  // Folders that tasks write into.
  // -------------------------------------------------------------------------------------------

  using Paths = std::function<std::vector<std::string>()>;
  /// A study whose tasks may write into folders that they read. What they write is no input of
  /// theirs, or each end would change the inputs of the next task. To other studies that read the
  /// folder it is an input like any other: alone, they would see it, too.
  class Study {
   public:
    /// `written` is called once, before the first folder is read.
    explicit Study(Paths written = {}) : written_(std::move(written)) {}

   private:
    friend ContentCache;
    struct Look {
      std::uint64_t round = 0;
      std::optional<Digest> digest{};  ///< nothing when it cannot be read
      std::uint64_t asked = 0;         ///< value of has_read() by which this file has been read
    };
    [[nodiscard]] bool leaves_out(const std::string& path);

    Paths written_;  ///< until it was called
    std::unordered_set<std::string> left_out_;
    std::unordered_map<std::string, Look> looks_;
  };
  /// While an As lives, the cache answers for this study's tasks.
  class As {
   public:
    As(ContentCache& cache, Study& study) : cache_(cache) { cache_.study_ = &study; }
    ~As() { cache_.study_ = &cache_.any_study_; }
    As(const As&) = delete;
    As& operator=(const As&) = delete;

   private:
    ContentCache& cache_;
  };
  /// Leaves files out of the digests of their folders, for all studies.
  void leave_out(Paths files) { any_study_ = Study(std::move(files)); }

 private:
  struct Known {
    FileStamp stamp;
    Digest digest;
  };
  /// Regular files below a folder, in the order of their names.
  Result<std::vector<std::string>> tree(const std::string& path);
  Result<Digest> tree_digest(const std::string& path, const Stop& stop);
  /// Like digest(), but for a large file that only a value names, it hashes the size and
  /// modification time instead of the contents: nobody declared it as an input.
  Result<Digest> digest_as(Kind kind, const std::string& path, const Stop& stop);
  /// The same for a regular file whose status is `info`.
  Result<Digest> file_digest(Kind kind, const std::string& path, const struct stat& info,
                             const Stop& stop);
  Result<> remember(const std::string& path, const FileStamp& stamp, const Digest& digest);

  /// Adds an input to the task's fingerprint.
  void use(const std::string& path, const Digest& content, Kind kind, std::vector<Used>* used);
  [[nodiscard]] bool is_left_out(const std::filesystem::path& path);

  store::Store& store_;
  std::filesystem::path state_dir_;
  std::unordered_map<std::string, Known> known_;
  Study any_study_;
  Study* study_ = &any_study_;
  Reading reading_ = Reading::at_once;
  /// Bytes that a turn of the loop may read itself while large files are read aside: a fraction of
  /// a second's work.
  static constexpr std::uint64_t kReadAtOnce = std::uint64_t{64} << 20;
  std::uint64_t at_once_ = kReadAtOnce;  ///< what is left of kReadAtOnce in this turn
  /// Digests as they were read, valid until all requested files have been read even if a file
  /// changes meanwhile: a file that keeps changing must not keep its task waiting forever.
  std::unordered_map<std::string, Result<Digest>> just_read_;
  std::uint64_t round_ = 1;
  Hasher hasher_;
  struct Part {
    std::string path;
    Kind kind;
    Digest digest;
  };
  std::vector<Part> parts_;  ///< scratch
  ContentReader reader_;
};

}  // namespace gantry::driver
