#include "model/outcome.hpp"

#include <fmt/format.h>

#include <cstring>

namespace gantry {

std::string_view to_string(FailureCause cause) {
  switch (cause) {
    case FailureCause::none:
      return "ok";
    case FailureCause::exit_code:
      return "exit code";
    case FailureCause::signal:
      return "signal";
    case FailureCause::timeout:
      return "timeout";
    case FailureCause::out_of_memory:
      return "out of memory";
    case FailureCause::missing_output:
      return "missing output";
    case FailureCause::missing_result:
      return "missing result";
    case FailureCause::start_failed:
      return "start failed";
    case FailureCause::missing_input:
      return "missing input";
    case FailureCause::cancelled:
      return "cancelled";
    case FailureCause::lost:
      return "lost";
    case FailureCause::checkpointed:
      return "checkpointed";
  }
  return "unknown";
}

std::string describe(FailureCause cause, std::int32_t code, std::string_view detail) {
  const auto with = [&](std::string text) {
    if (!detail.empty()) text += fmt::format(": {}", detail);
    return text;
  };
  switch (cause) {
    case FailureCause::exit_code:
      return with(fmt::format("exit code {}", code));
    case FailureCause::signal:
      return with(fmt::format("killed by signal {} ({})", code, strsignal(code)));
    default:
      return with(std::string(to_string(cause)));
  }
}

}  // namespace gantry
