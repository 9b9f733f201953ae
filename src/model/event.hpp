#pragma once
/// Everything that can happen to a run. Engine::apply(Event) is the only way its state changes.
/// Events are journalled unless they say otherwise: when you add or change a journalled one, raise
/// the schema's version (store/schema.cpp) and update docs/formats/journal.md.

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/time.hpp"
#include "model/batch.hpp"
#include "model/host.hpp"
#include "model/ids.hpp"
#include "model/outcome.hpp"
#include "model/run_snapshot.hpp"
#include "model/site_map.hpp"

namespace gantry {

/// Tasks were added to a run, which is open from then on. Journalled with their points, so that
/// they need not be computed or asked for again.
struct TasksAdded {
  RunId run;
  Batch batch;
  Points points;
  TimePoint at;
};
/// No more tasks will be added: the run is finished when none is left to do. When the person edits
/// the sweep, TasksAdded opens its run again.
struct RunClosed {
  RunId run;
  TimePoint at;
};
/// Restores a snapshot: the state of the run after some event of its journal. Must come before all
/// other events of the run. Not journalled.
struct RunRestored {
  RunId run;
  RunSnapshot state;
};
/// Replay is over. Tasks that failed or were cancelled become pending again, with fresh retries;
/// attempt numbers go on counting. With `only`, just these tasks become pending, even done ones,
/// and no others are started. Others that are found running are adopted and their ends count, but
/// the run does not wait for them. Not journalled.
struct RunResumed {
  RunId run;
  std::optional<std::vector<TaskId>> only{};
};
/// Whether hosts of an earlier, killed gantry have yet to answer. While any have, a task may
/// already run there under its next attempt number, so a new attempt skips that number. Not
/// journalled.
struct HostsUnheard {
  RunId run;
  bool any = false;
};
/// A host can take work. Not journalled: after a restart hosts report anew.
struct HostUp {
  Host host;
};
/// What happens to tasks that wait at a host that takes no more work.
enum class WaitingTasks : std::uint8_t {
  go_back,  ///< they are recalled and start elsewhere
  stay,     ///< the host keeps them and starts them as soon as it can
};
/// A host gets no more work until it is up again; running tasks continue. Not journalled.
struct HostDraining {
  HostId host;
  WaitingTasks waiting = WaitingTasks::go_back;
  std::string why{};  ///< for people; no decision depends on it
};
/// A host cannot be reached any more, or was given back. It may come up again. Not journalled: its
/// attempts end as `lost`.
struct HostDown {
  HostId host;
  std::string why{};  ///< for people; empty when it was given back
};
/// A site joins; comes before the first of its hosts is up. Not journalled.
struct SiteJoined {
  SiteId site;
  double depot = std::numeric_limits<double>::infinity();  ///< most bytes that its depot may hold
  std::optional<Way> way{};  ///< between home and the site, if declared
};
/// The share of full speed that the host's tasks recently got, up to `at` by its clock. Not
/// journalled.
struct HostLoaded {
  HostId host;
  double share = 1;
  TimePoint at = kNever;
  TimePoint heard = kNever;  ///< when it was heard, by our clock
};
/// A job that will be this host has been waiting in a batch queue since then. kNever: it no longer
/// waits. Not journalled.
struct HostQueued {
  Host host;
  TimePoint since;
};
/// A job of the site has started, this long after it was submitted. Not journalled.
struct QueueWaited {
  SiteId site;
  double seconds = 0;
  TimePoint at = kNever;
};
/// How long a message to the site and its answer took. Not journalled.
struct SiteEchoed {
  SiteId site;
  double seconds = 0;
  TimePoint at = kNever;
  double bytes = 0;  ///< for a probe: length of the message
  double trip = 0;   ///< for a probe: seconds that a short message took just before
};
/// An attempt runs (or was found running after a restart). Not journalled: the agent knows.
struct AttemptStarted {
  TaskKey key;
  HostId host;
  TimePoint at;
};
/// An attempt has left its host, which is free for the next; its outputs are still on their way
/// home. Not journalled: its end will be.
struct AttemptComputed {
  TaskKey key;
  HostId host;
};
/// An attempt was handed to a host but came back unstarted (drain, cancel, lost connection). Not
/// journalled.
struct AttemptReturned {
  TaskKey key;
  HostId host;
};
/// An attempt ended. `results` are the values that `results:` took from its output.
struct AttemptEnded {
  AttemptReport report;
  HostId host;
  std::string host_name;
  std::vector<std::pair<std::string, std::string>> parameters;
  std::vector<std::pair<std::string, std::string>> results;
  Fingerprint fingerprint;
  /// An input that changed while it ran, or empty: later runs do not reuse such a result.
  std::string changed_input{};
  /// Those of its outputs that replace older ones which the journal lists at sites.
  std::vector<std::string> replaces{};
  Duration expected{0};  ///< run time, when it started; 0 = not known. Not journalled
  /// Seconds that it took besides its run time, if its host was free for it. Not journalled
  std::optional<double> besides{};
  /// Bytes of its outputs that are at home; nothing if not known. Not journalled.
  std::optional<std::uint64_t> output_bytes{};
};
/// The same task (by fingerprint) succeeded in an earlier run: its result counts here too.
struct TaskReused {
  RunId run;
  TaskId task;
  RunId from_run;
  TaskId from_task;
  AttemptId from_attempt;
  std::vector<std::pair<std::string, std::string>> parameters;
  std::vector<std::pair<std::string, std::string>> results;
  Fingerprint fingerprint;
  TimePoint at;
};
/// A finished task must run again; `reason` is for `explain` ("input mesh.dat changed", "retry
/// asked for").
struct TaskInvalidated {
  RunId run;
  TaskId task;
  std::string reason;
  TimePoint at;
};
/// A person cancels these tasks (ended ones are left alone). `all` avoids listing a million.
struct CancelRequested {
  RunId run;
  bool all = false;
  std::vector<TaskId> tasks;
  TimePoint at;
};
/// A file exists at a site: a person's input at home, or a task's output where it was made. Not
/// journalled: inputs are announced again, outputs follow from their task's end.
struct FileMade {
  FileId file;
  SiteId site = kHome;
  double bytes = 0;
};
/// A shared file is at a site: it was moved, or found there. Not journalled: depots report anew.
struct FileArrived {
  FileId file;
  SiteId site;
  TimePoint at = kNever;
  bool found = false;  ///< it was already there, so the time says nothing about the link
};
/// A shared file did not get to a site. Not journalled.
struct MoveFailed {
  FileId file;
  SiteId site;
  std::string reason{};  ///< for people; empty if the site is lost, which is reported separately
  TimePoint at = kNever;
};
/// A shared file is no longer at a site. Not journalled.
struct FileGone {
  FileId file;
  SiteId site;
};
/// Files cannot go from one site to another, although the grid file says so. They come from home
/// instead. Not journalled.
struct WayClosed {
  SiteId from;
  SiteId to;
  std::string why{};  ///< for people, with advice
};
/// Start nothing more; let what runs finish (Ctrl-C, too many failures). Not journalled.
struct DrainRequested {
  RunId run;
  std::string reason;
};

using Event = std::variant<TasksAdded, RunClosed, RunRestored, RunResumed, HostsUnheard, HostUp,
                           HostDraining, HostDown, HostLoaded, HostQueued, QueueWaited, SiteEchoed,
                           SiteJoined, AttemptStarted, AttemptComputed, AttemptReturned,
                           AttemptEnded, TaskReused, TaskInvalidated, CancelRequested, FileMade,
                           FileArrived, MoveFailed, FileGone, WayClosed, DrainRequested>;

}  // namespace gantry
