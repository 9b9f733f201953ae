#pragma once
/// How long the rest of a run takes, from what was learnt of its tasks and hosts, and what chance
/// does to that: where few tasks are left, the rest is played with run times that were seen. Pure
/// functions, for the Bookkeeper.

#include "forecast/open_run.hpp"
#include "forecast/time_book.hpp"
#include "model/eta.hpp"

namespace gantry::forecast {

struct RestInput {
  const TimeBook& times;
  const OpenRun& run;
  TimePoint now;
};

/// What may come of the rest, as run times were seen to differ, and when it is expected to end; 0
/// when nothing is known.
[[nodiscard]] Eta rest_by_chance(const RestInput& in);

/// How sure that is: `usual` by the history of such ends, made wider by chance and by what else is
/// not known.
[[nodiscard]] Eta widened_rest(const RestInput& in, Eta usual, const Eta& chance);

}  // namespace gantry::forecast
