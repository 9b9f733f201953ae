#include "schedule/gantt/heuristic.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/chance.hpp"

namespace gantry::schedule {

namespace {

/// A well mixed number for each index.
std::uint64_t drawn(std::uint64_t seed, std::uint64_t index) {
  return mixed(seed + index * 0x9e3779b97f4a7c15);
}

/// A random order of 0..count-1: the rank of each.
std::vector<std::uint32_t> ranks(std::size_t count, std::uint64_t seed) {
  std::vector<std::pair<std::uint64_t, std::uint32_t>> order(count);
  for (std::uint32_t i = 0; i < count; ++i) order[i] = {drawn(seed, i), i};
  std::ranges::sort(order);
  std::vector<std::uint32_t> result(count);
  for (std::uint32_t rank = 0; rank < count; ++rank) result[order[rank].second] = rank;
  return result;
}

}  // namespace

std::string_view name(Heuristic heuristic) {
  constexpr std::array<std::string_view, 4> kNames{"min-min", "max-min", "sufferage", "xsufferage"};
  return kNames[static_cast<std::size_t>(heuristic)];
}

Priority priority(Heuristic heuristic, const Completion& best, Seconds other, double work,
                  std::uint32_t class_rank) {
  switch (heuristic) {
    case Heuristic::min_min:
      return {best.returned, best.end, work, class_rank};
    case Heuristic::max_min:
      return {-best.returned, -best.end, -work, class_rank};
    case Heuristic::sufferage:
    case Heuristic::xsufferage:
      break;
  }
  if (other == kInfinite) return {-kInfinite, best.returned, best.end, class_rank};
  return {best.returned - other, 0, 0, class_rank};
}

TieRanks::TieRanks(const Situation& situation, std::uint64_t seed)
    : of_class(ranks(situation.classes.size(), drawn(seed, 0))),
      of_host(ranks(situation.hosts.size(), drawn(seed, 1))) {}

}  // namespace gantry::schedule
