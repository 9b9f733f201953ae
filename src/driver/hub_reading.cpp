// Hub: actions that wait until the files they need have been read.
#include <algorithm>
#include <utility>

#include "driver/hub.hpp"

namespace gantry::driver {

void Hub::park(const Action& action) {
  parked_.push_back({action, contents_.asked_for()});
}

Result<> Hub::carry_out_read() {
  TRY(contents_.take_read());
  std::vector<Action> ready;
  std::erase_if(parked_, [&](Parked& parked) {
    if (parked.files > contents_.has_read()) return false;
    ready.push_back(std::move(parked.action));
    return true;
  });
  carry_out(ready);
  return {};
}

bool Hub::unpark(HostId host, std::span<const TaskKey> keys) {
  std::vector<TaskKey> returned;
  std::erase_if(parked_, [&](const Parked& parked) {
    const auto* start = std::get_if<StartAttempt>(&parked.action);
    if (start == nullptr || start->host != host) return false;
    if (!keys.empty() && std::ranges::find(keys, start->key) == keys.end()) return false;
    returned.push_back(start->key);
    return true;
  });
  for (const TaskKey& key : returned) engine_.apply(AttemptReturned{key, host});
  return !returned.empty();
}

}  // namespace gantry::driver
