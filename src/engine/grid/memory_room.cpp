// What hosts have for tasks whose memory is learnt.
#include <algorithm>
#include <limits>

#include "engine/grid/grid_state.hpp"
#include "forecast/learned_memory.hpp"
#include "schedule/packing.hpp"

namespace gantry::engine {

namespace {
/// Where nobody knows what hosts have: at a batch system with a job for each task.
constexpr std::uint64_t kUnknownShare = std::uint64_t{1} << 30U;
constexpr std::uint64_t kAnyAmount = std::uint64_t{1} << 50U;

std::uint64_t whole_mib(std::uint64_t bytes) {
  constexpr std::uint64_t kMib = std::uint64_t{1} << 20U;
  return bytes < kMib ? bytes : bytes / kMib * kMib;
}

/// What a host gives to a task of so many cores. A batch system that refused so much may have a
/// little less: a step of forecast::coarse_memory.
std::uint64_t memory_for(const Host& host, std::uint32_t cores) {
  std::uint64_t most = host.memory;
  for (const Refusal& refusal : host.refusals)
    if (cores >= refusal.cores) most = std::min(most, refusal.memory / 19 * 16);
  return whole_mib(most);
}
}  // namespace

MemoryRoom Grid::memory_room(const Resources& declared, std::span<const FileId> read) const {
  if (!read.empty()) return look_for_room(declared, read);
  const auto [known, is_new] = rooms_.try_emplace({declared.cores, declared.walltime});
  if (is_new) known->second = look_for_room(declared, {});
  return known->second;
}

MemoryRoom Grid::look_for_room(const Resources& declared, std::span<const FileId> read) const {
  const std::uint32_t cores = std::max(declared.cores, 1U);
  MemoryRoom room{.share = std::numeric_limits<std::uint64_t>::max()};
  for (const schedule::HostLoad& load : working()) {
    const Host& host = *load.host;
    const std::uint32_t slots = schedule::slots(host, declared);
    if (slots == 0 || !schedule::is_lent_long_enough(host, declared)) continue;
    if (!depot_holds(host.site, read)) continue;
    const std::uint64_t here = memory_for(host, cores);
    // It does not refuse for the memory.
    constexpr std::uint64_t kLeast = forecast::LearnedMemory::kLeast;
    if (here < kLeast && !host.refusals.empty()) continue;
    const std::uint64_t share = here < kAnyAmount ? whole_mib(here / slots) : kUnknownShare * cores;
    room.share = std::min({room.share, std::max(share, kLeast), here});
    if (room.largest.empty() || here > room.most) room.largest = host.name;
    room.most = std::max(room.most, here);
  }
  if (!room.largest.empty()) return room;
  return {.share = kUnknownShare * cores, .most = std::numeric_limits<std::uint64_t>::max()};
}

}  // namespace gantry::engine
