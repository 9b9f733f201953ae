#pragma once
/// The seam between the engine and its strategies. A Scheduler is told of events and asked for a
/// plan; a plan is intents, not reservations: the engine checks each against live state before it
/// acts. Strategies see classes of tasks and hosts, never a million tasks, and never an actuator.
/// Owned by the engine, called from its thread.

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "base/time.hpp"
#include "forecast/grid_forecast.hpp"
#include "forecast/run_time.hpp"
#include "forecast/run_time_accuracy.hpp"
#include "model/action.hpp"
#include "model/event.hpp"
#include "model/host.hpp"
#include "model/site_map.hpp"
#include "model/task.hpp"
#include "schedule/packing.hpp"

namespace gantry::schedule {

/// Tasks that need the same. A class exists while tasks of it are ready; its id is never used
/// again.
using ClassId = StrongId<struct ClassTag, std::uint32_t>;

struct ReadyClass {
  ClassId id;
  const TaskNeeds* needs = nullptr;
  /// One entry for each ready task, in the order in which the class hands them out: its place in
  /// the work queue of all classes (lower is earlier). Never empty.
  const std::deque<std::uint64_t>* places = nullptr;
  NodeId node{};     ///< of the application; a sweep has one
  double rank = 0;   ///< the upward rank of its node: the cost of the longest path that it begins
  double share = 1;  ///< the part of the grid that its run, or region, is entitled to
};

/// Tasks of a node that are to be started some time, but are not ready for this strategy yet: more
/// than its appetite, or waiting for others.
struct Ahead {
  NodeId node{};
  std::uint32_t tasks = 0;
};

/// An attempt that a host was given and that has not ended. A task has two at the most.
struct Ongoing {
  TaskId task;
  double cost = 1;
  TimePoint started = kNever;     ///< or never: it waits, for its files or for its turn
  AttemptId attempt{};            ///< 0: it waits for its files
  bool alone = false;             ///< it gets no twin: it was told to end, or its twin has failed
  Duration expected{0};           ///< when it started, it was to take so long; 0 = not known
  std::optional<double> begun{};  ///< what its host had done then: GridForecast::work_done()
  double speed = 1;               ///< of its host then, by its load: GridForecast::speed()
  RunId run{1};
};

struct HostLoad {
  const Host* host = nullptr;
  Load load = 0;                       ///< of all that it was given and that has not ended
  std::span<const Ongoing> ongoing{};  ///< in the order in which it was given
};

struct MovingFile {
  FileId file;
  SiteId from;  ///< which may have to get it first
  TimePoint since;
  TimePoint arrives = kNever;  ///< by what is declared of the way
};

/// What is stored at a site other than home, where everything is.
struct SiteFiles {
  SiteId site;
  std::vector<FileId> there{};       ///< ascending
  std::vector<MovingFile> moving{};  ///< to it, by file
  /// Bytes that the depot may hold, and how many of them are neither taken nor promised.
  double depot = std::numeric_limits<double>::infinity();
  double free = std::numeric_limits<double>::infinity();
  /// Where there is a limit: what is there and used by no task that was given to a host of the
  /// site, ascending. The engine drops it when it needs the room.
  std::vector<FileId> idle{};
  /// What could not be sent there several times, and is not tried again for a while; ascending.
  std::vector<FileId> barred{};
};

/// Hand the next task of this class to this host.
struct Intent {
  ClassId task_class;
  HostId host;
  friend bool operator==(const Intent&, const Intent&) = default;
};

/// Take a task from the host where it waits for its files, and give it to this one.
struct Steal {
  TaskId task;
  HostId host;
  friend bool operator==(const Steal&, const Steal&) = default;
};

/// Run a task that another host was given on this one too. The first success counts, and ends the
/// other attempt. If one fails, the other decides.
struct Twin {
  TaskId task;
  HostId host;
  friend bool operator==(const Twin&, const Twin&) = default;
};

/// Why the engine did not do what a plan wanted.
enum class RefusalReason : std::uint8_t {
  host_gone,          ///< The host is not up.
  host_draining,      ///< The host is given no more tasks.
  no_room,            ///< The host has no slot for the task.
  no_time_left,       ///< The host is lent for less time than the task is expected to take.
  files_cannot_come,  ///< A file cannot be sent to the site now, or its depot has no room.
  class_gone,         ///< No task of the class is ready.
  needs_changed,      ///< The task needs other resources by now; it is in another class.
  not_waiting,        ///< The task to steal does not wait for files on another host.
  no_twin_allowed,    ///< The task does not run, runs on this host, or may have no second attempt.
  already_coming,     ///< The file is at the site, or on its way there.
  no_source,          ///< The file is not at the site that is to send it, or there is no way.
  not_its_turn,       ///< Another run may start a task first; ask again at its next turn.
};

struct Refused {
  std::variant<Intent, MoveFile, Steal, Twin> what;
  RefusalReason why{};
  friend bool operator==(const Refused&, const Refused&) = default;
};

/// Does the world differ from what the plan was made for? Waiting for a turn does not count: what
/// was refused for that may be wanted again as it is.
[[nodiscard]] inline bool is_plan_broken(std::span<const Refused> refused) {
  return std::ranges::any_of(
      refused, [](const Refused& each) { return each.why != RefusalReason::not_its_turn; });
}

/// What a strategy sees. Ordered by id; valid during the call only.
struct World {
  TimePoint now;
  std::span<const ReadyClass> classes;
  std::span<const HostLoad> hosts;
  const forecast::RunTimeForecast& run_times;
  std::size_t ready = 0;                         ///< tasks in all classes
  std::span<const double> file_bytes{};          ///< of the shared files, by id
  std::span<const SiteFiles> sites{};            ///< with files, now or soon, or a limit
  std::span<const Refused> refused{};            ///< of this strategy's last plan
  const forecast::GridForecast* seen = nullptr;  ///< of hosts and links; may be none
  const SiteMap* map = nullptr;                  ///< what is declared of the sites, or nothing
  /// What a task that some host was given needs. Takes time: ask for few.
  std::function<TaskNeeds(TaskId)> needs_of{};
  bool barred = false;                                  ///< something is, at some site
  const forecast::RunTimeAccuracy* accuracy = nullptr;  ///< of forecasts of run times; may be none
  /// When an attempt last ended there that took no longer than usual; may be none.
  const std::map<SiteId, TimePoint>* on_time = nullptr;
  bool upset = false;  ///< hosts have become so much slower or faster that plans do not hold
  RunId run{1};        ///< whose tasks these are; hosts may have attempts of others
  /// How many tasks it may start now: then it is another run's turn.
  std::size_t turn = std::numeric_limits<std::size_t>::max();
  /// The longest mean run time of other runs that share the hosts; nothing without others.
  std::optional<Duration> others_mean{};
  std::span<const Ahead> ahead{};  ///< nodes that have such tasks
};

/// The longer of two mean run times, as far as they are known. All runs that share hosts must agree
/// on how many tasks may wait there: whoever may hand over more would always find room first.
[[nodiscard]] inline std::optional<Duration> longer_mean(std::optional<Duration> one,
                                                         std::optional<Duration> other) {
  return one && other ? std::max(*one, *other) : one ? one : other;
}
[[nodiscard]] inline std::optional<Duration> mean_run_time(const World& world) {
  return longer_mean(world.run_times.mean(), world.others_mean);
}

/// Is the attempt this run's? Of others only `expected` can be compared with ours.
[[nodiscard]] inline bool is_ours(const World& world, const Ongoing& given) {
  return given.run == world.run;
}

/// Seconds, at the present pace of its host, that it has done. REQUIRES: it has started.
[[nodiscard]] inline double done_of(const World& world, HostId host, const Ongoing& given) {
  if (world.seen == nullptr) return seconds(world.now - given.started);
  return world.seen->done_of(host, given.started, given.begun, world.now);
}

struct Plan {
  /// In the order in which to carry them out. A task whose shared files are not all at its host's
  /// site holds its place there, gets those that are not on their way, and starts when they have
  /// arrived. Where the depot has no room for all of them, idle files are dropped; where that would
  /// not do, the intent is refused.
  std::vector<Intent> starts{};
  /// Begin now, ahead of tasks that will need the files. Home stands for whichever site delivers
  /// first (file_source.hpp). They take free room, or that of idle files
  /// that no ready task reads; when there is none they are left out, and may be wanted again.
  std::vector<MoveFile> moves{};
  std::vector<Steal> steals{};   ///< after the starts; to a host with a slot free
  std::vector<Twin> twins{};     ///< after the steals; to a host with a slot free
  TimePoint ask_again = kNever;  ///< at the latest, even if nothing happens
  TimePoint ends = kNever;       ///< the last task, if all are planned; never: not known
  friend bool operator==(const Plan&, const Plan&) = default;
};

/// How much of the world a strategy wants to see. More takes more time to show.
struct Appetite {
  std::size_t ready = 256;  ///< tasks, at least, if there are so many
  bool by_cost = false;     ///< classes differ by cost too
  bool to_the_end = false;  ///< asked also when no task is ready any more
  /// What waits at a host is given to another one that has nothing to do, once or twice.
  bool takes_over = false;
};

class Scheduler {
 public:
  virtual ~Scheduler() = default;

  [[nodiscard]] virtual Appetite appetite() const { return {}; }

  /// Every event of the run, after the engine applied it. A strategy that plans from the World
  /// alone ignores it.
  virtual void observe(const Event& event) = 0;

  /// Same events, same world: same plan.
  [[nodiscard]] virtual Plan plan(const World& world) = 0;
};

}  // namespace gantry::schedule
