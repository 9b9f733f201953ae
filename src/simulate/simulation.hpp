#pragma once
/// One run in virtual time: the engine and the strategy of real runs, with the event kernel for a
/// clock and an actuator. Same arguments, same result.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "engine/engine.hpp"
#include "engine/run/workload.hpp"
#include "schedule/estimate_source.hpp"
#include "schedule/scheduler.hpp"
#include "simulate/kernel_world.hpp"

namespace gantry::simulate {

struct VirtualHost {
  HostSpec spec;
  SiteId site = kHome;
};

/// A link between two sites other than home.
struct PeerLink {
  SiteId one;
  SiteId other;
  LinkSpec spec;
};

/// Sites are 0 .. links.size() - 1; 0 is home.
struct VirtualGrid {
  std::vector<VirtualHost> hosts;
  /// Between home and each site, for shared files and outputs; none: files are there at once.
  /// Tasks' own inputs have a stream of their own, as fast as this one.
  std::vector<std::optional<LinkSpec>> links{std::nullopt};
  std::vector<std::pair<FileId, SiteId>> staged{};  ///< shared files that are at sites already
  std::vector<double> depots{};   ///< bytes that sites may hold, by site; without: no limit
  std::vector<PeerLink> peers{};  ///< for shared files; two sites have one at most
};

struct VirtualTask {
  TaskId task;
  std::uint32_t host = 0;  ///< index in the grid
  double started = 0;
  double computed = 0;
  double returned = 0;  ///< its output is home
};

struct VirtualMove {
  FileId file;
  SiteId site;
  double sent = 0;
  double arrived = 0;
  SiteId from = kHome;
};

struct VirtualDrop {
  FileId file;
  SiteId site;
  double at = 0;
};

struct Simulated {
  double makespan = 0;  ///< until the last output is home
  double bytes_moved = 0;
  double wasted = 0;  ///< seconds that slots computed for attempts that another one beat
  std::vector<VirtualTask> tasks;  ///< by the end of their attempts
  std::vector<VirtualMove> moves;  ///< shared files, by arrival
  std::vector<VirtualDrop> drops;  ///< shared files that had to make room
  std::uint64_t events = 0;        ///< of the kernel
};

/// Called after the engine has applied an event.
using Watch = std::function<void(TimePoint now, const Event& event, const engine::RunView& run)>;

/// How an attempt ends.
struct Fate {
  double seconds = 0;  ///< until it ends, on an unloaded host of speed 1
  bool dies = false;   ///< then, instead of being done
};
/// The fate of an attempt, where the workload's costs do not tell. The same each time.
using FateOf = std::function<Fate(TaskId task, AttemptId attempt)>;

/// Costs of the workload are seconds on an unloaded host of speed 1. With `fate_of`, which then
/// says how long attempts take, they are only declared. Fails when tasks remain that nothing will
/// ever start, or when one fails for good.
Result<Simulated> simulate(const engine::Workload& workload, const VirtualGrid& grid,
                           std::unique_ptr<schedule::Scheduler> strategy, Watch watch = {},
                           FateOf fate_of = {});

/// What the grid's traces say: exact, but for what else uses a link meanwhile.
[[nodiscard]] std::shared_ptr<const schedule::EstimateSource> exact_estimates(
    const VirtualGrid& grid);
/// What a real run would know: how the grid was at the beginning, and what it has seen since.
[[nodiscard]] std::shared_ptr<const schedule::EstimateSource> learned_estimates(
    const VirtualGrid& grid);

}  // namespace gantry::simulate
