#pragma once
/// Looks for the lists of files to fetch with which a FetchDecoder ends first: tries small changes
/// under a deadline that shrinks whenever it was met. A pure function; same arguments, same answer.

#include <cstdint>
#include <vector>

#include "schedule/gantt/fetch_decoder.hpp"

namespace gantry::schedule {

struct FetchSearchOptions {
  std::uint32_t decodings = 300;  ///< at most
  std::uint64_t seed = 0;
};

struct FetchPlan {
  FetchLists lists;
  Seconds makespan = kInfinite;
  GanttPlan plan;
};

/// `starts`: lists to begin with; at least one. A task that could never complete anywhere is left
/// out.
[[nodiscard]] FetchPlan search_fetches(const Situation& situation, const Estimates& estimates,
                                       const std::vector<FetchLists>& starts,
                                       const FetchSearchOptions& options);

/// What a plan makes each site fetch.
[[nodiscard]] FetchLists fetches_of(const GanttPlan& plan, std::size_t sites);

}  // namespace gantry::schedule
