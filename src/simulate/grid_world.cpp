#include "simulate/grid_world.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "simulate/svg_text.hpp"
#include "simulate/trace_file.hpp"

namespace gantry::simulate {

namespace {

/// How often a batch host is asked for again when its time is over. Then it stays, so that a longer
/// run does not end without hosts. Fewer times where there are many hosts, as each has a list.
constexpr std::uint32_t kLendings = 2000;
constexpr std::uint32_t kLendingsInAll = 4'000'000;
constexpr std::uint32_t kFewestLendings = 50;

/// Files are read once, however many hosts name them.
class TraceLibrary {
 public:
  Result<Trace> load(const TraceFile& file) {
    if (file.empty()) return Trace(1);
    const auto known = traces_.find(file);
    if (known != traces_.end()) return known->second;
    TRY_ASSIGN(Trace trace, load_trace_csv(file));
    traces_.emplace(file, trace);
    return trace;
  }

 private:
  std::map<TraceFile, Trace> traces_;
};

std::vector<Outage> outages_of(const GridHosts& hosts) {
  std::vector<Outage> outages;
  const double wait = seconds(hosts.queue_wait);
  const double lent = seconds(hosts.lent_for);
  if (wait <= 0) return outages;
  double at = 0;
  const std::uint32_t lendings =
      std::clamp(kLendingsInAll / std::max(hosts.count, 1U), kFewestLendings, kLendings);
  for (std::uint32_t i = 0; i < (lent > 0 ? lendings : 1); ++i) {
    outages.push_back({at, at + wait});
    at += wait + lent;
  }
  return outages;
}

/// Nothing while the host is away: bounds and estimates look at the trace alone.
Result<Trace> without(const Trace& trace, const std::vector<Outage>& outages) {
  if (outages.empty()) return trace;
  std::vector<TraceStep> steps = trace.steps();
  std::vector<double> times{0};
  for (const TraceStep& step : steps) times.push_back(step.time);
  for (const Outage& outage : outages) {
    times.push_back(outage.from);
    if (outage.until < kForever) times.push_back(outage.until);
  }
  std::ranges::sort(times);
  times.erase(std::unique(times.begin(), times.end()), times.end());
  steps.clear();
  auto next = outages.begin();
  for (const double time : times) {
    while (next != outages.end() && next->until <= time) ++next;
    const bool away = next != outages.end() && next->from <= time;
    steps.push_back({time, away ? 0 : trace.value(time)});
  }
  return Trace::make(std::move(steps));
}

Result<Trace> scaled(const Trace& trace, double factor, const std::string& file) {
  if (file.empty()) return Trace(factor);
  std::vector<TraceStep> steps = trace.steps();
  for (TraceStep& step : steps) step.value *= factor;
  return Trace::make(std::move(steps), trace.period());
}

Result<> add_hosts(GridWorld& world, const GridHosts& hosts, SiteId site, TraceLibrary& traces) {
  HostSpec spec{.speed = hosts.speed, .slots = hosts.slots, .outages = outages_of(hosts)};
  TRY_ASSIGN(const Trace availability, traces.load(hosts.availability));
  TRY_ASSIGN(spec.availability, without(availability, spec.outages));
  for (std::uint32_t i = 0; i < hosts.count; ++i) {
    world.grid.hosts.push_back({spec, site});
    world.host_names.push_back(host_name(hosts, i));
  }
  return {};
}

Result<LinkSpec> link_spec(const GridLink& link, TraceLibrary& traces) {
  TRY_ASSIGN(const Trace trace, traces.load(link.trace));
  LinkSpec spec{.latency = seconds(link.latency), .sharing = link.sharing, .streams = link.streams};
  TRY_ASSIGN(spec.bandwidth, scaled(trace, link.bandwidth, link.trace));
  return spec;
}

/// At every moment the lower of two.
Result<Trace> lower_of(const Trace& one, const Trace& other) {
  std::vector<double> times;
  for (const Trace* trace : {&one, &other})
    for (const TraceStep& step : trace->steps()) times.push_back(step.time);
  std::ranges::sort(times);
  times.erase(std::unique(times.begin(), times.end()), times.end());
  std::vector<TraceStep> steps;
  steps.reserve(times.size());
  for (const double time : times)
    steps.push_back({time, std::min(one.value(time), other.value(time))});
  return Trace::make(std::move(steps));
}

/// Two links, one after the other, as one.
Result<LinkSpec> joined(const LinkSpec& one, const LinkSpec& other) {
  LinkSpec both{.latency = one.latency + other.latency};
  TRY_ASSIGN(both.bandwidth, lower_of(one.bandwidth, other.bandwidth));
  const bool is_fair = one.sharing == LinkSharing::fair;
  if (is_fair && other.sharing == LinkSharing::fair) both.sharing = LinkSharing::fair;
  if (is_fair || other.sharing == LinkSharing::fair)
    both.streams = is_fair ? other.streams : one.streams;
  else
    both.streams = std::min(one.streams, other.streams);
  return both;
}

/// Sites without a link of their own to home get one that stands for the widest way through others.
Result<> add_ways_home(std::vector<std::optional<LinkSpec>>& links, const Grid& grid,
                       const std::vector<LinkSpec>& specs) {
  std::vector<double> width(grid.sites.size());
  std::vector<bool> direct(grid.sites.size());
  direct[0] = true;
  for (const GridLink& link : grid.links) {
    if (link.from != 0) continue;
    width[link.to] = link.bandwidth;
    direct[link.to] = true;
  }
  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = 0; i < specs.size(); ++i) {
      const GridLink& link = grid.links[i];
      for (const auto& [near, far] : {std::pair(link.from, link.to), {link.to, link.from}}) {
        const double through = std::min(width[near], link.bandwidth);
        if (direct[far] || through <= width[far]) continue;
        width[far] = through;
        TRY_ASSIGN(links[far], joined(*links[near], specs[i]));
        more = true;
      }
    }
  }
  return {};
}

