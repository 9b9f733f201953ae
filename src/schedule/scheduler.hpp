#pragma once
/// The seam between the engine and its strategies. A Scheduler is told of events and asked for a
/// plan; a plan is intents, not reservations: the engine checks each against live state before it
/// acts. Strategies see classes of tasks and hosts, never a million tasks, and never an actuator.
/// Owned by the engine, called from its thread.

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "base/time.hpp"
#include "forecast/run_time.hpp"
#include "model/event.hpp"
#include "model/host.hpp"
#include "model/task.hpp"
#include "schedule/packing.hpp"

namespace gantry::schedule {

/// Tasks that need the same resources. A class exists while tasks of it are ready; its id is never
/// used again.
using ClassId = StrongId<struct ClassTag, std::uint32_t>;

struct ReadyClass {
  ClassId id;
  Resources resources;
  /// One entry for each ready task, in the order in which the class hands them out: its place in
  /// the work queue of all classes (lower is earlier). Never empty.
  const std::deque<std::uint64_t>* places = nullptr;
};

struct HostLoad {
  const Host* host = nullptr;
  Load load = 0;  ///< of all that was handed over and has not ended
};

/// What a strategy sees. Ordered by id; valid during the call only.
struct World {
  TimePoint now;
  std::span<const ReadyClass> classes;
  std::span<const HostLoad> hosts;
  const forecast::RunTimeForecast& run_times;
};

/// Hand the next task of this class to this host.
struct Intent {
  ClassId task_class;
  HostId host;
  friend bool operator==(const Intent&, const Intent&) = default;
};

class Scheduler {
 public:
  virtual ~Scheduler() = default;

  /// Every event of the run, after the engine applied it. A strategy that plans from the World
  /// alone ignores it.
  virtual void observe(const Event& event) = 0;

  /// In the order in which to carry them out. Same events, same world: same plan.
  [[nodiscard]] virtual std::vector<Intent> plan(const World& world) = 0;
};

}  // namespace gantry::schedule
