#pragma once
/// What goes on in the runs that a gantry drives, as it shows it to others about once a second: in
/// `<state directory>/live.json` (docs/formats/live.md). Its size is bounded whatever the size of
/// the grid. Plain values.

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "model/host.hpp"
#include "store/store.hpp"

namespace gantry::store {

/// Under which the store keeps the last one of each run that has learnt something, by the run's
/// number: so many.
inline constexpr std::string_view kForecastsKind = "forecasts";
inline constexpr std::uint32_t kMostForecasts = 20;

inline constexpr std::size_t kMostLiveHosts = 1000;
inline constexpr std::size_t kMostLiveSites = 1000;
inline constexpr std::size_t kMostLiveTasks = 4000;  ///< on hosts, and as many that wait
inline constexpr std::size_t kMostLiveRuns = 100;

struct LiveTask {
  std::uint32_t task = 0;
  std::uint32_t attempt = 0;
  TimePoint started = kNever;  ///< never: it is with the host's agent, and has not begun
  double cost = 0;             ///< as the run counts it, learnt or not; 0 = not told
  /// forecast::GivenMemory, where memory is learnt.
  std::uint64_t memory = 0;
  std::uint32_t memory_learnt_from = 0;
  std::uint64_t memory_died_with = 0;
  double expected = 0;    ///< seconds, when it started; 0 = nothing was known
  std::uint32_t run = 0;  ///< 0 = LiveState::run
};

/// An attempt that has ended on its host, and whose outputs are on their way home.
struct LiveArrival {
  std::uint32_t task = 0;
  std::uint32_t attempt = 0;
  TimePoint since = kNever;
  std::uint32_t run = 0;  ///< as of LiveTask
};

/// What is expected of a host or a link, and how good that was.
struct LiveForecast {
  double value = 0;  ///< 0 = nothing is known yet
  double low = 0;    ///< four of five values lie from low to high
  double high = 0;
  std::string member{};           ///< which forecaster says so
  std::uint32_t observed = 0;     ///< values
  std::uint32_t quarantined = 0;  ///< values that were not believed
  std::uint32_t scored = 0;       ///< forecasts that came due
  double error = 0;               ///< mean of |forecast - value| / value
  double inside = 0;              ///< share of values that lay in their interval
};

/// How tasks' run times follow from their parameters.
struct LiveModel {
  std::string family{};     ///< empty: nothing is known yet
  double error = 0;         ///< of its forecasts, as part of that of the mean
  std::uint32_t tasks = 0;  ///< from so many, earlier runs' included
  std::uint32_t example =
      0;  ///< a task, and how long it takes: four of five times from low to high
  double seconds = 0;
  double low = 0;
  double high = 0;
};

/// The same of bytes: the memory that tasks are given; the outputs that they send home.
struct LiveAmount {
  std::string family{};  ///< empty: nothing is known yet
  double error = 0;
  std::uint32_t tasks = 0;
  double margin = 0;  ///< of memory: by which the high end of what is expected is multiplied
  std::uint32_t example = 0;
  std::uint64_t bytes = 0;
  std::uint64_t low = 0;  ///< of outputs
  std::uint64_t high = 0;
};

struct LiveHost {
  std::string name{};
  std::uint32_t site = 0;  ///< its place in LiveState::sites
  HostCondition condition = HostCondition::up;
  TimePoint since = kNever;  ///< lost: since when
  std::string why{};         ///< lost
  std::uint32_t slots = 0;
  std::uint32_t busy = 0;
  std::uint32_t done = 0;         ///< attempts that ended there, in this call of gantry
  std::uint32_t running = 0;      ///< tasks, also those that are not listed
  std::vector<LiveTask> tasks{};  ///< the oldest first
  std::uint32_t homeward = 0;     ///< attempts whose outputs come home, also those not listed
  std::vector<LiveArrival> arrivals{};
  bool told = false;  ///< the three below are known
  double free_cores = 0;
  std::uint64_t free_memory = 0;
  std::uint64_t free_disk = 0;
  double pace = 0;  ///< seconds for a task of cost 1, as learnt; 0 = not known yet
  LiveForecast pace_forecast{};
  double share = 0;  ///< of their speed that its tasks get, expected; 0 = it has not told
  LiveForecast share_forecast{};
};

struct LiveSite {
  std::string name{};
  bool leaving = false;  ///< it gets no more tasks
  std::uint32_t hosts = 0;
  std::uint32_t hosts_up = 0;
  std::uint32_t slots = 0;
  std::uint32_t busy = 0;
  std::uint32_t homeward = 0;      ///< attempts of its hosts whose outputs come home
  std::uint32_t files = 0;         ///< shared ones that are there
  std::uint32_t files_of = 0;      ///< of so many that the study has; 0 at home
  double bytes_per_second = 0;     ///< to it and from it, now
  std::uint32_t to_send = 0;       ///< files that are on their way to it or wait for that
  std::string sending{};           ///< the large one whose turn it is; empty: none
  double sent_part = 0;            ///< of that, from 0 to 1
  double learnt_bandwidth = 0;     ///< bytes a second; 0 = not known yet
  double declared_bandwidth = 0;   ///< in the grid file; 0 = none
  std::uint32_t probes = 0;        ///< of its link, while that carried no files
  LiveForecast link_forecast{};    ///< of bytes a second
  LiveForecast echo_forecast{};    ///< of seconds for a message there and its answer
  LiveForecast launch_forecast{};  ///< of seconds that a task takes besides its run time
  LiveForecast queue_forecast{};   ///< of seconds that a job waits in its batch system
  double from_sites = 0;           ///< bytes of files that came from other sites than home
};

/// A task that has not been started, and why.
struct LiveWait {
  std::uint32_t task = 0;
  std::uint32_t host = 0;            ///< for files: its place in LiveState::hosts, plus 1; 0 = none
  TimePoint until = kNever;          ///< for its back-off
  std::vector<std::string> files{};  ///< that are on their way to the host's site
  double cost = 0;                   ///< for files: as of LiveTask
  std::uint32_t run = 0;             ///< as of LiveTask
};

/// One of several runs.
struct LiveRun {
  std::uint32_t run = 0;
  std::string name{};
  Counts counts{};
  TimePoint ends = kNever;  ///< as of LiveState
  TimePoint ends_soonest = kNever;
  TimePoint ends_latest = kNever;
  std::string draining{};
};

struct LiveState {
  int pid = 0;            ///< that drives it
  TimePoint at = kNever;  ///< when this was written
  /// The one whose forecasts are shown: of several the first that has not finished. Counts and
  /// times are of all of them together.
  std::uint32_t run = 0;
  std::vector<LiveRun> runs{};  ///< each of them, when there are several
  std::string scheduler{};
  std::string grid{};  ///< the file that it was started with; empty: none
  Counts counts{};
  std::uint32_t retrying = 0;
  std::uint32_t staging = 0;      ///< tasks that wait for files
  std::uint32_t handed_over = 0;  ///< tasks that wait in queues of hosts
  TimePoint began = kNever;       ///< this call of gantry
  TimePoint ends = kNever;        ///< as expected; never: not known
  TimePoint ends_soonest = kNever;
  TimePoint ends_latest = kNever;
  std::uint32_t run_times_scored = 0;  ///< forecasts of run times that came due
  double run_times_error = 0;          ///< mean of |forecast - run time| / run time
  LiveModel model{};
  LiveAmount memory{};
  LiveAmount outputs{};
  double tasks_per_second = 0;
  std::string draining{};  ///< why nothing more is started; empty: it is
  std::vector<LiveSite> sites{};
  std::vector<LiveHost> hosts{};  ///< by number; those that are not up come first if not all fit
  std::uint32_t more_hosts = 0;   ///< that are not listed
  std::vector<LiveWait> waits{};

