#pragma once
/// What the engine knows once for all runs: the hosts that are up and what they were given, the
/// sites, the files and where they are, and what was learnt of hosts and links. Each run keeps its
/// own tasks and attempts, and writes here what they take up. For the engine's sources only.

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
    nothing,      ///< what runs there goes on, what waits there is asked for
    nothing_new,  ///< what runs or waits there goes on
  };
  /// How its speed differs from that which plans last counted on.
  enum class Pace : std::uint8_t { same, slower, faster };

  Host host;
  schedule::Load load = 0;
  std::vector<schedule::Ongoing> ongoing{};  ///< what it was given and has not computed yet
  Takes takes = Takes::work;
  std::size_t shown_at = 0;  ///< its place in Grid::shown
  double planned_speed = 0;  ///< its speed when plans last counted on it; 0 = not known
  Pace pace = Pace::same;
};

/// What the hosts that could run a task have for it, where its memory is learnt.
struct MemoryRoom {
  std::uint64_t share = 0;  ///< what each has where tasks take all cores of a host
  std::uint64_t most = 0;   ///< the largest host's
  std::string largest{};    ///< its name; empty when there is none
};

/// Hosts whose speed has changed much since plans were last made.
struct PaceChange {
  std::vector<HostId> slower;
  bool upsets_plans = false;  ///< so many cores that plans no longer hold
};

struct Grid {
  explicit Grid(SiteMap sites) : map(std::move(sites)), files(map) {}
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;

  void on(const HostUp& event);
  /// False when the host is not up, or takes no work already.
  bool on(const HostDraining& event);
  /// After every run has let go of what it had there.
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

  /// Something happened that any run's plan may depend on.
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
  /// An attempt takes up its part of the host. REQUIRES: the host is up.
  void occupy(HostId host, const schedule::Ongoing& given, schedule::Load load,
              std::span<const FileId> reads);
  void vacate(HostId host, const TaskKey& key, schedule::Load load, std::span<const FileId> reads);
  /// nullptr when the host does not have it.
  [[nodiscard]] schedule::Ongoing* find_ongoing(HostId host, const TaskKey& key);
  /// Can some host that takes work ever run such a task?
  [[nodiscard]] bool fits_somewhere(const TaskNeeds& needs) const;
  [[nodiscard]] bool depot_holds(SiteId site, std::span<const FileId> read) const {
    return site == kHome || !(files.bytes_of(read) > map.depot(site));
  }
  /// For a task that reads these files, as far as depots have limits.
  [[nodiscard]] MemoryRoom memory_room(const Resources& declared,
                                       std::span<const FileId> read) const;
  /// Hosts became much slower or faster, and plans may change again by now.
  [[nodiscard]] std::optional<PaceChange> take_pace_change(TimePoint now);
  /// When take_pace_change() has something; kNever if not.
  [[nodiscard]] TimePoint next_pace_change() const { return pace_changed_ ? heed_from_ : kNever; }

  // Files.
  // -------------------------------------------------------------------------
  [[nodiscard]] schedule::FileTraffic traffic(TimePoint now) {
    return {map, files.view(now), files.bytes(), now, map.learns ? &seen : nullptr};
  }
  /// Sends the file from the site that delivers first, which is returned. Nothing happens, and home
  /// is returned, when it is there or on its way.
  SiteId fetch(FileId file, SiteId to, TimePoint now, std::vector<Action>& actions);
  void move(FileId file, const schedule::FileSource& from, SiteId to, TimePoint now,
            std::vector<Action>& actions);
  /// Who asks for room in a depot.
  enum class Asker : std::uint8_t {
    task,   ///< idle files that ready tasks read may make way
    other,  ///< a file sent ahead, or a twin: only files that no ready task reads make way
  };
  /// Drops files until these all have room at the site. Drops none when they cannot.
  bool make_room(std::span<const FileId> wanted, SiteId site, Asker asker,
                 std::vector<Action>& actions);

  SiteMap map;
  std::map<HostId, HostState> hosts;      ///< those that are up
  std::vector<schedule::HostLoad> shown;  ///< of them; those that rest come last
  std::size_t working_hosts = 0;          ///< those that do not
  std::map<HostId, HostQueued> coming;    ///< those that will be up
  FileTable files;
  forecast::GridForecast seen;  ///< what was learnt of hosts and links
  std::set<SiteId> crowded;     ///< where a task was refused for want of room, and none came since
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
  /// By cores and walltime, of tasks that read no files; empty when hosts have changed.
  mutable std::map<std::pair<std::uint32_t, Duration>, MemoryRoom> rooms_;
};

}  // namespace gantry::engine
