#include "engine/run/retry_queue.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>

namespace gantry::engine {

Duration backoff_before(const RetryPolicy& policy, std::uint32_t retry) {
  const double most = seconds(std::max(policy.max_backoff, Duration{0}));
  const double wait = seconds(policy.backoff) * std::pow(policy.factor, retry - 1.0);
  if (std::isnan(wait)) return Duration{0};
  return from_seconds(std::clamp(wait, 0.0, most));
}

bool is_crowded(FailureCause cause, std::int32_t code) {
  constexpr std::array kCrowded{EAGAIN, ENOMEM, EMFILE, ENFILE};
  return cause == FailureCause::start_failed && std::ranges::find(kCrowded, code) != kCrowded.end();
}

bool worth_retrying(FailureCause cause, std::int32_t code) {
  switch (cause) {
    case FailureCause::exit_code:
    case FailureCause::signal:
    case FailureCause::timeout:
    case FailureCause::out_of_memory:
    case FailureCause::missing_output:
    case FailureCause::missing_result:
      return true;
    case FailureCause::start_failed:
      return is_crowded(cause, code) || code == ETXTBSY || code == EINTR;
    case FailureCause::none:
    case FailureCause::missing_input:
    case FailureCause::cancelled:
    case FailureCause::lost:
    case FailureCause::checkpointed:
      return false;
  }
  return false;
}

}  // namespace gantry::engine
