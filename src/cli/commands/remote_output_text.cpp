#include "cli/commands/remote_output_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "cli/terminal/display_text.hpp"
#include "model/quantity.hpp"

namespace gantry::cli {
namespace {

/// "3 outputs (1 MiB)".
std::string amount_text(const query::RemoteOutputs& outputs) {
  std::uint64_t bytes = 0;
  for (const auto& output : outputs) bytes += output.file.bytes;
  return fmt::format("{} output{} ({})", outputs.size(), outputs.size() == 1 ? "" : "s",
                     format_bytes(bytes));
}

/// "are kept at lab; gantry fetch brings them home".
std::string fetch_text(const query::RemoteOutputs& outputs, const std::string& words) {
  std::set<std::string> sites;
  for (const auto& output : outputs) sites.insert(one_line(output.file.site));
  const bool one = outputs.size() == 1;
  return fmt::format("{} kept at {}; gantry fetch{} brings {} home", one ? "is" : "are",
                     fmt::join(sites, ", "), words, one ? "it" : "them");
}

}  // namespace

std::string remote_output_text(const store::RunRecord& run, const query::OutputsAtSites& outputs) {
  const auto& [ours, others, is_last] = outputs;
  if (ours.empty() && others.empty()) return {};
  if (ours.empty())
    return fmt::format("{} of other runs {}", amount_text(others), fetch_text(others, " --all"));
  std::string text =
      fmt::format("{} {}", amount_text(ours),
                  fetch_text(ours, is_last ? "" : fmt::format(" --run {}", run.id.value())));
  if (!others.empty()) text += fmt::format(", with --all also {} of other runs", others.size());
  return text;
}

}  // namespace gantry::cli
