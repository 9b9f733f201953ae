#include "driver/grid_findings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/quantity.hpp"

namespace gantry::driver {

namespace {

using namespace std::chrono_literals;

/// With less, the first outputs may fill it.
constexpr std::uint64_t kFewBytes = std::uint64_t{1} << 30;
/// Files' and tasks' times are compared by people, not by Gantry.
constexpr Duration kClockTolerance = 2s;
/// Declared and measured bandwidth differ by more than the measurement does.
constexpr double kFarFrom = 2;

void judge_disk(const GridSite& site, const HostCheck& host, std::vector<Finding>& found) {
  const std::uint64_t free = host.facts->free_disk;
  if (free < kFewBytes)
    found.push_back({free == 0, host.name,
                     fmt::format("{} has {} free", site.scratch, format_bytes(free)),
                     "make room there, or name another folder with scratch:"});
  else if (site.depot > 0 && site.depot > host.facts->total_disk)
    found.push_back({false, host.name,
                     fmt::format("depot: allows {}, but its whole disk has {}",
                                 format_bytes(site.depot), format_bytes(host.facts->total_disk)),
                     fmt::format("say depot: {} or less", format_bytes(free))});
}

void judge_host(const GridSite& site, const HostCheck& host, std::vector<Finding>& found) {
  if (!host.facts) {
    found.push_back({true, host.name, host.failure.message, host.failure.hint});
    return;
  }
  const HostFacts& facts = *host.facts;
  judge_disk(site, host, found);
  if (host.shares_scratch == false)
    found.push_back(
        {true, host.name,
         fmt::format("it does not see the files that other hosts of the site have in {}",
                     site.scratch),
         "name a folder that they share with scratch:, or give it a site of its own"});
  if (host.slots > facts.cores)
    found.push_back({false, host.name,
                     fmt::format("slots: {}, but it has {} core{}", host.slots, facts.cores,
                                 facts.cores == 1 ? "" : "s"),
                     "leave slots: out, unless tasks mostly wait"});
  if (std::chrono::abs(facts.clock_ahead) > kClockTolerance)
    found.push_back({false, host.name,
                     fmt::format("its clock is {:.0f} s {} this machine's",
                                 seconds(std::chrono::abs(facts.clock_ahead)),
                                 facts.clock_ahead > 0s ? "ahead of" : "behind"),
                     "set both by NTP: times of tasks there will look wrong"});
}

std::string rate_text(double rate) {
  return rate >= 1e6 ? fmt::format("{:.3g} MB/s", rate / 1e6)
                     : fmt::format("{:.3g} kB/s", rate / 1e3);
}

void judge_link(const Grid& grid, const SiteCheck& check, std::vector<Finding>& found) {
  if (check.link_failure)
    found.push_back({true, "", "files could not be moved: " + check.link_failure->message,
                     check.link_failure->hint});
  if (!check.speed.to_site || !check.speed.from_site) return;
  const auto link = std::ranges::find_if(
      grid.links, [&](const GridLink& each) { return each.from == 0 && each.to == check.site; });
  if (link == grid.links.end()) return;
  const double least = std::min(*check.speed.to_site, *check.speed.from_site);
  const double most = std::max(*check.speed.to_site, *check.speed.from_site);
  // Where both ways differ, what is declared may be either.
  if (link->bandwidth <= kFarFrom * most && link->bandwidth >= least / kFarFrom) return;
  found.push_back({false, "",
                   fmt::format("files go at {}, and {} is {}", rate_text(*check.speed.to_site),
                               rate_text(link->bandwidth), link->assumed ? "assumed" : "declared"),
                   fmt::format("say link: {{ bandwidth: {} }}, by which tasks are placed",
                               rate_text(*check.speed.to_site))});
}

/// A run can do without.
void judge_pulls(const SiteCheck& check, std::vector<Finding>& found) {
  for (const PullCheck& pull : check.pulls) {
    if (!pull.failure) continue;
    const std::string& hint = pull.failure->hint;
    found.push_back(
        {false, pull.host,
         fmt::format("it cannot fetch files from site {}, they will come from home (ssh {}: {})",
                     pull.site, pull.ssh, pull.failure->message),
         fmt::format("there: {}",
                     hint.empty()
                         ? fmt::format("make `ssh -o BatchMode=yes {} true` work", pull.ssh)
                         : hint)});
  }
}

}  // namespace

std::vector<Finding> findings(const Grid& grid, const SiteCheck& check) {
  std::vector<Finding> found;
  const GridSite& site = grid.sites[check.site];
  for (const HostCheck& host : check.hosts) judge_host(site, host, found);
  judge_link(grid, check, found);
  judge_pulls(check, found);
  return found;
}

}  // namespace gantry::driver
