#pragma once
/// How long the rest of a run takes, from what was learnt of its tasks and hosts, and what chance
/// does to that: where few tasks are left, the rest is played with run times that were seen. For
/// the Bookkeeper; refers to what it was made from. Pure.

#include <optional>
#include <vector>

#include "forecast/likely_times.hpp"
#include "forecast/look_ahead.hpp"
#include "forecast/open_run.hpp"
#include "forecast/played_rest.hpp"
#include "forecast/time_book.hpp"
#include "model/eta.hpp"

namespace gantry::forecast {

class RestForecast {
 public:
  RestForecast(const TimeBook& times, const OpenRun& run, TimePoint now)
      : times_(times), run_(run), now_(now) {}

  /// What may come of the rest, as run times were seen to differ, and when it is expected to end; 0
  /// when nothing is known.
  [[nodiscard]] Eta by_chance() const;
  /// The interval of by_chance(), made wider by what else is not known. `usual` is how sure such
  /// ends are by their history.
  [[nodiscard]] Eta widened(Eta usual, const Eta& chance) const;

 private:
  /// What has to be done yet, and who does it.
  struct Remaining {
    double cost = 0;
    std::uint64_t tasks = 0;
    double longest = 0;  ///< seconds that are left of a task which was given to a host
    std::uint64_t slots = 0;
    double speed = 0;  ///< of all of them: cost in a second

    void add_slots(std::uint32_t count, double pace) {
      slots += count;
      speed += count / pace;
    }
  };

  /// by_chance() without back-offs.
  [[nodiscard]] Eta played() const;
  [[nodiscard]] bool has_plan() const {
    return run_.planned_end != kNever && run_.planned_end > now_;
  }
  /// Few tasks are left, and the strategy has not told when they end.
  [[nodiscard]] bool is_played() const;
  /// The last one whose back-off ends has yet to run then; 0 = none.
  [[nodiscard]] Duration until_retried() const;
  /// How long the rest will take but for back-offs; 0 = not known. nullptr: by what hosts were like
  /// of late.
  [[nodiscard]] Duration rest(const LikelyTimes* likely) const;
  [[nodiscard]] Remaining remaining(const LikelyTimes* likely, double unit) const;
  /// Seconds until all are done at the same time; nothing if nobody works.
  [[nodiscard]] std::optional<double> even(const Remaining& left) const;
  /// Seconds, by the plan if there is one that can be right.
  [[nodiscard]] double as_planned(double even) const;
  /// Until the first of the jobs that wait in queues comes, if there is nothing else to run on and
  /// that is known.
  [[nodiscard]] std::optional<QueueWaits::Rest> rest_of_queue() const;
  /// If all that is yet to start were as quick as what was quickest.
  [[nodiscard]] Duration soonest_possible() const;
  /// For a cost of 1.
  [[nodiscard]] RestOfRun to_play(const LikelyTimes& likely) const;
  /// Of what has not ended; an estimate.
  [[nodiscard]] double mean_open_cost() const;
  /// By what is not known of tasks beyond those that were seen.
  [[nodiscard]] Margin unseen() const;

  const TimeBook& times_;
  const OpenRun& run_;
  TimePoint now_;
};

}  // namespace gantry::forecast
