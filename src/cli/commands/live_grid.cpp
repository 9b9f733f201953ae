#include "cli/commands/live_grid.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <thread>
#include <utility>

#include "cli/commands/ask_driver.hpp"
#include "cli/terminal/display_text.hpp"
#include "model/suggest.hpp"
#include "store/run_lock.hpp"

namespace gantry::cli {

namespace {

using namespace std::chrono_literals;

/// For hosts to be reached; a run shows what it sees about once a second.
constexpr auto kJoinPatience = 20s;
constexpr auto kLook = 100ms;

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

Result<> ask(const Context& context, const store::Request& request, int holder) {
  TRY_ASSIGN(auto store, store::Store::open(context.state_dir, store::Access::read_write));
  TRY_ASSIGN(const Answer answer, ask_driver(context, store, request, holder));
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

/// Of a site none of whose hosts is up though they should be.
std::string trouble_of(const Grid& grid, const store::LiveState& live,
                       const store::LiveSite& site) {
  if (site.hosts_up > 0 || is_settled(grid, site)) return {};
  for (const store::LiveHost& host : live.hosts)
    if (host.site < live.sites.size() && live.sites[host.site].name == site.name &&
        !host.why.empty())
      return fmt::format("{}: {}", one_line(host.name), one_line(host.why));
  return "none of its hosts has answered yet";
}

/// What a site that leaves is waited for.
struct Rest {
  std::uint32_t running = 0;
  std::uint32_t homeward = 0;  ///< tasks that have ended there, and whose outputs come home
};

Rest rest_at(const store::LiveState& live, const std::vector<std::string>& names) {
  Rest rest;
  for (const store::LiveHost& host : live.hosts) {
    if (host.site >= live.sites.size()) continue;
    if (std::ranges::find(names, live.sites[host.site].name) == names.end()) continue;
    rest.running += host.running;
    rest.homeward += host.homeward;
  }
  return rest;
}

std::string tasks_text(std::uint32_t tasks) {
  return fmt::format("{} task{}", tasks, tasks == 1 ? "" : "s");
}

/// Tells a person what is waited for, each of both once.
class Waiting {
 public:
  explicit Waiting(Context& context) : context_(context) {}

  void tell(const Rest& rest) {
    if (rest.running > 0 && !std::exchange(told_running_, true))
      note(
          fmt::format("waiting for {} there to end; Ctrl-C ends only the waiting, and cancel ends "
                      "tasks",
                      tasks_text(rest.running)));
    if (rest.running == 0 && rest.homeward > 0 && !std::exchange(told_homeward_, true))
      note(fmt::format("waiting for what {} made there to come home; Ctrl-C ends only the waiting",
                       tasks_text(rest.homeward)));
  }

 private:
  void note(const std::string& text) {
    context_.note(text);
    context_.err.flush();
  }

  Context& context_;
  bool told_running_ = false;
  bool told_homeward_ = false;
};

/// A run that has ended before a site left it.
Result<> check_finished(const Context& context, std::uint32_t run) {
  TRY_ASSIGN(const auto store, store::Store::open(context.state_dir, store::Access::read_only));
  TRY_ASSIGN(const auto record, store.run(RunId(run)));
  if (record && record->state == store::RunState::finished) return {};
  return fail(ErrorCode::gone, "gantry has ended before the site could leave the run",
              "its tasks may still run there; the next gantry run adopts them");
}

}  // namespace

Result<store::LiveState> run_that_goes_on(const Context& context) {
  auto live = store::read_live(context.state_dir);
  if (live) return std::move(*live);
  if (store::RunLock::holder(context.state_dir))
    return fail(ErrorCode::busy, "a run is starting, and shows nothing yet",
                "try again in a moment");
  return fail(
      ErrorCode::usage,
      fmt::format("no run is in progress in {}", context.state_dir.lexically_normal().string()),
      "gantry run --grid uses the sites that its grid file names");
}

const store::LiveSite* find_site(const store::LiveState& live, const std::string& name) {
  const auto site = std::ranges::find(live.sites, name, &store::LiveSite::name);
  return site != live.sites.end() ? &*site : nullptr;
}

Result<std::vector<JoinedSite>> add_sites(Context& context, const Grid& grid,
                                          std::vector<std::string> names) {
  TRY_ASSIGN(const auto live, run_that_goes_on(context));
  if (live.grid.empty())
    return fail(
        ErrorCode::usage,
        fmt::format("run {} was started without a grid file: no site can join it", live.run),
        "stop it with Ctrl-C and start it again with --grid: nothing that is done is lost");
  TRY_ASSIGN(names, sites_to_add(grid, live, std::move(names)));
  store::Request request{.run = RunId(live.run), .join = names};
  request.grid = std::filesystem::absolute(grid.file).string();
  TRY(ask(context, request, live.pid));
  const auto deadline = std::chrono::steady_clock::now() + kJoinPatience;
  std::vector<JoinedSite> joined;
  for (;;) {
    const bool last = std::chrono::steady_clock::now() > deadline;
    const auto now = store::read_live(context.state_dir);
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
    std::this_thread::sleep_for(kLook);
  }
}

Result<> drain_sites(Context& context, const store::LiveState& live,
                     const std::vector<std::string>& names) {
  TRY(ask(context, {.run = RunId(live.run), .leave = names}, live.pid));
  Waiting waiting(context);
  for (;;) {
    const auto now = store::read_live(context.state_dir);
    if (!now || now->run != live.run) {
      const auto holder = store::RunLock::holder(context.state_dir);
      if (holder && *holder == live.pid) {
        std::this_thread::sleep_for(kLook);
        continue;
      }
      return check_finished(context, live.run);
    }
    const bool there = std::ranges::any_of(
        names, [&](const auto& name) { return find_site(*now, name) != nullptr; });
    if (!there) return {};
    waiting.tell(rest_at(*now, names));
    std::this_thread::sleep_for(kLook);
  }
}

}  // namespace gantry::cli
