#include "cli/commands/run_text.hpp"

#include <fmt/format.h>

#include "cli/terminal/display_text.hpp"
#include "cli/terminal/format.hpp"
#include "cli/terminal/json_line.hpp"

namespace gantry::cli {

std::string cancel_command(RunId run, const std::string& tasks, const std::string& grid) {
  return fmt::format("gantry cancel{}{} --run {} --grid {}", tasks.empty() ? "" : " ", tasks,
                     run.value(), grid.empty() ? "FILE" : shell_quote(grid));
}

std::string next_for_unseen(RunId run, const std::string& grid) {
  return fmt::format(
      "the same gantry run again asks the sites and goes on with what runs there; {} ends it",
      cancel_command(run, "", grid));
}

std::string sites_text(const query::AgentView::Tally& outlived) {
  std::string text;
  for (const auto& site : outlived.sites) text += (text.empty() ? "" : ", ") + one_line(site);
  return text;
}

void append_run_json(std::string& out, const store::RunRecord& record,
                     const query::RunStatus& status) {
  const store::Counts& counts = status.counts;
  JsonLine line(out);
  line.number("run", record.id.value())
      .text("name", record.name)
      .text("state", to_string(status.phase))
      .number("total", counts.total)
      .number("done", counts.done)
      .number("reused", counts.reused)
      .number("failed", counts.failed)
      .number("cancelled", counts.cancelled)
      .number("running", counts.running)
      .number("pending", status.pending)
      .number("unknown", status.unknown)
      .number("waiting_ends", status.outlived.ended);
  const bool known = status.eta.expected > Duration{0};
  for (const auto& [name, time] : {std::pair("eta_seconds", status.eta.expected),
                                   std::pair("eta_soonest_seconds", status.eta.soonest),
                                   std::pair("eta_latest_seconds", status.eta.latest)}) {
    if (known)
      line.real(name, seconds(time));
    else
      line.null(name);
  }
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
