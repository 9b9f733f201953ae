#include "actuate/launch/batch/pilot_need.hpp"

namespace gantry {

namespace {

std::uint64_t offered_by(const PilotUse& pilot) {
  if (pilot.stage == PilotUse::Stage::coming) return pilot.slots;
  const bool offers = pilot.stage == PilotUse::Stage::up && !pilot.shunned;
  return offers ? pilot.free : 0;
}

}  // namespace

std::uint64_t offered_cores(std::span<const PilotUse> pilots) {
  std::uint64_t sum = 0;
  for (const PilotUse& pilot : pilots) sum += offered_by(pilot);
  return sum;
}

bool is_superfluous(std::uint64_t waiting_cores, std::span<const PilotUse> pilots,
                    std::size_t index) {
  const PilotUse& pilot = pilots[index];
  if (pilot.stage == PilotUse::Stage::absent) return false;
  if (pilot.stage == PilotUse::Stage::up && pilot.free < pilot.slots) return false;
  return waiting_cores + offered_by(pilot) <= offered_cores(pilots) || pilot.shunned;
}

}  // namespace gantry
