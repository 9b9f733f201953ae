#include "cli/commands/run_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "cli/terminal/display_text.hpp"
#include "cli/terminal/format.hpp"
#include "cli/terminal/json_line.hpp"
#include "model/quantity.hpp"

namespace gantry::cli {
namespace {

/// "3 outputs (1 MiB)".
std::string amount_text(const query::RemoteOutputs& outputs) {
  std::uint64_t bytes = 0;
  for (const auto& output : outputs) bytes += output.file.bytes;
  return fmt::format("{} ({})", count_of(outputs.size(), "output"), format_bytes(bytes));
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

std::string cancel_command(RunId run, const std::string& tasks, const std::string& grid) {
  return fmt::format("gantry cancel{}{} --run {} --grid {}", tasks.empty() ? "" : " ", tasks,
                     run.value(), grid.empty() ? "FILE" : shell_quote(grid));
}

std::string next_for_unseen(RunId run, const std::string& grid) {
  return fmt::format(
      "the same gantry run again asks the sites and adopts what runs there; {} ends it",
      cancel_command(run, "", grid));
}

std::string sites_text(const query::AgentView::Tally& outlived) {
  std::string text;
  for (const auto& site : outlived.sites) text += (text.empty() ? "" : ", ") + one_line(site);
  return text;
}

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

void append_run_json(std::string& out, const store::RunRecord& record,
                     const query::RunStatus& status) {
  const store::Counts& counts = status.counts;
  JsonLine line(out);
  line.number("run", record.id.value()).text("name", record.name);
  line.text("state", to_string(status.phase)).number("total", counts.total);
  line.number("done", counts.done).number("reused", counts.reused);
  line.number("failed", counts.failed).number("cancelled", counts.cancelled);
  line.number("running", counts.running).number("pending", status.pending);
  line.number("unknown", status.unknown).number("waiting_ends", status.outlived.ended);
  const auto left = [&](Duration time) {
    return status.eta.expected > Duration{0} ? std::optional(seconds(time)) : std::nullopt;
  };
  line.real("eta_seconds", left(status.eta.expected))
      .real("eta_soonest_seconds", left(status.eta.soonest))
      .real("eta_latest_seconds", left(status.eta.latest));
  if (status.driver)
    line.number("pid", *status.driver);
  else
    line.null("pid");
  line.text("created", format_time_iso(record.created))
      .text("updated", format_time_iso(record.updated));
  if (record.source.one_liner)
    line.null("sweep_file");
  else
    line.text("sweep_file", record.source.path);
  line.close();
}

}  // namespace gantry::cli