Result<> add_links(GridWorld& world, const Grid& grid, TraceLibrary& traces) {
  auto& links = world.grid.links;
  links.assign(grid.sites.size(), std::nullopt);
  std::vector<LinkSpec> specs;
  for (const GridLink& link : grid.links) {
    TRY_ASSIGN(LinkSpec spec, link_spec(link, traces));
    if (link.from == 0)
      links[link.to] = spec;
    else
      world.grid.peers.push_back({SiteId(link.from), SiteId(link.to), spec});
    specs.push_back(std::move(spec));
  }
  return add_ways_home(links, grid, specs);
}

}  // namespace

Result<GridWorld> grid_world(const Grid& grid) {
  GridWorld world;
  std::size_t slots = 0;
  for (const GridSite& site : grid.sites)
    for (const GridHosts& hosts : site.hosts) slots += std::size_t{hosts.count} * hosts.slots;
  if (slots > kMaxWorldSlots)
    return fail_at(grid.file, {},
                   fmt::format("{} slots are too many to plan for; the most is {}",
                               count_text(slots), count_text(kMaxWorldSlots)));
  TraceLibrary traces;
  TRY(add_links(world, grid, traces));
  for (std::uint32_t i = 0; i < grid.sites.size(); ++i) {
    const GridSite& site = grid.sites[i];
    world.site_names.push_back(site.name);
    if (site.depot > 0) {
      world.grid.depots.resize(grid.sites.size(), std::numeric_limits<double>::infinity());
      world.grid.depots[i] = static_cast<double>(site.depot);
    }
    for (const GridHosts& hosts : site.hosts) TRY(add_hosts(world, hosts, SiteId(i), traces));
  }
  return world;
}

std::vector<std::pair<FileId, SiteId>> staged_files(const Grid& grid,
                                                    const std::vector<std::string>& file_paths) {
  std::vector<std::pair<FileId, SiteId>> staged;
  for (std::uint32_t file = 0; file < file_paths.size(); ++file) {
    for (std::uint32_t site = 0; site < grid.sites.size(); ++site)
      if (is_staged(grid.sites[site], file_paths[file])) staged.emplace_back(file, site);
  }
  return staged;
}

Result<> check_depots(const Grid& grid, const SimulatedTasks& application,
                      const std::vector<std::string>& file_names) {
  const GridSite* roomiest = nullptr;
  for (std::uint32_t i = 0; i < grid.sites.size(); ++i) {
    const GridSite& site = grid.sites[i];
    if (site.hosts.empty()) continue;
    if (i == 0 || site.depot == 0) return {};  // home has the files anyway
    if (roomiest == nullptr || site.depot > roomiest->depot) roomiest = &site;
  }
  if (roomiest == nullptr) return {};
  const auto depot = static_cast<double>(roomiest->depot);
  const auto refuse = [&](const std::string& what, const char* verb) {
    return fail_at(grid.file, roomiest->mark,
                   fmt::format("{} {} into no depot: the largest, of site '{}', holds {}", what,
                               verb, roomiest->name, bytes_text(depot)),
                   "raise a depot:, or give home hosts");
  };
  for (std::size_t i = 0; i < application.tasks.size(); ++i) {
    double sum = 0;
    for (const FileId file : application.tasks[i].files) {
      const double bytes = application.file_bytes[file.value()];
      sum += bytes;
      if (bytes > depot)
        return refuse(fmt::format("the file {} ({})", file_names[file.value()], bytes_text(bytes)),
                      "fits");
    }
    if (sum > depot)
      return refuse(fmt::format("the shared files of task {} ({} in all)", i + 1, bytes_text(sum)),
                    "fit");
  }
  return {};
}

}  // namespace gantry::simulate
