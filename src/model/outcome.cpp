#include "model/outcome.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstring>
#include <system_error>

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

std::uint64_t memory_limit(const AttemptReport& report) {
  constexpr std::string_view kBefore = "limit ";
  constexpr std::string_view kAfter = " MiB";
  constexpr std::uint64_t kMost = std::uint64_t{1} << 40U;
  if (report.cause != FailureCause::out_of_memory || !report.detail.starts_with(kBefore)) return 0;
  const std::string_view text = std::string_view(report.detail).substr(kBefore.size());
  std::uint64_t mib = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mib);
  const std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
  return error == std::errc{} && mib <= kMost && rest.starts_with(kAfter) ? mib << 20U : 0;
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
