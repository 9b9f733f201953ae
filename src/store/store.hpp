#pragma once
/// The state directory's database: journal of events, snapshots, queries. SQLite in WAL mode.
/// One writer (the process that holds the RunLock), any number of readers. One thread per Store
/// object.
///
/// Durability: append() only adds to the open group, in memory; what it holds counts after commit()
/// returned, which writes and syncs it in one transaction. Ends are acknowledged to agents only
/// after that. So the database is locked only while a group is written, other processes can post
/// requests in between, and a group that could not be written (disk full) is still there for the
/// next try. Queries see what was committed.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "base/result.hpp"
#include "model/eta.hpp"
#include "model/event.hpp"
#include "model/run_snapshot.hpp"
#include "model/spec_source.hpp"
#include "store/snapshot_bytes.hpp"

namespace gantry::store {

using gantry::SpecSource;

enum class Access { read_only, read_write };

/// Tasks by state. `pending` is what is left of `total`; `running` is the last committed figure.
struct Counts {
  std::uint32_t total = 0;
  std::uint32_t done = 0;  ///< succeeded, reused ones included
  std::uint32_t reused = 0;
  std::uint32_t failed = 0;
  std::uint32_t cancelled = 0;
  std::uint32_t running = 0;

  Counts& operator+=(const Counts& other) {
    total += other.total;
    done += other.done;
    reused += other.reused;
    failed += other.failed;
    cancelled += other.cancelled;
    running += other.running;
    return *this;
  }
};

enum class RunState { open, finished };

struct RunRecord {
  RunId id;
  std::string name;
  Digest digest;  ///< of the study with its points: Application::digest()
  Digest study;   ///< without them: its study_digest(). Empty when an older gantry made the run
  SpecSource source;
  /// What the journal says of the run's tasks. Runs of older gantries are one batch.
  std::vector<AddedBatch> batches{};
  /// Application::numbering(): empty as long as nobody has inserted values into the study.
  PointOrder numbering{};
  /// Of all nodes; a task has those of its node.
  std::vector<std::string> parameter_names;
  std::vector<std::string> result_names;
  /// By result: the digest of how it is read, as hexadecimal digits. Empty when it is not known, as
  /// of runs that an older gantry made, or when it differs among nodes.
  std::vector<std::string> result_rules;
  RunState state = RunState::open;
  TimePoint created;
  TimePoint updated;  ///< of the last commit
  Counts counts;
  Eta eta{};                ///< as last forecast
  std::int32_t pid = 0;     ///< of the gantry that drives it; 0 when none does (check the RunLock)
  std::int64_t driven = 0;  ///< larger than that of runs whose last session began earlier
};

/// The latest that is known of one task that ended or was reused at least once.
struct TaskRow {
  TaskId task;
  AttemptId attempt;  ///< latest
  FailureCause cause = FailureCause::none;
  std::int32_t code = 0;
  std::string detail;
  bool reused = false;
  bool invalidated = false;  ///< ended, but asked to run again since
  TimePoint started;
  TimePoint ended;
  Usage usage;
  std::string host;
  std::uint64_t stdout_size = 0;
  std::uint64_t stderr_size = 0;
  std::vector<std::pair<std::string, std::string>> parameters;
  std::vector<std::pair<std::string, std::string>> results;
};

/// A finished result that a new run may reuse.
struct Reusable {
  RunId run;
  TaskId task;
  AttemptId attempt;
  /// The run that has reused it and holds the values, perhaps read by other rules; 0 when that is
  /// `run`.
  RunId copy_run{};
  TaskId copy_task{};
  /// The program ended well, but a value could not be read: there are no results.
  bool unread = false;

