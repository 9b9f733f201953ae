#include "query/site_requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "model/suggest.hpp"
#include "model/visible_text.hpp"
#include "query/ask_driver.hpp"
#include "store/run_lock.hpp"

namespace gantry::query {

namespace {

using namespace std::chrono_literals;

/// For hosts to be reached; a run shows what it sees about once a second.
constexpr auto kJoinPatience = 20s;
constexpr auto kLookForSites = 100ms;

bool can_be_used(const GridSite& site) {
  return site.access != SiteAccess::none && site.name != kHomeSite;
}

/// Checks them, or finds those that are meant.
Result<std::vector<std::string>> sites_to_add(const Grid& grid, const store::LiveState& live,
                                              std::vector<std::string> names) {
  std::vector<std::string> usable;
  for (const GridSite& site : grid.sites)
    if (can_be_used(site)) usable.push_back(site.name);
  const bool all = names.empty();
  if (all) names = usable;
  for (const auto& name : names)
    if (std::ranges::find(usable, name) == usable.end())
      return fail(ErrorCode::usage,
                  fmt::format("{}: no site '{}' that a run can use", grid.file, one_line(name)),
                  did_you_mean(name, usable));
  const auto used = [&](const std::string& name) { return find_site(live, name) != nullptr; };
  if (all) std::erase_if(names, used);
  if (names.empty())
    return fail(ErrorCode::usage,
                fmt::format("run {} uses all sites of {} already", live.run, grid.file),
                "describe the new one there first");
  if (const auto name = std::ranges::find_if(names, used); name != names.end())
    return fail(ErrorCode::usage, fmt::format("run {} uses site '{}' already", live.run, *name));
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Result<> ask(const std::filesystem::path& state_dir, const store::Request& request, int holder) {
  TRY_ASSIGN(auto store, store::Store::open(state_dir, store::Access::read_write));
  TRY_ASSIGN(const Answer answer, ask_driver(state_dir, store, request, holder));
  if (answer == Answer::silent) return fail_silent(holder);
  if (answer == Answer::gone) return fail(ErrorCode::gone, "the run has ended meanwhile");
  return {};
}

/// Up, or not to be waited for.
bool is_settled(const Grid& grid, const store::LiveSite& site) {
  const auto described = std::ranges::find(grid.sites, site.name, &GridSite::name);
  const bool by_jobs = described != grid.sites.end() && lends_by_jobs(described->access);
  return by_jobs || (site.hosts > 0 && site.hosts_up == site.hosts);
}

/// Why none of the site's hosts is up, though some should be.
std::optional<SiteTrouble> trouble_of(const Grid& grid, const store::LiveState& live,
                                      const store::LiveSite& site) {
  if (site.hosts_up > 0 || is_settled(grid, site)) return std::nullopt;
  for (const store::LiveHost& host : live.hosts)
    if (host.site < live.sites.size() && live.sites[host.site].name == site.name &&
        !host.why.empty())
      return SiteTrouble{host.name, host.why};
  return SiteTrouble{};
}

WorkAtSites work_at(const store::LiveState& live, const std::vector<std::string>& names) {
  WorkAtSites work;
  for (const store::LiveHost& host : live.hosts) {
    if (host.site >= live.sites.size()) continue;
    if (std::ranges::find(names, live.sites[host.site].name) == names.end()) continue;
    work.running += host.running;
    work.homeward += host.homeward;
  }
  return work;
}

/// A run that has ended before a site left it.
Result<> check_finished(const std::filesystem::path& state_dir, std::uint32_t run) {
  TRY_ASSIGN(const auto store, store::Store::open(state_dir, store::Access::read_only));
  TRY_ASSIGN(const auto record, store.run(RunId(run)));
  if (record && record->state == store::RunState::finished) return {};
  return fail(ErrorCode::gone, "gantry has ended before the site could leave the run",
              "its tasks may still run there; the next gantry run adopts them");
}

}  // namespace

Result<store::LiveState> run_that_goes_on(const std::filesystem::path& state_dir) {
  auto live = store::read_live(state_dir);
  if (live) return std::move(*live);
  if (store::RunLock::holder(state_dir))
    return fail(ErrorCode::busy, "a run is starting, and shows nothing yet",
                "try again in a moment");
  return fail(ErrorCode::usage,
              fmt::format("no run is in progress in {}", state_dir.lexically_normal().string()),
              "gantry run --grid uses the sites that its grid file names");
}

const store::LiveSite* find_site(const store::LiveState& live, const std::string& name) {
  const auto site = std::ranges::find(live.sites, name, &store::LiveSite::name);
  return site != live.sites.end() ? &*site : nullptr;
}

Result<std::vector<JoinedSite>> add_sites(const std::filesystem::path& state_dir, const Grid& grid,
                                          std::vector<std::string> names) {
  TRY_ASSIGN(const auto live, run_that_goes_on(state_dir));
  if (live.grid.empty())
    return fail(
        ErrorCode::usage,
        fmt::format("run {} was started without a grid file: no site can join it", live.run),
        "stop it with Ctrl-C and start it again with --grid: nothing that is done is lost");
  TRY_ASSIGN(names, sites_to_add(grid, live, std::move(names)));
  store::Request request{.run = RunId(live.run), .join = names};
  request.grid = std::filesystem::absolute(grid.file).string();
  TRY(ask(state_dir, request, live.pid));
  const auto deadline = std::chrono::steady_clock::now() + kJoinPatience;
  std::vector<JoinedSite> joined;
  for (;;) {
    const bool last = std::chrono::steady_clock::now() > deadline;
    const auto now = store::read_live(state_dir);
    if (!now) return fail(ErrorCode::gone, "the run has ended meanwhile");
    joined.clear();
    bool settled = true;
    for (const auto& name : names) {
      const store::LiveSite* site = find_site(*now, name);
      settled = settled && site != nullptr && is_settled(grid, *site);
      if (site != nullptr) joined.push_back({*site, trouble_of(grid, *now, *site)});
      if (last && site == nullptr)
        return fail(ErrorCode::peer, fmt::format("site '{}' has not joined the run", name),
                    "what gantry run prints says why");
    }
    if (settled || last) return joined;
    std::this_thread::sleep_for(kLookForSites);
  }
}

Result<> drain_sites(const std::filesystem::path& state_dir, const store::LiveState& live,
                     const std::vector<std::string>& names,
                     const std::function<void(const WorkAtSites&)>& waiting) {
  TRY(ask(state_dir, {.run = RunId(live.run), .leave = names}, live.pid));
  for (;;) {
    const auto now = store::read_live(state_dir);
    if (!now || !now->has(RunId(live.run))) {
      const auto holder = store::RunLock::holder(state_dir);
      if (holder && *holder == live.pid) {
        std::this_thread::sleep_for(kLookForSites);
        continue;
      }
      return check_finished(state_dir, live.run);
    }
    const bool there = std::ranges::any_of(
        names, [&](const auto& name) { return find_site(*now, name) != nullptr; });
    if (!there) return {};
    waiting(work_at(*now, names));
    std::this_thread::sleep_for(kLookForSites);
  }
}

}  // namespace gantry::query
