// Hosts that have nothing to do, and tasks that wait behind others' tasks.
#include <algorithm>
#include <limits>
#include <utility>

#include "engine/run/run.hpp"
#include "schedule/packing.hpp"

namespace gantry::engine {

namespace {
/// So often it is looked, at the most: there may be thousands of hosts.
constexpr Duration kLookRest = std::chrono::seconds(1);
/// A host that was given its tasks again is left alone for so long: the strategy has its reasons,
/// such as grid.files.
constexpr Duration kShareRest = std::chrono::seconds(10);
}  // namespace

void Run::share_with_idle(TimePoint now, std::vector<Action>& actions) {
  const bool came = std::exchange(newcomers, false);
  share_again = kNever;
  if (ready.placeable() > 0 || tasks.selected().handed_over == 0) return;
  if (!came && shared != kNever && now < shared + kLookRest) {
    share_again = shared + kLookRest;
    return;
  }
  const auto mean = run_times().mean();
  const bool worth_moving = mean && *mean >= kWorthRecalling && !appetite.takes_over;
  if (!came && !worth_moving) return;
  const double unit = seconds(run_times().expected(1).value_or(Duration{0}));
  const auto there = idle_pace(unit);
  if (!there) return;
  shared = now;
  // What runs may turn out to be late while nothing happens.
  if (worth_moving) share_again = now + kLookRest;
  for (const schedule::HostLoad& load : grid.working()) {
    if (load.load <= schedule::kFull) continue;
    const HostId host = load.host->id;
    if (!came) {
      TimePoint& last = attempts.shared(host);
      if (last != kNever && now < last + kShareRest) continue;
      if (!is_sooner_elsewhere(load, *there, unit, now)) continue;
      last = now;
    }
    recall(host, actions);
  }
}

std::optional<double> Run::idle_pace(double unit) const {
  std::optional<double> best;
  for (const schedule::HostLoad& load : grid.working()) {
    if (!schedule::is_free(*load.host, load.load, typical)) continue;
    const double pace = pace_of(*load.host).value_or(unit);
    if (!best || pace < *best) best = pace;
  }
  return best;
}

bool Run::is_sooner_elsewhere(const schedule::HostLoad& load, double pace_there, double unit,
                              TimePoint now) const {
  const double pace = pace_of(*load.host).value_or(unit);
  double soonest = std::numeric_limits<double>::infinity();
  const schedule::Ongoing* waits = nullptr;
  for (const schedule::Ongoing& given : load.ongoing) {
    // What another run's tasks cost is not known here.
    const double whole = given.run == run_id ? given.cost * pace : seconds(given.expected);
    if (given.started != kNever)
      soonest = std::min(
          soonest, book.times().left_of(load.host->id, whole, given.started, given.begun, now));
    else if (waits == nullptr && given.run == run_id && given.attempt != AttemptId{})
      waits = &given;
  }
  // Where nothing runs yet, what was given is about to.
  if (waits == nullptr || soonest == std::numeric_limits<double>::infinity()) return false;
  return soonest + (pace - pace_there) * waits->cost > seconds(kWorthRecalling);
}

}  // namespace gantry::engine
