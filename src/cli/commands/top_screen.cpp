#include "cli/commands/top_screen.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "cli/terminal/display_text.hpp"
#include "cli/terminal/format.hpp"
#include "cli/terminal/progress_text.hpp"
#include "model/quantity.hpp"

namespace gantry::cli {
namespace {

using store::LiveHost;
using store::LiveSite;
using store::LiveState;

constexpr std::string_view kTopIndent = "  ";
constexpr std::size_t kTasksShown = 8;
/// A site's line is wrapped, unless there is hardly room for a word.
constexpr std::size_t kWrapped = 40;
/// Of a driver that works; it writes more often.
constexpr Duration kStale = std::chrono::seconds(10);

driver::Progress progress_of(const LiveState& state, TimePoint now) {
  driver::Progress progress;
  progress.run = RunId(state.run);
  progress.counts = state.counts;
  progress.retrying = state.retrying;
  progress.elapsed = std::max(now - state.began, Duration{0});
  const auto until = [&](TimePoint time) {
    return time == kNever ? Duration{0} : std::max(time - now, from_seconds(1));
  };
  progress.eta = {until(state.ends), until(state.ends_soonest), until(state.ends_latest)};
  progress.tasks_per_second = state.tasks_per_second;
  progress.draining_why = state.draining;
  progress.draining = !state.draining.empty();
  for (const store::LiveRun& run : state.runs)
    progress.runs.push_back({RunId(run.run),
                             run.name,
                             run.counts,
                             {until(run.ends), until(run.ends_soonest), until(run.ends_latest)}});
  return progress;
}

std::string link_text(const LiveSite& site) {
  std::string text;
  if (site.files_of > 0) text += fmt::format(", {}/{} files", site.files, site.files_of);
  if (!site.sending.empty()) {
    text += fmt::format(", {} {:.0f}%",
                        one_line(std::filesystem::path(site.sending).filename().string()),
                        site.sent_part * 100);
    if (site.to_send > 1) text += fmt::format(" and {} more", site.to_send - 1);
  } else if (site.to_send > 0) {
    text += fmt::format(", {} to send", site.to_send);
  }
  if (site.bytes_per_second > 0) text += ", now " + format_bandwidth(site.bytes_per_second);
  if (site.learnt_bandwidth > 0)
    text += ", learnt " + format_bandwidth(site.learnt_bandwidth);
  else if (site.declared_bandwidth > 0)
    text += ", link " + format_bandwidth(site.declared_bandwidth);
  if (site.from_sites > 0)
    text += fmt::format(", {} from other sites",
                        format_bytes(static_cast<std::uint64_t>(site.from_sites)));
  return text;
}

std::string site_text(const LiveSite& site) {
  const std::string homeward =
      site.homeward > 0 ? fmt::format(", {} coming home", site.homeward) : "";
  return fmt::format("{}: {}{}/{}, {}/{} slots{}{}", one_line(site.name),
                     site.leaving ? "leaving, " : "", site.hosts_up, count_of(site.hosts, "host"),
                     site.busy, site.slots, homeward, link_text(site));
}

Cell state_cell(const LiveHost& host, std::uint32_t waiting, TimePoint now) {
  switch (host.condition) {
    case HostCondition::up:
      return {host.running == 0 && waiting == 0 ? "free" : "up", Color::green};
    case HostCondition::connecting:
      return {"connecting", Color::yellow};
    case HostCondition::queued:
      return {"job queued", Color::yellow};
    case HostCondition::suspended:
      return {"suspended", Color::yellow};
    case HostCondition::away:
      return {"no job", Color::dim};
    case HostCondition::lost:
      break;
  }
  return {host.since == kNever ? "lost" : "lost " + age_text(now - host.since), Color::red};
}

/// The tasks that run there with their ages; of a lost one, why. `waiting` for their files. What
/// has ended there and comes home uses no slot.
std::string now_text(const LiveHost& host, std::uint32_t waiting, TimePoint now) {
  if (host.condition == HostCondition::lost) return host.why;
  std::string text;
  std::size_t shown = 0;
  for (const auto& task : host.tasks) {
    if (task.started == kNever || shown == kTasksShown) break;
    // Of several runs the task's comes first: 3/17 is task 17 of run 3.
    text += fmt::format("{}{}{} {}", shown == 0 ? "" : ", ",
                        task.run != 0 ? fmt::format("{}/", task.run) : "", task.task,
                        age_text(now - task.started));
    ++shown;
  }
  if (host.running > shown) text += fmt::format(" +{}", host.running - shown);
  if (text.empty() && waiting > 0) text = fmt::format("{} for files", waiting);
  if (host.homeward > 0)
    text += fmt::format("{}{} coming home", text.empty() ? "" : ", ", host.homeward);
  return text;
}

std::vector<Cell> host_cells(const LiveHost& host, std::uint32_t waiting, TimePoint now) {
  const bool known = host.told && host.condition == HostCondition::up;
  return {host.name,
          state_cell(host, waiting, now),
          host.slots == 0 ? "-" : fmt::format("{}/{}", host.busy, host.slots),
          now_text(host, waiting, now),
          std::to_string(host.done),
          host.pace > 0 ? age_text(from_seconds(std::min(host.pace, 1e9))) : "-",
          known ? fmt::format("{:.1f}", host.free_cores) : "-",
          known ? short_bytes(host.free_memory) : "-",
          known ? short_bytes(host.free_disk) : "-"};
}

/// The titles, and a line for each host.
std::vector<std::string> host_lines(const LiveState& state,
                                    const std::vector<const LiveHost*>& hosts, TimePoint now,
                                    TableStyle style) {
  std::vector<std::uint32_t> waiting(state.hosts.size() + 1);  // for files, by LiveWait::host
  for (const auto& wait : state.waits)
    ++waiting[std::min<std::size_t>(wait.host, state.hosts.size())];
  std::vector<std::string> lines;
  if (style.columns > 0)
    style.columns = std::max<std::size_t>(style.columns, 12) - kTopIndent.size();
  Table table({{.title = "host", .may_drop = false},
               {.title = "state", .may_drop = false},
               {.title = "slots", .may_shrink = false},
               {.title = "running now"},
               {.title = "done", .may_shrink = false},
               {.title = "pace", .may_shrink = false},
               {.title = "idle", .may_shrink = false},
               {.title = "mem", .may_shrink = false},
               {.title = "disk", .may_shrink = false}},
              style, [&](std::string_view line) {
                lines.push_back(std::string(kTopIndent) + std::string(line));
              });
  for (const LiveHost* host : hosts)
    table.add(
        host_cells(*host, waiting[static_cast<std::size_t>(host - state.hosts.data()) + 1], now));
  table.finish();
  lines.resize(std::min(lines.size(), hosts.size() + 1));  // not what had no room
  return lines;
}

}  // namespace

std::string age_text(Duration age) {
  const double s = seconds(std::max(age, Duration{0}));
  if (s < 9.95) return fmt::format("{:.1f}s", s);
  if (s < 59.5) return fmt::format("{:.0f}s", s);
  return format_duration(age);
}

std::string short_bytes(std::uint64_t bytes) {
  constexpr std::array kUnits{"B", "K", "M", "G", "T", "P", "E"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return value < 9.95 && unit > 0 ? fmt::format("{:.1f}{}", value, kUnits[unit])
                                  : fmt::format("{:.0f}{}", value, kUnits[unit]);
}

std::vector<std::string> top_lines(const LiveState& state, TimePoint now, const TableStyle& style) {
  TableStyle narrower = style;
  if (style.columns > 0) narrower.columns = std::max<std::size_t>(style.columns, 2) - 1;
  const std::size_t room = narrower.columns;
  std::vector<std::string> lines = progress_block(
      progress_of(state, now), {style.columns == 0 ? 200 : style.columns, style.utf8, style.color});
  const auto add = [&](const std::string& text, Color color) {
    lines.push_back(paint(room > 0 ? fit(text, room, style.utf8) : text, color, style.color));
  };
  if (state.at != kNever && now - state.at > kStale)
    add(fmt::format("no news for {}: is process {} stopped?", age_text(now - state.at), state.pid),
        Color::red);
  std::string waits;
  const auto add_wait = [&](std::uint32_t tasks, std::string_view what) {
    if (tasks > 0) waits += fmt::format("{} {} {}", waits.empty() ? "" : ",", tasks, what);
  };
  std::uint32_t homeward = 0;
  for (const LiveSite& site : state.sites) homeward += site.homeward;
  add_wait(state.staging, "for files");
  add_wait(state.handed_over, "in queues of hosts");
  add_wait(homeward, "for outputs to come home");
  if (!waits.empty()) add("waiting:" + waits, Color::none);
  lines.emplace_back();

  std::vector<const LiveHost*> hosts;
  for (std::uint32_t site = 0; site < std::max<std::size_t>(state.sites.size(), 1); ++site)
    for (const LiveHost& host : state.hosts)
      if (host.site == site) hosts.push_back(&host);
  const auto rows = host_lines(state, hosts, now, narrower);
  if (!rows.empty()) lines.push_back(rows.front());
  std::size_t next = 0;
  for (std::uint32_t site = 0; site < state.sites.size(); ++site) {
    // Nothing of it is cut: figures at its end are what people look for.
    const std::string text = site_text(state.sites[site]);
    if (room < kWrapped) add(text, Color::cyan);
    for (const auto& line : room < kWrapped ? std::vector<std::string>{} : wrap(text, room, 4))
      lines.push_back(paint(line, Color::cyan, style.color));
    for (; next < hosts.size() && hosts[next]->site == site && next + 1 < rows.size(); ++next)
      lines.push_back(rows[next + 1]);
  }
  if (state.more_hosts > 0) add(fmt::format("and {} more hosts", state.more_hosts), Color::dim);
  return lines;
}

std::vector<std::string> fit_rows(std::vector<std::string> lines, std::size_t rows) {
  rows = std::max<std::size_t>(rows, 1);
  if (lines.size() <= rows) return lines;
  const std::size_t left_out = lines.size() - rows + 1;
  lines.resize(rows - 1);
  lines.push_back(fmt::format("{} more lines", left_out));
  return lines;
}

}  // namespace gantry::cli
