#include "cli/commands/stored_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/commands/selector.hpp"
#include "cli/terminal/display_text.hpp"
#include "cli/terminal/format.hpp"
#include "cli/terminal/json_line.hpp"

namespace gantry::cli {
namespace {

tl::unexpected<Error> no_runs(const Context& context) {
  return fail(ErrorCode::usage,
              fmt::format("there are no runs in {}", one_line(context.state_dir.string())),
              "start one with 'gantry run', go to the directory where you did, or name it with "
              "--state DIR");
}

}  // namespace

Result<store::Store> open_store(const Context& context, store::Access access) {
  std::error_code ignored;
  if (!std::filesystem::exists(context.state_dir / "gantry.db", ignored)) return no_runs(context);
  return store::Store::open(context.state_dir, access);
}

Result<StoredRun> open_run(const Context& context, std::string_view selector,
                           store::Access access) {
  TRY_ASSIGN(const RunSelector which, parse_run_selector(selector));
  if (which.kind == RunSelector::Kind::all)
    return fail(ErrorCode::usage, "this command is about one run, not all",
                "name it: last, or its number");
  TRY_ASSIGN(store::Store store, open_store(context, access));
  const bool last = which.kind == RunSelector::Kind::last;
  TRY_ASSIGN(auto record, last ? store.last_run() : store.run(which.id));
  if (!record && last) return no_runs(context);
  if (!record)
    return fail(ErrorCode::usage, fmt::format("there is no run {}", which.id.value()),
                "'gantry runs' lists them");
  return StoredRun{std::move(store), std::move(*record)};
}

std::optional<int> driver_of(const store::RunRecord& record, std::optional<int> holder) {
  // Holder 0 has not written its number yet; the record's own tells which run it drives.
  const bool driven = holder && record.pid != 0 && (*holder == 0 || *holder == record.pid);
  return driven ? std::optional<int>(record.pid) : std::nullopt;
}

std::string_view run_state(const store::RunRecord& record, std::optional<int> holder) {
  if (driver_of(record, holder)) return "running";
  return record.state == store::RunState::finished ? "finished" : "interrupted";
}

Eta eta_of(const store::RunRecord& record, TimePoint now) {
  if (record.eta.expected <= Duration{0}) return {};
  constexpr Duration kSoon = std::chrono::milliseconds(100);
  const Duration passed = std::max(now - record.updated, Duration{0});
  const auto left = [&](Duration rest) { return std::max(rest - passed, kSoon); };
  return {left(record.eta.expected), left(record.eta.soonest), left(record.eta.latest)};
}

std::uint32_t pending_of(const store::Counts& counts) {
  const std::uint64_t accounted =
      std::uint64_t{counts.done} + counts.failed + counts.cancelled + counts.running;
  return accounted < counts.total ? static_cast<std::uint32_t>(counts.total - accounted) : 0;
}

std::uint32_t unknown_of(const store::Counts& counts, const AgentView::Tally& outlived) {
  return std::min(pending_of(counts), outlived.may_run);
}

std::string next_for_unseen(RunId run, const std::string& grid) {
  return fmt::format(
      "the same gantry run again asks the sites and adopts what runs there; {} ends it",
      cancel_command(run, "", grid));
}

Result<AgentView::Tally> outlived(const store::Store& store, const AgentView& agent,
                                  const store::RunRecord& record, std::optional<int> holder) {
  if (driver_of(record, holder)) return AgentView::Tally{};
  return agent.count(store, record.id);
}

void append_run_json(std::string& out, const store::RunRecord& record, std::optional<int> holder,
                     const AgentView::Tally& outlived) {
  store::Counts counts = record.counts;
  const auto driver = driver_of(record, holder);
  if (!driver) counts.running = outlived.running;
  JsonLine line(out);
  line.number("run", record.id.value())
      .text("name", record.name)
      .text("state", run_state(record, holder))
      .number("total", counts.total)
      .number("done", counts.done)
      .number("reused", counts.reused)
      .number("failed", counts.failed)
      .number("cancelled", counts.cancelled)
      .number("running", counts.running)
      .number("pending", pending_of(counts) - unknown_of(counts, outlived))
      .number("unknown", unknown_of(counts, outlived))
      .number("waiting_ends", outlived.ended);
  const Eta eta = eta_of(record, RealClock{}.now());
  const bool known = driver && eta.expected > Duration{0};
  for (const auto& [name, time] :
       {std::pair("eta_seconds", eta.expected), std::pair("eta_soonest_seconds", eta.soonest),
        std::pair("eta_latest_seconds", eta.latest)}) {
    if (known)
      line.real(name, seconds(time));
    else
      line.null(name);
  }
  if (driver)
    line.number("pid", *driver);
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
