#pragma once
/// A site's store of files, known by the hash of their content: SCRATCH/depot. All state is in the
/// file system, so agents of several hosts and several gantries can use one depot at once; what
/// they do to each other's files is atomic. An object belongs to one thread.
///
///   depot/ab/cdef...        a whole file whose content was verified; read-only
///   depot/partial/HASH.WHO  what WHO has sent of a file so far
///
/// A verified file's time of change is made up from its hash and size. Whoever writes to it (a
/// task that its permissions do not stop, a power loss that cuts it) gives it another: that is
/// noticed without reading it. Its time of access is that of its last use.

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"
#include "base/hash.hpp"
#include "base/time.hpp"

namespace gantry::depot {

struct StoredFile {
  Digest content;
  std::uint64_t bytes = 0;

  static constexpr std::size_t kLeastBytes = sizeof(Digest) + sizeof bytes;  ///< in a message
  static void fields(auto& wire, auto& m) { wire(m.content, m.bytes); }
  friend bool operator==(const StoredFile&, const StoredFile&) = default;
};

/// A partial file is removed when nobody has added to it for this long.
inline constexpr Duration kPartialLease = std::chrono::hours(24);

/// What may be part of a file's name here: letters, digits, '-', '_' and '.' (not in front), at
/// most 64.
bool is_plain_name(std::string_view name);

class Depot {
 public:
  /// Makes the folders where there are none. `quota`: bytes that it may hold; 0 = no limit.
  static Result<Depot> open(const std::filesystem::path& scratch, std::uint64_t quota = 0);

  /// Whether the file is there as it was verified. One that was touched since is read again: if it
  /// is not what it should be, it is removed.
  bool has(const Digest& content) { return check(content).has_value(); }
  /// The same, with the reason: `gone` or `corrupt`.
  Result<> check(const Digest& content);
  /// Reads the file, whether it was touched or not.
  Result<> verify(const Digest& content);

  /// Puts the file at `path` (a hard link; a copy where the file system refuses one), in place of
  /// what is there; makes folders. Errors are `gone` or `corrupt` (removed from the depot) when
  /// the file has to be sent again. Tells which file it is, for is_spoilt(); 0: a copy.
  Result<ino_t> link_into(const Digest& content, const std::filesystem::path& path,
                          bool executable);

  /// It was sent once more: it counts as used, and is executable if it is to be.
  Result<> keep(const Digest& content, bool executable);
  /// Whether somebody wrote to the depot's file since link_into() put it at `path` and said that it
  /// is `linked`: whoever read it there may have read anything. What a task puts in its place is
  /// the task's affair, and the depot may have a new one by now.
  [[nodiscard]] bool is_spoilt(const Digest& content, const std::filesystem::path& path,
                               ino_t linked) const;

  /// Stores a file that is in memory; `corrupt` when it is not what its hash says.
  Result<> store(const Digest& content, std::string_view bytes, bool executable);
  /// No error when it is not there; `busy` while a task holds it.
  Result<> remove(const Digest& content);
  /// Files that have not been touched since they were verified, in order of their hashes.
  Result<std::vector<StoredFile>> list() const;

  /// Evicts the least recently used files that nobody holds until `bytes` more fit into the quota,
  /// and counts these as used. While others work at the same time, the depot may hold more for a
  /// while.
  Result<> make_room(std::uint64_t bytes);
  /// Takes back a make_room(): the bytes will not come.
  void give_back(std::uint64_t bytes);

  /// Removes partial files older than kPartialLease.
  void remove_old_partials();

  [[nodiscard]] const std::filesystem::path& folder() const { return folder_; }
  [[nodiscard]] int fd() const { return fd_.get(); }
  /// Relative to folder().
  static std::string name_of(const Digest& content);
  /// Stamps the verified file behind `fd`, and puts it in its place. `partial` is relative to
  /// folder().
  Result<> admit(const Digest& content, int file, const std::string& partial, bool executable);

 private:
  struct Used {
    StoredFile file;
    timespec last{};  ///< used
  };

  Depot(std::filesystem::path folder, UniqueFd fd, std::uint64_t quota)
      : folder_(std::move(folder)), fd_(std::move(fd)), quota_(quota) {}

  [[nodiscard]] Result<> verify_and_stamp(const Digest& content);
  void set_used(const std::string& name);
  void make_executable(const std::string& name);
  template <class Visit>  // (digest, stat)
  Result<> for_each_file(const Visit& visit) const;
  Result<> survey();
  bool evict_next();

  std::filesystem::path folder_;
  UniqueFd fd_;
  std::uint64_t quota_;
  /// Bytes at the last survey, with our own additions and evictions since.
  std::uint64_t used_ = 0;
  std::uint64_t added_ = 0;      ///< since the last survey
  std::vector<Used> evictable_;  ///< the last used first
  bool surveyed_ = false;
};

}  // namespace gantry::depot
