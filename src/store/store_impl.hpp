#pragma once
/// What a Store holds, for the files that implement it (store*.cpp); nobody else includes this.

#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "store/database.hpp"
#include "store/event_rows.hpp"
#include "store/file_sync.hpp"
#include "store/pack_sync.hpp"
#include "store/result_index.hpp"
#include "store/store.hpp"

namespace gantry::store {

struct KnownFile {
  std::uint64_t size = 0;
  std::int64_t changed_ns = 0;
  std::uint64_t inode = 0;
  Digest digest;
};

struct RunUpdate {
  RunState state = RunState::open;
  Counts counts;
  Eta eta{};
  std::int32_t pid = 0;
  TimePoint now;
};

/// What the next commit() writes.
struct Group {
  std::vector<std::pair<RunId, Event>> events;
  std::map<RunId, RunUpdate> updates;
  std::unordered_map<std::string, KnownFile> files;
  std::map<std::pair<std::string, std::string>, Store::Learned> learned;  ///< by kind and name
  std::map<std::string, std::uint32_t> most_learned;                      ///< of a kind
  /// By run: hosts that are given work (true) or are free of it. Those that are not listed are
  /// free, too, if the run is in `released`.
  std::map<RunId, std::map<SiteHost, bool>> hosts;
  std::set<RunId> released;
  std::vector<RunId> driven;        ///< become the last runs, in this order
  std::int64_t taken_requests = 0;  ///< requests up to this id are done; 0 = none new

  [[nodiscard]] bool empty() const {
    return events.empty() && updates.empty() && files.empty() && learned.empty() && hosts.empty() &&
           released.empty() && driven.empty() && taken_requests == 0;
  }
  void clear() {
    events.clear();
    updates.clear();
    files.clear();
    learned.clear();
    most_learned.clear();
    hosts.clear();
    released.clear();
    driven.clear();
    taken_requests = 0;
  }
};

// Columns of the table `runs`.
std::string_view to_text(RunState state);
void bind_counts(Statement& s, const Counts& counts);
void bind_eta(Statement& s, const Eta& eta);

/// Tells whether the database is still the one that was opened.
struct FileIdentity {
  std::filesystem::path path;
  std::uint64_t device = 0;
  std::uint64_t inode = 0;

  static Result<FileIdentity> of(std::filesystem::path path);
  /// Error `gone` when it was removed, moved away or replaced.
  [[nodiscard]] Result<> check() const;
};

struct Store::Impl {
  Database db;
  FileIdentity identity;
  Access access;
  std::optional<EventWriter> events;  ///< read_write only
  PackSync packs;
  FileSync awaited{};  ///< that the next commit waits for
  Group group{};
  std::int64_t seen_data_version = -1;
  std::int64_t last_request = 0;
  std::optional<ResultIndex> result_index{};
  std::int64_t indexed = 0;  ///< the last event when it was opened

  Result<> write_group();
  /// REQUIRES: a transaction is open.
  Result<> write_all(RunId run, const NextEvent& next);
  /// Notes that the run has no events beyond what there is now.
  Result<> note_last(RunId run) const;
  /// Of all events that are committed.
  Result<const ResultIndex*> results();
  /// What the ends of this group say of outputs at sites.
  Result<> write_remote_files(RunId run, const AttemptEnded& ended);
  Result<> write_learned();
  Result<> write_hosts();
};

}  // namespace gantry::store
