#include "cli/commands/forecast_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/terminal/display_text.hpp"
#include "cli/terminal/format.hpp"
#include "forecast/run_time_model.hpp"
#include "model/quantity.hpp"

namespace gantry::cli {

namespace {

using store::LiveForecast;
using store::LiveHost;
using store::LiveSite;
using store::LiveState;

constexpr std::size_t kMostFamily = 20;    ///< characters of a name
constexpr std::size_t kModelColumns = 80;  ///< of a line about a model

std::string percent(double share) {
  return fmt::format("{:.0f}%", 100 * share);
}

/// "-" where nothing has come due yet.
std::vector<Cell> forecast_cells(std::string what, const LiveForecast& forecast,
                                 std::string (*show)(double)) {
  const bool scored = forecast.scored > 0;
  return {{std::move(what)},
          {show(forecast.value)},
          {show(forecast.low) + " to " + show(forecast.high)},
          {scored ? percent(forecast.error) : "-"},
          {scored ? percent(forecast.inside) : "-"},
          {std::to_string(forecast.observed)},
          {one_line(forecast.member)}};
}

std::string pace_text(double seconds) {
  return format_duration(from_seconds(std::min(seconds, 1e9)));
}

std::string run_line(const LiveState& state, bool goes_on, TimePoint now) {
  const store::LiveRun* one = state.find(RunId(state.run));
  const store::Counts& counts = one != nullptr ? one->counts : state.counts;
  std::string line =
      fmt::format("run {}, {}: {} of {} tasks done", state.run,
                  one_line(state.scheduler).substr(0, kMostFamily), counts.done, counts.total);
  if (counts.failed > 0) line += fmt::format(", {} failed", counts.failed);
  if (!goes_on && !state.draining.empty()) line += "; " + one_line(state.draining);
  if (!goes_on || state.ends == kNever) return line;
  const auto until = [&](TimePoint time) { return std::max(time - now, from_seconds(1)); };
  return line + ", ETA " +
         format_eta({until(state.ends), until(state.ends_soonest), until(state.ends_latest)});
}

void add_model(const store::LiveModel& model, std::vector<std::string>& lines) {
  if (model.family.empty()) return;
  if (model.family == forecast::family_name(forecast::ModelFamily::mean)) {
    lines.push_back(
        fmt::format("by parameters: no model yet ({} seen)", count_of(model.tasks, "task")));
    return;
  }
  const std::string line =
      fmt::format("by parameters: {}, from {}; error {} of a plain mean's",
                  one_line(model.family).substr(0, kMostFamily), count_of(model.tasks, "task"),
                  percent(std::min(model.error, 10.0)));
  lines.push_back(fit(line, kModelColumns, false));
  lines.push_back(fmt::format("such as task {}: {} ({} to {})", model.example,
                              pace_text(model.seconds), pace_text(model.low),
                              pace_text(model.high)));
}

void add_memory(const store::LiveAmount& memory, std::vector<std::string>& lines) {
  if (memory.family.empty()) return;
  const std::string line =
      fmt::format("memory: {}, learnt from {}; {:.2f} times the high end is given",
                  one_line(memory.family).substr(0, kMostFamily), count_of(memory.tasks, "task"),
                  std::min(memory.margin, 99.0));
  lines.push_back(fit(line, kModelColumns, false));
  lines.push_back(
      fmt::format("such as to task {}: {}", memory.example, format_bytes(memory.bytes)));
}

void add_outputs(const store::LiveAmount& outputs, std::vector<std::string>& lines) {
  if (outputs.family.empty()) return;
  const bool alike = outputs.family == forecast::family_name(forecast::ModelFamily::mean);
  const std::string line = fmt::format(
      "outputs: {}, from {}{}",
      alike ? "do not depend on parameters" : one_line(outputs.family).substr(0, kMostFamily),
      count_of(outputs.tasks, "task"),
      alike ? ""
            : fmt::format("; error {} of a plain mean's", percent(std::min(outputs.error, 10.0))));
  lines.push_back(fit(line, kModelColumns, false));
  lines.push_back(fmt::format("such as of task {}: {} ({} to {})", outputs.example,
                              format_bytes(outputs.bytes), format_bytes(outputs.low),
                              format_bytes(outputs.high)));
}

void add_probes(const LiveState& state, std::vector<std::string>& lines) {
  for (const LiveSite& site : state.sites) {
    if (site.probes == 0) continue;
    std::string line = fmt::format("link to {}: probed {} while idle", one_line(site.name),
                                   count_of(site.probes, "time"));
    if (site.learnt_bandwidth > 0) line += ", carries " + format_bandwidth(site.learnt_bandwidth);
    lines.push_back(std::move(line));
  }
}

}  // namespace

std::vector<std::string> forecast_lines(const LiveState& state, bool goes_on, TimePoint now,
                                        const TableStyle& style) {
  std::vector<std::string> lines{run_line(state, goes_on, now)};
  if (state.run_times_scored > 0)
    lines.push_back(fmt::format("run times: {} came due, off by {} on average",
                                count_of(state.run_times_scored, "forecast"),
                                percent(state.run_times_error)));
  add_model(state.model, lines);
  add_memory(state.memory, lines);
  add_outputs(state.outputs, lines);
  std::uint64_t quarantined = 0;
  const auto add_table = [&](const char* title, const char* what, const auto& items, auto of,
                             std::string (*show)(double)) {
    Table table(
        {{title, false}, {what, false}, {"interval"}, {"error"}, {"inside"}, {"seen"}, {"by"}},
        style, [&](std::string_view line) { lines.emplace_back(line); });
    for (const auto& item : items) {
      const LiveForecast& forecast = item.*of;
      quarantined += forecast.quarantined;
      if (forecast.value > 0) table.add(forecast_cells(one_line(item.name), forecast, show));
    }
    table.finish();
  };
  add_table("host", "pace", state.hosts, &LiveHost::pace_forecast, pace_text);
  add_table("host", "share", state.hosts, &LiveHost::share_forecast, percent);
  add_table("link to", "carries", state.sites, &LiveSite::link_forecast, format_bandwidth);
  add_table("answer of", "takes", state.sites, &LiveSite::echo_forecast, pace_text);
  add_table("queue of", "wait", state.sites, &LiveSite::queue_forecast, pace_text);
  add_table("start at", "costs", state.sites, &LiveSite::launch_forecast, pace_text);
  add_probes(state, lines);
  if (quarantined > 0)
    lines.push_back(fmt::format("{} {} not believed: far from all others", quarantined,
                                quarantined == 1 ? "value was" : "values were"));
  if (state.more_hosts > 0) lines.push_back(fmt::format("and {} more hosts", state.more_hosts));
  return lines;
}

}  // namespace gantry::cli