  /// Is the task, arrival or wait of this run?
  template <class Item>
  [[nodiscard]] bool is_of(const Item& item, RunId which) const {
    return (item.run != 0 ? item.run : run) == which.value();
  }
  /// The gantry drives this run.
  [[nodiscard]] bool has(RunId which) const;
  /// nullptr unless it is one of several.
  [[nodiscard]] const LiveRun* find(RunId which) const;
};

[[nodiscard]] std::filesystem::path live_path(const std::filesystem::path& state_dir);

/// As one JSON document; `at` stands on the first line, all else on the second.
[[nodiscard]] std::string live_text(const LiveState& state);
/// Believes nothing: what is missing or makes no sense is left at its default, what is too long is
/// cut. Nothing when it is no JSON object.
[[nodiscard]] std::optional<LiveState> read_live_text(std::string_view text);

/// What the gantry that drives a run shows; nothing when none drives one, or it has not shown
/// anything yet.
[[nodiscard]] std::optional<LiveState> read_live(const std::filesystem::path& state_dir);
/// The last that a gantry has shown which did not come to its end: it was killed, and nothing has
/// been shown since. Nothing while somebody drives a run.
[[nodiscard]] std::optional<LiveState> read_left_live(const std::filesystem::path& state_dir);
/// What read_left_live() gives is not so any more.
void forget_left_live(const std::filesystem::path& state_dir);

[[nodiscard]] std::string_view to_string(HostCondition condition);

}  // namespace gantry::store
