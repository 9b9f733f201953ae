#pragma once
/// State that all runs share: the hosts that are up and their attempts, sites, files and where they
/// are, and what was learnt about hosts and links. Each run keeps its own tasks and attempts, and
/// records here what they occupy. For the engine's sources only.

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "engine/grid/file_table.hpp"
#include "forecast/grid_forecast.hpp"
#include "model/event.hpp"
#include "model/site_map.hpp"
#include "schedule/scheduler.hpp"

namespace gantry::engine {

class ReadyQueue;

struct HostState {
  /// Whether a host takes tasks.
  enum class Takes : std::uint8_t {
    work,         ///< as much as fits
    nothing,      ///< running attempts continue, waiting ones are recalled
    nothing_new,  ///< running and waiting attempts stay
  };
  /// How its speed compares with the speed in the last plans.
  enum class Pace : std::uint8_t { same, slower, faster };

  Host host;
  schedule::Load load = 0;
  std::vector<schedule::Ongoing> ongoing{};  ///< attempts that it has not computed yet
  Takes takes = Takes::work;
  std::size_t shown_at = 0;  ///< its place in Grid::shown
  double planned_speed = 0;  ///< its speed in the last plans; 0 = not known
  Pace pace = Pace::same;
};

/// Memory that hosts have for a task whose memory is learnt.
struct MemoryRoom {
  std::uint64_t share = 0;  ///< a task's share of the smallest host, if tasks use all its cores
  std::uint64_t most = 0;   ///< the largest host's
  std::string largest{};    ///< its name; empty when there is none
};

/// Hosts whose speed has changed much since plans were last made.
struct PaceChange {
  std::vector<HostId> slower;
  bool upsets_plans = false;  ///< so many cores are affected that plans no longer hold
};

struct Grid {
  explicit Grid(SiteMap sites) : map(std::move(sites)), files(map) {}
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;

  void on(const HostUp& event);
  /// False if the host is not up, or already takes no work.
  bool on(const HostDraining& event);
  /// REQUIRES: every run has released its attempts there.
  void on(const HostDown& event);
  void on(const HostLoaded& event);
  void on(const HostQueued& event);
  void on(const QueueWaited& event);
  void on(const SiteEchoed& event);
  void on(const SiteJoined& event);
  void on(const FileMade& event);
  void on(const FileArrived& event);
  void on(const MoveFailed& event);
  void on(const FileGone& event);
  void on(const WayClosed& event);

  /// Notes that something happened on which any run's plan may depend.
  void touch() { ++changes; }

  // Hosts.
  // -------------------------------------------------------------------------
  /// Those that take work.
  [[nodiscard]] std::span<const schedule::HostLoad> working() const {
    return std::span(shown).first(working_hosts);
  }
  /// Those that are up but take no new work.
  [[nodiscard]] std::span<const schedule::HostLoad> resting() const {
    return std::span(shown).subspan(working_hosts);
  }
  /// nullptr when it is not up.
  [[nodiscard]] HostState* find(HostId host);
  [[nodiscard]] const HostState* find(HostId host) const;
  /// An attempt occupies its part of the host. REQUIRES: the host is up.
  void occupy(HostId host, const schedule::Ongoing& given, schedule::Load load,
              std::span<const FileId> reads);
  void vacate(HostId host, const TaskKey& key, schedule::Load load, std::span<const FileId> reads);
  /// nullptr when the host does not have it.
  [[nodiscard]] schedule::Ongoing* find_ongoing(HostId host, const TaskKey& key);
  /// Whether some host that takes work could ever run such a task.
  [[nodiscard]] bool fits_somewhere(const TaskNeeds& needs) const;
  [[nodiscard]] bool depot_holds(SiteId site, std::span<const FileId> read) const {
    return site == kHome || !(files.bytes_of(read) > map.depot(site));
  }
  /// Memory room for a task, on hosts whose depots can hold the files it reads.
  [[nodiscard]] MemoryRoom memory_room(const Resources& declared,
                                       std::span<const FileId> read) const;
  /// The hosts that became much slower or faster, once plans may change again; nothing before.
  [[nodiscard]] std::optional<PaceChange> take_pace_change(TimePoint now);
  /// When take_pace_change() will return something; kNever if it will not.
  [[nodiscard]] TimePoint next_pace_change() const { return pace_changed_ ? heed_from_ : kNever; }

  // Files.
  // -------------------------------------------------------------------------
  [[nodiscard]] schedule::FileTraffic traffic(TimePoint now) {
    return {map, files.view(now), files.bytes(), now, map.learns ? &seen : nullptr};
  }
  /// Sends the file from the site that delivers it first, and returns that site. If the file is
  /// already there or on its way, does nothing and returns home.
  SiteId fetch(FileId file, SiteId to, TimePoint now, std::vector<Action>& actions);
  void move(FileId file, const schedule::FileSource& from, SiteId to, TimePoint now,
            std::vector<Action>& actions);
  /// Who asks for room in a depot.
  enum class Asker : std::uint8_t {
    task,   ///< idle files that ready tasks read may make way
    other,  ///< a file sent ahead, or a twin: only files that no ready task reads make way
  };
  /// Drops files until all of these have room at the site. False, and nothing is dropped, if that
  /// is impossible.
  bool make_room(std::span<const FileId> wanted, SiteId site, Asker asker,
                 std::vector<Action>& actions);

  SiteMap map;
  std::map<HostId, HostState> hosts;      ///< those that are up
  std::vector<schedule::HostLoad> shown;  ///< for strategies; those that rest come last
  std::size_t working_hosts = 0;          ///< how many do not rest
  std::map<HostId, HostQueued> coming;    ///< hosts whose jobs wait in a queue
  FileTable files;
  forecast::GridForecast seen;  ///< what was learnt of hosts and links
  std::set<SiteId> crowded;     ///< sites whose depot had no room for a task, until one fits again
  std::vector<const ReadyQueue*> queues;  ///< of all runs
  std::uint64_t changes = 0;
  bool learns = true;  ///< false: forecasts stay as they are, for experiments

 private:
  void show_hosts();
  void show_load(const HostState& state) {
    shown[state.shown_at] = {&state.host, state.load, state.ongoing};
  }
  [[nodiscard]] MemoryRoom look_for_room(const Resources& declared,
                                         std::span<const FileId> read) const;

  bool pace_changed_ = false;
  TimePoint heed_from_ = kNever;
  /// Cache by cores and walltime, for tasks that read no files; cleared when hosts change.
  mutable std::map<std::pair<std::uint32_t, Duration>, MemoryRoom> rooms_;
};

}  // namespace gantry::engine
