#pragma once
/// Why an attempt ended, as an agent can tell. The numbers are those of model/outcome.hpp's
/// FailureCause, which the agent may not include; actuate asserts that they agree.

#include <cstdint>

namespace gantry::agent {

enum class Cause : std::uint8_t {
  none = 0,
  exit_code = 1,
  signal = 2,
  timeout = 3,
  out_of_memory = 4,
  missing_output = 5,
  start_failed = 7,
  cancelled = 9,
  lost = 10,
  checkpointed = 11,
};

}  // namespace gantry::agent