  [[nodiscard]] RunId holder() const { return copy_run == RunId{} ? run : copy_run; }
  [[nodiscard]] TaskId held_as() const { return copy_run == RunId{} ? task : copy_task; }
};

/// One line of a task's history, oldest first, for `explain` and `log`.
struct HistoryRow {
  TimePoint at;
  std::string kind;  ///< "ended", "reused", "invalidated", "cancel asked"
  AttemptId attempt;
  AttemptReport report;  ///< for "ended": complete, output included
  std::string host;      ///< for "ended": its name; may be empty
  std::string text;      ///< reason, or where a reused result came from
  Reusable from;         ///< for "reused": the same as `text`
  Fingerprint fingerprint;
  std::string changed_input{};  ///< for "ended": as AttemptEnded's
};

/// A host and its site, by the names that people use.
struct SiteHost {
  std::string site;
  std::string host;
  friend auto operator<=>(const SiteHost&, const SiteHost&) = default;
};

/// A study that is to run beside those that a gantry drives already.
struct StudyRequest {
  SpecSource source;
  double weight = 1;  ///< its part of the hosts, beside those of other runs
};

/// Asked for by another process, carried out by the one that drives the run.
struct Request {
  std::int64_t id = 0;
  RunId run{};
  bool all = false;
  std::vector<TaskId> tasks{};          ///< to cancel
  std::vector<std::string> join{};      ///< else: sites that the run is to use, too
  std::string grid{};                   ///< the file that describes them
  std::vector<std::string> leave{};     ///< sites that it is to use no more
  std::optional<StudyRequest> study{};  ///< else: a study to run; `run` is not set
};

/// Takes what replay() tells of a task's result into the prints, if they are of so many tasks.
void note_print(const Event& event, Prints& prints);

class Store {
 public:
  /// Opens `<directory>/gantry.db`, creating it for read_write. Errors: busy, corrupt (integrity
  /// check failed), version (written by a newer gantry), io (read-only, full disk); each says what
  /// to do.
  static Result<Store> open(const std::filesystem::path& directory, Access access);
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  // Runs.
  // ------------------------------------------------------------------------------------------------
  /// Gives events of the run, one a call until it gives none. It may query this store.
  using NextEvent = std::function<Result<std::optional<Event>>(RunId)>;
  /// With the events that the run has from its beginning: it is there with all of them, or not at
  /// all.
  Result<RunId> create_run(const RunRecord& record, const NextEvent& first = {});
  /// The person has edited the study of the run record.id: replaces its source, digests, numbering
  /// and total, and journals what follows from that; all of it, or nothing. Commits at once.
  Result<> edit_run(const RunRecord& record, const NextEvent& events);
  /// Oldest first, without what may be large: source.text, args and data, batches and
  /// numbering.
  Result<std::vector<RunRecord>> runs() const;
  Result<std::optional<RunRecord>> run(RunId id) const;
  /// The one that was created or marked as driven most recently.
  Result<std::optional<RunRecord>> last_run() const;
  Result<std::optional<RunRecord>> last_run_with(const Digest& digest) const;
  /// The one of this study that was driven last, whatever its points. With `name`, also one that an
  /// older gantry made: it did not note the study.
  Result<std::optional<RunRecord>> last_run_of(const Digest& study, const std::string& name) const;
  /// Forgets a run and everything recorded of it, events of the open group included, except the
  /// attempts whose results other runs have taken over: history() still has them. Returns space
  /// to the disk when much of the file became free. REQUIRES: the caller holds the RunLock.
  Result<> remove_run(RunId id);
  /// The output files of those attempts.
  Result<std::set<std::string>> packs_of_removed_runs() const;

  // Journal.
  // ---------------------------------------------------------------------------------------------
  /// Adds an event to the open group. Events that are not journalled (see model/event.hpp) are
  /// ignored. An AttemptEnded whose key is already recorded is ignored: reports may arrive twice.
  /// The files that `results:` reads (report.collected) are not kept; the values taken from them
  /// are.
  Result<> append(RunId run, Event&& event);
  Result<> append(RunId run, const Event& event) { return append(run, Event(event)); }
  /// Joins the open group: shown by status and runs.
  Result<> update_run(RunId run, RunState state, const Counts& counts, const Eta& eta,
                      std::int32_t pid, TimePoint now);
  /// Joins the open group: a gantry begins to drive this run, which makes it the last one.
  Result<> mark_driven(RunId run);
  /// The next commit() waits until this file is on disk: its only other copy may go then.
  void await_on_disk(std::filesystem::path file);
  /// Makes the open group durable (fsync), after the pack files that it refers to. On failure (disk
  /// full) nothing of the group is lost from memory: a later commit() tries the same group again.
  Result<> commit();
  /// Feeds every journalled event of the run that comes after event `after` to `sink`, in order,
  /// with what the state of a run depends on: ends and reuses mostly come without output, detail,
  /// host name, parameters and results (see for_each_task() and history()). From the beginning, the
  /// first is always TasksAdded, also of runs of older gantries, which did not journal it.
  Result<> replay(RunId run, const std::function<void(const Event&)>& sink,
                  std::int64_t after = 0) const;
  struct ReplayFrom {
    RunId run;
    std::int64_t after = 0;
  };
  /// The same for several runs while reading the journal once: runs that were driven together lie
  /// in it side by side.
  Result<> replay(std::span<const ReplayFrom> runs,
                  const std::function<void(RunId, const Event&)>& sink) const;

  // Snapshots: what the journal says of a run, so that opening it need not read all of it.
  // ---------------------------------------------------------------------------------------------
  struct Snapshot {
    SnapshotContent content;
    std::int64_t seq = 0;  ///< the last event that it knows of: replay() from there
  };
  /// Error: corrupt, when it is damaged. Then, and when there is none, replay() from the beginning.
  Result<std::optional<Snapshot>> snapshot(RunId run) const;
  /// `content` is what replaying all of the run's journal gives. REQUIRES: nothing waits in the
  /// open group.
  Result<> keep_snapshot(RunId run, const SnapshotContent& content);

