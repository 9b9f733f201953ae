#pragma once
/// Everything that can happen to a run. Engine::apply(Event) is the only way its state changes, and
/// the journal holds these: when you add or change one, bump store/schema's version and
/// docs/formats/journal.md.

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

/// Tasks have come to a run, which is open from then on. Journalled with its points, so that nobody
/// has to be asked for them again.
struct TasksAdded {
  RunId run;
  Batch batch;
  Points points;
  TimePoint at;
};
/// The run's source has no more tasks for it: the run is finished when none is left to do. When
/// the person edits a sweep, TasksAdded opens its run again.
struct RunClosed {
  RunId run;
  TimePoint at;
};
/// What the journal's events up to some point have made of the run. Before all others of the run,
/// which go on from there. Not journalled.
struct RunRestored {
  RunId run;
  RunSnapshot state;
};
/// Replay is over. Tasks that failed or were cancelled become pending again, with fresh retries;
/// attempt numbers go on counting. With `only`, these tasks alone become pending, done ones
/// included, and nothing else is started: others that are found running are adopted, and their ends
/// count, but the run does not wait for them. Not journalled.
struct RunResumed {
  RunId run;
  std::optional<std::vector<TaskId>> only{};
};
/// Some hosts of an earlier gantry, which was killed, have not been heard of, or all have. While
/// there are any, a task that is started may run there under the number that would be its next, so
/// it gets the one after. Not journalled.
struct HostsUnheard {
  RunId run;
  bool any = false;
};
/// A host can take work. Not journalled: after a restart hosts report anew.
struct HostUp {
  Host host;
};
/// What becomes of tasks that wait at a host which takes no more.
enum class WaitingTasks : std::uint8_t {
  go_back,  ///< they are recalled and start elsewhere
  stay,     ///< the host keeps them and starts them as soon as it can
};
/// A host gets no more work until it is up anew; what runs there goes on. Not journalled.
struct HostDraining {
  HostId host;
  WaitingTasks waiting = WaitingTasks::go_back;
  std::string why{};  ///< for people; nothing is decided by it
};
/// A host cannot be reached any more, or was given back. It may come up again. Not journalled: its
/// attempts end as `lost`.
struct HostDown {
  HostId host;
  std::string why{};  ///< for people; empty when it was given back
};
/// A site has come to be known, before the first of its hosts is up. Not journalled.
struct SiteJoined {
  SiteId site;
  double depot = std::numeric_limits<double>::infinity();  ///< bytes that it may hold
  std::optional<Way> way{};                                ///< between home and it, if declared
};
/// The host's tasks got this share of the speed that they would have there alone, of late, until
/// `at` by its clock. Not journalled.
struct HostLoaded {
  HostId host;
  double share = 1;
  TimePoint at = kNever;
  TimePoint heard = kNever;  ///< by ours
};
/// A job waits in the queue of a batch system since then, and will be this host. Never: it waits no
/// more. Not journalled.
struct HostQueued {
  Host host;
  TimePoint since;
};
/// A job of the site has come to run, so long after it was submitted. Not journalled.
struct QueueWaited {
  SiteId site;
  double seconds = 0;
  TimePoint at = kNever;
};
/// A message to the site and its answer have taken so long. Not journalled.
struct SiteEchoed {
  SiteId site;
  double seconds = 0;
  TimePoint at = kNever;
  double bytes = 0;  ///< of a message that was sent for its length alone
  double trip = 0;   ///< of such a one: what one of a few bytes took just before
};
/// An attempt runs (or was found running after a restart). Not journalled: the agent knows.
struct AttemptStarted {
  TaskKey key;
  HostId host;
  TimePoint at;
};
/// An attempt has left its host to the next one; its outputs are still on their way home. Not
/// journalled: its end will be.
struct AttemptComputed {
  TaskKey key;
  HostId host;
};
/// Handed to a host but given back unstarted (drain, cancel, lost connection). Not journalled.
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
  /// Its outputs, when the journal knows of older ones at sites, which these replace.
  std::vector<std::string> replaces{};
  Duration expected{0};  ///< to take, when it started; 0 = nothing was known. Not journalled
  /// Seconds that it took besides its run time, if its host was free for it. Not journalled
  std::optional<double> besides{};
  /// Of what it was to make and send home; nothing where that is not known. Not journalled.
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
/// A person cancels these tasks (ended ones are left alone). `all` spares listing a million.
struct CancelRequested {
  RunId run;
  bool all = false;
  std::vector<TaskId> tasks;
  TimePoint at;
};
/// A file exists at a site: a person's input at home, or a task's output where it was made. Not
/// journalled: inputs are told anew, outputs are found by their task's end.
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
  bool found = false;  ///< it was there: how long that took says nothing of the link
};
/// It did not get there. Not journalled.
struct MoveFailed {
  FileId file;
  SiteId site;
  std::string reason{};  ///< for people; empty when the site is lost, which is told otherwise
  TimePoint at = kNever;
};
/// It is not there any more. Not journalled.
struct FileGone {
  FileId file;
  SiteId site;
};
/// Files cannot go from the one site to the other, although the grid file says so: they come from
/// home. Not journalled.
struct WayClosed {
  SiteId from;
  SiteId to;
  std::string why{};  ///< for people, with what to do about it
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
