#include "cli/commands/grid_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

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

/// Empty for a site that is only described.
std::string_view access_name(SiteAccess access) {
  constexpr std::array<std::string_view, 4> kNames{"", "ssh", "slurm", "sge"};
  return kNames[static_cast<std::size_t>(access)];
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
  Table table = context.table({{"link"}, {"bandwidth"}, {"latency"}, {"sharing"}});
  for (const GridLink& link : grid.links)
    table.add({grid.sites[link.from].name + " - " + grid.sites[link.to].name,
               link.assumed ? "not declared" : format_bandwidth(link.bandwidth),
               link.assumed ? "-" : fmt::format("{:g} ms", seconds(link.latency) * 1e3),
               link.sharing == LinkSharing::fair ? "fair" : fmt::format("fifo, {}", link.streams)});
  if (table.rows() == 0) return;
  context.out.line("");
  table.finish();
}

std::string declared_text(const Grid& grid, std::uint32_t site, const std::string& other) {
  const GridLink* link = operate::link_between(grid, site, other);
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
  Table table =
      context.table({{"host"}, {"site"}, {"by"}, {"slots"}, {"speed"}, {"memory"}, {"scratch"}});
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
  all.objects("sites", grid.sites, [&](JsonLine& line, const GridSite& site) {
    line.text("site", site.name);
    const bool here = &site == &grid.sites.front();
    const auto via = here ? std::string_view("local") : access_name(site.access);
    via.empty() ? line.null("via") : line.text("via", via);
    if (!site.user.empty()) line.text("user", site.user);
    if (!site.ssh_config.empty()) line.text("ssh_config", site.ssh_config);
    if (!site.scratch.empty()) line.text("scratch", site.scratch);
    if (site.depot > 0) line.number("depot", site.depot);
    std::vector<std::pair<const GridHosts*, std::uint32_t>> hosts;
    for (const GridHosts& each : site.hosts)
      for (std::uint32_t h = 0; h < each.count; ++h) hosts.emplace_back(&each, h);
    line.objects("hosts", hosts, [](JsonLine& host, const auto& one) {
      const auto& [each, number] = one;
      host.text("host", host_name(*each, number));
      if (each->slots_declared) host.number("slots", each->slots);
      host.real("speed", each->speed);
      if (each->memory > 0) host.number("memory", each->memory);
    });
  });
  all.objects("links", grid.links, [&](JsonLine& line, const GridLink& link) {
    line.text("from", grid.sites[link.from].name).text("to", grid.sites[link.to].name);
    line.real("bandwidth", link.bandwidth).real("latency", seconds(link.latency));
    line.flag("declared", !link.assumed);
  });
  all.close();
}

// gantry grid check
// ------------------------------------------------------------------------------------------------

namespace {

/// Files that sites fetch from each other.
void print_pulls(Context& context, const Grid& grid, const std::vector<SiteCheck>& checks) {
  Table table =
      context.table({{"site"}, {"fetches from"}, {"by ssh"}, {"bandwidth"}, {"in the grid file"}});
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
  Table hosts = context.table({{"host"},
                               {"site"},
                               {"usable"},
                               {"cores"},
                               {"busy"},
                               {"memory"},
                               {"free disk"},
                               {"latency"},
                               {"clock"}});
  Table links = context.table({{"site"}, {"to it"}, {"from it"}, {"in the grid file"}});
  for (const SiteCheck& check : checks) {
    const GridSite& site = grid.sites[check.site];
    const bool takes_jobs = operate::takes_jobs(site, check);
    for (const HostCheck& host : check.hosts) add_row(hosts, site, host, takes_jobs);
    links.add({site.name, bandwidth_text(check.speed.to_site),
               bandwidth_text(check.speed.from_site),
               declared_text(grid, check.site, grid.sites.front().name)});
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

void append_host(JsonLine& line, const HostCheck& host) {
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
}

void append_pull(JsonLine& line, const operate::PullCheck& pull) {
  line.text("site", pull.site).text("ssh", pull.ssh).flag("works", !pull.failure);
  line.real("bandwidth", pull.bandwidth);
}

}  // namespace

bool print_check_json(Context& context, const Grid& grid, const std::vector<SiteCheck>& checks) {
  std::vector<std::pair<std::string, Finding>> found;  // by site
  for (const SiteCheck& check : checks)
    for (Finding& finding : operate::findings(grid, check))
      found.emplace_back(grid.sites[check.site].name, std::move(finding));
  const bool fine =
      std::ranges::none_of(found, [](const auto& each) { return each.second.is_problem; });
  JsonLine all(context.out.buffer());
  all.flag("ok", fine);
  all.objects("sites", checks, [&](JsonLine& line, const SiteCheck& check) {
    line.text("site", grid.sites[check.site].name);
    line.real("to_site", check.speed.to_site).real("from_site", check.speed.from_site);
    line.objects("hosts", check.hosts, append_host);
    line.objects("fetches_from", check.pulls, append_pull);
    if (check.login)
      line.texts("missing_commands", check.login->missing)
          .texts("queues", check.login->queues)
          .flag("takes_jobs", operate::takes_jobs(grid.sites[check.site], check));
  });
  all.objects("findings", found, [](JsonLine& line, const auto& each) {
    const auto& [site, finding] = each;
    line.text("kind", finding.is_problem ? "problem" : "advice").text("site", site);
    finding.host.empty() ? line.null("host") : line.text("host", finding.host);
    line.text("what", finding.what).text("fix", finding.fix);
  });
  all.close();
  return fine;
}

}  // namespace gantry::cli
