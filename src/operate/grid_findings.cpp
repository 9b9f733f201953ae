#include "operate/grid_findings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "model/quantity.hpp"
#include "model/suggest.hpp"

namespace gantry::operate {

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
                     fmt::format("write depot: {} or less", format_bytes(free))});
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
    found.push_back(
        {false, host.name,
         fmt::format("slots: {}, but it has {}", host.slots, count_of(facts.cores, "core")),
         "leave slots: out, unless tasks mostly wait"});
  if (std::chrono::abs(facts.clock_ahead) > kClockTolerance)
    found.push_back({false, host.name,
                     fmt::format("its clock is {:.0f} s {} this machine's",
                                 seconds(std::chrono::abs(facts.clock_ahead)),
                                 facts.clock_ahead > 0s ? "ahead of" : "behind"),
                     "set both by NTP; otherwise times of tasks there look wrong"});
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
  const GridLink* link = link_between(grid, check.site, grid.sites.front().name);
  if (link == nullptr) return;
  const double least = std::min(*check.speed.to_site, *check.speed.from_site);
  const double most = std::max(*check.speed.to_site, *check.speed.from_site);
  // Where both ways differ, what is declared may be either.
  if (link->bandwidth <= kFarFrom * most && link->bandwidth >= least / kFarFrom) return;
  found.push_back({false, "",
                   fmt::format("files go at {}, but {} is {}", rate_text(*check.speed.to_site),
                               rate_text(link->bandwidth), link->assumed ? "assumed" : "declared"),
                   fmt::format("write link: {{ bandwidth: {} }}: tasks are placed by it",
                               rate_text(*check.speed.to_site))});
}

void judge_pull_speed(const Grid& grid, const SiteCheck& check, const PullCheck& pull,
                      std::vector<Finding>& found) {
  const GridLink* link = link_between(grid, check.site, pull.site);
  if (link == nullptr || !pull.bandwidth) return;
  const double measured = *pull.bandwidth;
  if (link->bandwidth <= kFarFrom * measured && link->bandwidth >= measured / kFarFrom) return;
  found.push_back(
      {false, pull.host,
       fmt::format("files come from site {} at {}, but {} is declared", pull.site,
                   rate_text(measured), rate_text(link->bandwidth)),
       fmt::format("write bandwidth: {} for that link: the way of files is chosen by it",
                   rate_text(measured))});
}

/// A run can do without.
void judge_pulls(const Grid& grid, const SiteCheck& check, std::vector<Finding>& found) {
  for (const PullCheck& pull : check.pulls) {
    if (!pull.failure) {
      judge_pull_speed(grid, check, pull, found);
      continue;
    }
    const std::string& hint = pull.failure->hint;
    found.push_back(
        {false, pull.host,
         fmt::format("it cannot fetch files from site {}; they will come from home (ssh {}: {})",
                     pull.site, pull.ssh, pull.failure->message),
         fmt::format("there: {}",
                     hint.empty()
                         ? fmt::format("make `ssh -o BatchMode=yes {} true` work", pull.ssh)
                         : hint)});
  }
}

std::string system_name(const GridSite& site) {
  return site.access == SiteAccess::slurm ? "Slurm" : "Grid Engine";
}

/// Whether the batch system would take jobs as they are described.
void judge_login(const GridSite& site, const SiteCheck& check, std::vector<Finding>& found) {
  const std::string host = check.hosts.empty() ? "" : check.hosts.front().name;
  if (check.login_failure) {
    found.push_back({true, host, check.login_failure->message, check.login_failure->hint});
    return;
  }
  if (!check.login) return;
  const LoginCheck& login = *check.login;
  if (!login.missing.empty()) {
    found.push_back(
        {true, host,
         fmt::format("{} {} not there: it cannot submit jobs of {}", fmt::join(login.missing, ", "),
                     login.missing.size() == 1 ? "is" : "are", system_name(site)),
         site.batch.login.empty()
             ? "name the cluster's login host with login:"
             : fmt::format("try `ssh {0} 'command -v {1}'`: login: is the right host, and the "
                           "commands are in the PATH that ssh gives?",
                           site.batch.login, login.missing.front())});
    return;
  }
  const bool slurm = site.access == SiteAccess::slurm;
  const auto unknown = unknown_queues(site.batch.queue, login.queues);
  if (!unknown.empty()) {
    std::string fix = did_you_mean(unknown.front(), login.queues);
    if (fix.empty()) fix = fmt::format("those that there are: {}", fmt::join(login.queues, ", "));
    found.push_back(
        {true, host,
         fmt::format("there is no {} '{}'", slurm ? "partition" : "queue", unknown.front()),
         std::move(fix)});
  } else if (!login.refused.empty()) {
    found.push_back({true, host,
                     fmt::format("{} takes no job like this: {}", system_name(site), login.refused),
                     fmt::format("correct {}, account, walltime, slots or directives",
                                 slurm ? "partition" : "queue")});
  }
}

}  // namespace

const GridLink* link_between(const Grid& grid, std::uint32_t site, const std::string& other) {
  const auto joins = [&](const GridLink& link) {
    return (link.from == site && grid.sites[link.to].name == other) ||
           (link.to == site && grid.sites[link.from].name == other);
  };
  const auto found = std::ranges::find_if(grid.links, joins);
  return found != grid.links.end() ? &*found : nullptr;
}

bool takes_jobs(const GridSite& site, const SiteCheck& check) {
  std::vector<Finding> found;
  judge_login(site, check, found);
  return found.empty();
}

std::vector<Finding> findings(const Grid& grid, const SiteCheck& check) {
  std::vector<Finding> found;
  const GridSite& site = grid.sites[check.site];
  for (const HostCheck& host : check.hosts) judge_host(site, host, found);
  judge_link(grid, check, found);
  judge_pulls(grid, check, found);
  judge_login(site, check, found);
  return found;
}

}  // namespace gantry::operate