  // Queries.
  // ---------------------------------------------------------------------------------------------
  /// The latest row of each task of the run, by task number.
  Result<> for_each_task(RunId run, const std::function<void(const TaskRow&)>& sink) const;
  Result<std::optional<TaskRow>> task(RunId run, TaskId task) const;
  Result<std::vector<HistoryRow>> history(RunId run, TaskId task) const;
  /// The number of the newest event, for follow_ends(); 0 when there is none.
  Result<std::int64_t> last_event() const;
  /// Feeds to `sink` how attempts of the run have ended since the event `seq`, output included, and
  /// moves `seq` on.
  Result<> follow_ends(RunId run, std::int64_t& seq,
                       const std::function<void(const AttemptEnded&)>& sink) const;
  /// Earlier results of a task, by its fingerprint.
  struct Earlier {
    std::optional<Reusable> same;
    /// The latest of the same command and environment, whatever its inputs; never unread.
    std::optional<Reusable> similar;
  };
  /// For each fingerprint the latest results of tasks whose program succeeded, except those that
  /// somebody asked to be made again. A reused result is told as the attempt that made it, or, when
  /// that run was removed, as its copy: attempt 0. `except`: results of this run are left out.
  Result<std::vector<Earlier>> earlier_results(std::span<const Fingerprint> prints,
                                               RunId except = {}) const;
  /// There may be such results.
  Result<bool> has_results() const;
  /// Prepares earlier_results() for what was journalled since the last time: they come quickly
  /// then.
  Result<> index_results();
  /// The results of one recorded success, to copy into a TaskReused.
  Result<std::vector<std::pair<std::string, std::string>>> results_of(const Reusable& source) const;

  // Content digests of input files, so that an unchanged file is read once.
  // --------------------------------
  /// The digest recorded for (path, size, time of its last change, inode), if it is still that
  /// file. A change that keeps all four cannot be seen: do not remember a file that was changed
  /// less than a clock tick before it was read.
  Result<std::optional<Digest>> known_digest(const std::string& path, std::uint64_t size,
                                             std::int64_t changed_ns, std::uint64_t inode) const;
  /// Joins the open group.
  Result<> remember_digest(const std::string& path, std::uint64_t size, std::int64_t changed_ns,
                           std::uint64_t inode, const Digest& digest);

  // Outputs that stay at the sites where they were made.
  // -----------------------------------------------------
  /// Recorded with the end of the attempt that made them, which append() is given.
  struct RemoteOutput {
    RemoteFile file;
    TaskKey made_by;
    bool replaced = false;  ///< a later attempt has made the same output: nobody wants this one
  };
  /// In the order of sites.
  Result<std::vector<RemoteOutput>> remote_outputs() const;
  /// Where the output that belongs at `path` is, if it is at a site.
  Result<std::optional<RemoteFile>> remote_output(const std::string& path) const;
  /// Whether the journal, or the open group, has this very file.
  Result<bool> knows(const RemoteFile& file) const;
  /// It is not there any more. Commits at once, from any process.
  Result<> forget(const RemoteFile& file);

  // Hosts that may have attempts of a run whose ends are not in the journal. A gantry that goes on
  // with the run does not use those attempts' numbers again.
  // -----------------------------------------------------------------------
  /// Joins the open group. REQUIRES: it is committed before the host is given an attempt.
  void give(RunId run, SiteHost host);
  /// Joins the open group: all that the host, or any host, was given has ended.
  void release(RunId run, const SiteHost& host);
  void release_all(RunId run);
  Result<std::set<SiteHost>> given_hosts(RunId run) const;

  // What runs have taught of programs, hosts and links, for the next ones.
  // -----------------------------------------------------------------------
  struct Learned {
    std::string name;
    TimePoint updated;
    std::string value;  ///< JSON
  };
  /// Joins the open group. Replaces what was there under this name. Of the kind so many are kept,
  /// the newest; 0 = all.
  Result<> learn(const std::string& kind, Learned learned, std::uint32_t most = 0);
  /// By name; those that are no text come last.
  Result<std::vector<Learned>> learned(const std::string& kind) const;
  Result<std::optional<Learned>> learned(const std::string& kind, const std::string& name) const;

  // Requests from other processes.
  // -------------------------------------------------------------------------
  /// Commits at once, from any process; gives the request's id.
  Result<std::int64_t> post(const Request& request);
  /// Nobody has taken it yet. A request that was taken is gone in the same commit that journals it.
  Result<bool> is_waiting(std::int64_t request) const;
  /// Takes back a request that is_waiting(); false when it was taken meanwhile. Commits at once.
  Result<bool> withdraw(std::int64_t request);
  /// How many cancel requests are in the run's journal.
  Result<std::int64_t> cancels_asked(RunId run) const;
  /// Cheap when nothing was posted since the last call. A request is forgotten with the commit of
  /// the open group, that is together with the event the caller makes of it; until then a crash
  /// brings it back.
  Result<std::vector<Request>> take_requests();
  /// Tells who asked for a study which run it became, or why it did not. Commits at once.
  Result<> answer(std::int64_t request, const Result<RunId>& run);
  /// Forgets the answer. Nothing when there is none yet.
  Result<std::optional<Result<RunId>>> take_answer(std::int64_t request);

 private:
  struct Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace gantry::store
