#include "cli/commands/grid_report.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/terminal/display_text.hpp"
#include "cli/terminal/format.hpp"
#include "cli/terminal/json_line.hpp"
#include "cli/terminal/table.hpp"
#include "model/quantity.hpp"

namespace gantry::cli {

namespace {

using operate::Finding;
using operate::HostCheck;
using operate::SiteCheck;

constexpr std::size_t kCheckColumns = 9;

std::string bandwidth_text(const std::optional<double>& rate) {
  return rate ? format_bandwidth(*rate) : "-";
}

std::string_view access_name(SiteAccess access) {
  switch (access) {
    case SiteAccess::ssh:
      return "ssh";
    case SiteAccess::slurm:
      return "slurm";
    case SiteAccess::sge:
      return "sge";
    case SiteAccess::none:
      break;
  }
  return "";
}

std::string access_text(const Grid& grid, std::size_t site) {
  if (site == 0) return "this machine";
  const auto name = access_name(grid.sites[site].access);
  return name.empty() ? "plans only" : std::string(name);
}

std::string slots_text(const GridHosts& hosts, bool real) {
  return hosts.slots_declared || !real ? std::to_string(hosts.slots) : "cores";
}

void add_links(Context& context, const Grid& grid) {
  Table table({{"link"}, {"bandwidth"}, {"latency"}, {"sharing"}}, context.table_style(),
              [&](std::string_view line) { context.out.line(line); });
  for (const GridLink& link : grid.links)
    table.add({grid.sites[link.from].name + " - " + grid.sites[link.to].name,
               link.assumed ? "not declared" : format_bandwidth(link.bandwidth),
               link.assumed ? "-" : fmt::format("{:g} ms", seconds(link.latency) * 1e3),
               link.sharing == LinkSharing::fair ? "fair" : fmt::format("fifo, {}", link.streams)});
  if (table.rows() == 0) return;
  context.out.line("");
  table.finish();
}

const GridLink* link_to(const Grid& grid, std::uint32_t site) {
  const auto found = std::ranges::find_if(
      grid.links, [&](const GridLink& link) { return link.from == 0 && link.to == site; });
  return found == grid.links.end() ? nullptr : &*found;
}

std::string declared_text(const Grid& grid, std::uint32_t site) {
  const GridLink* link = link_to(grid, site);
  if (link == nullptr) return "-";
  return format_bandwidth(link->bandwidth) + (link->assumed ? " (assumed)" : "");
}

/// One way, as the grid file's latency is.
Duration latency(const HostFacts& facts) {
  return facts.round_trip / 2;
}

void add_row(Table& table, const GridSite& site, const HostCheck& host, bool takes_jobs) {
  if (!host.facts) {
    std::vector<Cell> cells{host.name, site.name, Cell("no", Color::red)};
    cells.resize(kCheckColumns, Cell("-"));
    return table.add(std::move(cells));
  }
  const HostFacts& facts = *host.facts;
  const bool fit = host.shares_scratch.value_or(true) && takes_jobs;
  table.add({host.name, site.name, Cell(fit ? "yes" : "no", fit ? Color::none : Color::red),
             std::to_string(facts.cores), fmt::format("{:.1f}", facts.cores - facts.free_cores),
             format_bytes(facts.memory), format_bytes(facts.free_disk),
             fmt::format("{:.3g} ms", seconds(latency(facts)) * 1e3),
             fmt::format("{:+.1f} s", seconds(facts.clock_ahead))});
}

/// The site's name where it is of the whole site.
std::string subject_of(const Grid& grid, const SiteCheck& check, const Finding& finding) {
  const std::string& site = grid.sites[check.site].name;
  return finding.host.empty() ? site : fmt::format("{} ({})", finding.host, site);
}

void add_findings(Context& context, const Grid& grid, const SiteCheck& check, bool& fine) {
  for (const Finding& finding : operate::findings(grid, check)) {
    if (finding.is_problem) fine = false;
    const std::string text =
        fmt::format("{}: {}{}{}", subject_of(grid, check, finding), one_line(finding.what),
                    finding.fix.empty() ? "" : "; ", one_line(finding.fix));
    const Color color = finding.is_problem ? Color::red : Color::yellow;
    bool first = true;
    const std::size_t columns = std::max<std::size_t>(Terminal::columns(context.out.fd()), 40);
    for (const auto& line : wrap(text, columns - 2, 2)) {
      const std::string_view mark = finding.is_problem ? "! " : "- ";
      context.out.line((first ? paint(mark, color, context.terminal.color_stdout) : "  ") + line);
      first = false;
    }
  }
}

}  // namespace

// gantry grid list
// ------------------------------------------------------------------------------------------------

void print_grid(Context& context, const Grid& grid) {
  Table table({{"host"}, {"site"}, {"by"}, {"slots"}, {"speed"}, {"memory"}, {"scratch"}},
              context.table_style(), [&](std::string_view line) { context.out.line(line); });
  for (std::size_t i = 0; i < grid.sites.size(); ++i) {
    const GridSite& site = grid.sites[i];
    const bool real = i == 0 || site.access != SiteAccess::none;
    for (const GridHosts& hosts : site.hosts) {
      const std::string last = host_name(hosts, hosts.count - 1);
      const std::string name =
          hosts.count == 1 ? last : fmt::format("{} ... {}", host_name(hosts, 0), last);
      table.add({name, site.name, access_text(grid, i), slots_text(hosts, real),
                 fmt::format("{:g}", hosts.speed),
                 hosts.memory == 0 ? "-" : format_bytes(hosts.memory),
                 site.scratch.empty() ? "-" : site.scratch});
    }
  }
  table.finish();
  add_links(context, grid);
}

void print_grid_json(Context& context, const Grid& grid) {
  JsonLine all(context.out.buffer());
  std::string sites;
  for (std::size_t i = 0; i < grid.sites.size(); ++i) {
    const GridSite& site = grid.sites[i];
    sites += i == 0 ? "" : ",";
    JsonLine line(sites);
    line.text("site", site.name);
    const auto via = i == 0 ? std::string_view("local") : access_name(site.access);
    via.empty() ? line.null("via") : line.text("via", via);
    if (!site.user.empty()) line.text("user", site.user);
    if (!site.ssh_config.empty()) line.text("ssh_config", site.ssh_config);
    if (!site.scratch.empty()) line.text("scratch", site.scratch);
    if (site.depot > 0) line.number("depot", site.depot);
    std::string hosts;
    for (const GridHosts& each : site.hosts) {
      for (std::uint32_t h = 0; h < each.count; ++h) {
        hosts += hosts.empty() ? "" : ",";
        JsonLine host(hosts);
        host.text("host", host_name(each, h));
        if (each.slots_declared) host.number("slots", each.slots);
        host.real("speed", each.speed);
        if (each.memory > 0) host.number("memory", each.memory);
        host.close(false);
      }
    }
    line.raw("hosts") += "[" + hosts + "]";
    line.close(false);
  }
  std::string links;
  for (const GridLink& link : grid.links) {
    links += links.empty() ? "" : ",";
    JsonLine line(links);
    line.text("from", grid.sites[link.from].name).text("to", grid.sites[link.to].name);
    line.real("bandwidth", link.bandwidth).real("latency", seconds(link.latency));
    line.flag("declared", !link.assumed).close(false);
  }
  all.raw("sites") += "[" + sites + "]";
  all.raw("links") += "[" + links + "]";
  all.close();
}

// gantry grid check
// ------------------------------------------------------------------------------------------------

namespace {

std::string declared_text(const Grid& grid, std::uint32_t site, const std::string& other) {
  for (const GridLink& link : grid.links) {
    const bool joins = (link.from == site && grid.sites[link.to].name == other) ||
                       (link.to == site && grid.sites[link.from].name == other);
    if (joins) return format_bandwidth(link.bandwidth);
  }
  return "-";
}

/// Files that sites fetch from each other.
void print_pulls(Context& context, const Grid& grid, const std::vector<SiteCheck>& checks) {
  Table table({{"site"}, {"fetches from"}, {"by ssh"}, {"bandwidth"}, {"in the grid file"}},
              context.table_style(), [&](std::string_view line) { context.out.line(line); });
  for (const SiteCheck& check : checks)
    for (const operate::PullCheck& pull : check.pulls)
      table.add({grid.sites[check.site].name, pull.site, pull.ssh,
                 pull.failure ? Cell("does not work", Color::yellow)
                              : Cell(bandwidth_text(pull.bandwidth)),
                 declared_text(grid, check.site, pull.site)});
  if (table.rows() == 0) return;
  context.out.line("");
  table.finish();
}

}  // namespace

bool print_check(Context& context, const Grid& grid, const std::vector<SiteCheck>& checks) {
  const auto print = [&](std::string_view line) { context.out.line(line); };
  Table hosts({{"host"},
               {"site"},
               {"usable"},
               {"cores"},
               {"busy"},
               {"memory"},
               {"free disk"},
               {"latency"},
               {"clock"}},
              context.table_style(), print);
  Table links({{"site"}, {"to it"}, {"from it"}, {"in the grid file"}}, context.table_style(),
              print);
  for (const SiteCheck& check : checks) {
    const GridSite& site = grid.sites[check.site];
    const bool takes_jobs = operate::takes_jobs(site, check);
    for (const HostCheck& host : check.hosts) add_row(hosts, site, host, takes_jobs);
    links.add({site.name, bandwidth_text(check.speed.to_site),
               bandwidth_text(check.speed.from_site), declared_text(grid, check.site)});
  }
  hosts.finish();
  context.out.line("");
  links.finish();
  print_pulls(context, grid, checks);
  bool any = false;
  for (const SiteCheck& check : checks) any = any || !operate::findings(grid, check).empty();
  context.out.line("");
  if (!any) context.out.line("nothing is wrong");
  bool fine = true;
  for (const SiteCheck& check : checks) add_findings(context, grid, check, fine);
  return fine;
}

namespace {

void append_host(std::string& hosts, const HostCheck& host) {
  hosts += hosts.empty() ? "" : ",";
  JsonLine line(hosts);
  line.text("host", host.name).flag("reached", host.facts.has_value());
  if (host.facts) {
    const HostFacts& facts = *host.facts;
    line.number("cores", facts.cores).real("free_cores", facts.free_cores);
    line.number("memory", facts.memory).number("free_memory", facts.free_memory);
    line.number("free_disk", facts.free_disk).real("latency", seconds(latency(facts)));
    line.real("round_trip", seconds(facts.round_trip));
    line.real("clock_ahead", seconds(facts.clock_ahead));
  }
  if (host.shares_scratch) line.flag("shares_scratch", *host.shares_scratch);
  line.close(false);
}

void append_pulls(std::string& out, const SiteCheck& check) {
  out += '[';
  for (const operate::PullCheck& pull : check.pulls) {
    if (&pull != &check.pulls.front()) out += ',';
    JsonLine line(out);
    line.text("site", pull.site).text("ssh", pull.ssh).flag("works", !pull.failure);
    pull.bandwidth ? line.real("bandwidth", *pull.bandwidth) : line.null("bandwidth");
    line.close(false);
  }
  out += ']';
}

}  // namespace

bool print_check_json(Context& context, const Grid& grid, const std::vector<SiteCheck>& checks) {
  bool fine = true;
  std::string sites;
  std::string found;
  for (const SiteCheck& check : checks) {
    const std::string& name = grid.sites[check.site].name;
    sites += sites.empty() ? "" : ",";
    JsonLine line(sites);
    line.text("site", name);
    const auto rate = [&](std::string_view key, const std::optional<double>& value) {
      value ? line.real(key, *value) : line.null(key);
    };
    rate("to_site", check.speed.to_site);
    rate("from_site", check.speed.from_site);
    std::string hosts;
    for (const HostCheck& host : check.hosts) append_host(hosts, host);
    line.raw("hosts") += "[" + hosts + "]";
    append_pulls(line.raw("fetches_from"), check);
    if (check.login)
      line.texts("missing_commands", check.login->missing)
          .texts("queues", check.login->queues)
          .flag("takes_jobs", operate::takes_jobs(grid.sites[check.site], check));
    line.close(false);
    for (const Finding& finding : operate::findings(grid, check)) {
      if (finding.is_problem) fine = false;
      found += found.empty() ? "" : ",";
      JsonLine each(found);
      each.text("kind", finding.is_problem ? "problem" : "advice").text("site", name);
      finding.host.empty() ? each.null("host") : each.text("host", finding.host);
      each.text("what", finding.what).text("fix", finding.fix).close(false);
    }
  }
  JsonLine all(context.out.buffer());
  all.flag("ok", fine);
  all.raw("sites") += "[" + sites + "]";
  all.raw("findings") += "[" + found + "]";
  all.close();
  return fine;
}

}  // namespace gantry::cli
