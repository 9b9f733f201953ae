#include "operate/grid_remove.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "actuate/check/site_cleaner.hpp"
#include "base/fd.hpp"
#include "base/parallel.hpp"
#include "driver/grid_launch.hpp"
#include "model/quantity.hpp"
#include "model/suggest.hpp"
#include "operate/grid_login.hpp"
#include "store/run_lock.hpp"
#include "store/store.hpp"

namespace gantry::operate {

namespace {

constexpr std::uint32_t kMostCleaners = 256;  ///< at once

Result<std::uint32_t> site_to_remove(const Grid& grid, const std::string& name) {
  std::vector<std::string> known;
  for (std::uint32_t i = 1; i < grid.sites.size(); ++i) {
    if (grid.sites[i].access == SiteAccess::none) continue;
    if (grid.sites[i].name == name) return i;
    known.push_back(grid.sites[i].name);
  }
  return fail(ErrorCode::usage, fmt::format("{} has no site '{}' with 'via'", grid.file, name),
              did_you_mean(name, known));
}

/// "HOLDER HOST".
tl::unexpected<Error> refuse_living(const std::string& agent, const GridSite& site,
                                    const std::string& holder, const std::string& grid) {
  const auto blank = agent.find(' ');
  const std::string host = blank == std::string::npos ? agent : agent.substr(blank + 1);
  if (agent.substr(0, blank) == holder)
    return fail(ErrorCode::busy,
                fmt::format("site '{}' is in use: an agent runs on {}", site.name, host),
                fmt::format("its gantry was killed: run it again, or end its tasks with gantry "
                            "cancel --grid {}",
                            grid));
  return fail(
      ErrorCode::busy,
      fmt::format("site '{}' is in use: an agent of another state directory runs on {}", site.name,
                  host),
      "wait for its run to end, or end it there: gantry --state DIR cancel, or in the folder where "
      "it was started");
}

Result<> check_look(const Result<depot::SiteLook>& look, const GridSite& site,
                    const std::string& holder, const std::string& grid) {
  if (!look)
    return fail(ErrorCode::busy, look.error().message + "; tasks may still run there",
                look.error().hint);
  if (!look->strange.empty())
    return fail(ErrorCode::usage,
                fmt::format("{} does not look like a scratch folder of Gantry: it has {}",
                            site.scratch, look->strange),
                "nothing was removed: check scratch:, or remove that by hand first");
  if (!look->alive.empty()) return refuse_living(look->alive.front(), site, holder, grid);
  return {};
}

/// A job that has not begun yet would not find what it needs.
Result<> check_queue(const RemoteSite& site, const AgentBinary& agent,
                     const GridRemoveOptions& options) {
  if (!site.batch) return {};
  const std::string login = site.hosts.front().name;
  const auto jobs = jobs_in_queue(site, agent, options.patience);
  if (!jobs)
    return fail(ErrorCode::busy,
                fmt::format("{}: {}; jobs may still wait there", login, jobs.error().message),
                jobs.error().hint);
  if (jobs->empty()) return {};
  return fail(ErrorCode::busy,
              fmt::format("site '{}' is in use: {} of gantry {} in its queue ({})", site.name,
                          count_of(jobs->size(), "job"), jobs->size() == 1 ? "is" : "are",
                          fmt::join(*jobs, ", ")),
              fmt::format("wait for the run to end; jobs that nobody needs any more: {} {}",
                          site.batch->system == BatchSystem::slurm ? "scancel" : "qdel",
                          fmt::join(*jobs, " ")));
}

}  // namespace

Result<> check_fetched(const std::string& site, const GridRemoveOptions& options) {
  if (options.unfetched || !std::filesystem::exists(options.state_dir / "gantry.db")) return {};
  TRY_ASSIGN(const auto store, store::Store::open(options.state_dir, store::Access::read_only));
  TRY_ASSIGN(const auto outputs, store.remote_outputs());
  const auto kept = std::ranges::count_if(
      outputs, [&](const auto& output) { return output.file.site == site && !output.replaced; });
  if (kept == 0) return {};
  return fail(ErrorCode::busy,
              fmt::format("site '{}' keeps {} that {} not here", site, count_of(kept, "output"),
                          kept == 1 ? "is" : "are"),
              "gantry fetch --all brings them home; --unfetched removes them");
}

namespace {

/// Outputs that exist nowhere else.
Result<> check_kept(const depot::SiteLook& look, const GridSite& site, const std::string& holder,
                    const GridRemoveOptions& options) {
  if (options.unfetched) return {};
  const bool ours = std::ranges::find(look.keeping, holder) != look.keeping.end();
  if (ours) TRY(check_fetched(site.name, options));
  const auto others =
      std::ranges::count_if(look.keeping, [&](const std::string& name) { return name != holder; });
  if (others > 0 && options.all)
    return fail(ErrorCode::busy,
                fmt::format("site '{}' keeps outputs of {} other state director{}", site.name,
                            others, others == 1 ? "y" : "ies"),
                "--unfetched also removes them");
  return {};
}

}  // namespace

Result<depot::SiteRemoval> remove_from_site(const Grid& grid, const std::string& site_name,
                                            const GridRemoveOptions& options) {
  TRY_ASSIGN(const std::uint32_t index, site_to_remove(grid, site_name));
  const GridSite& described = grid.sites[index];
  std::uint32_t next_host = 1;
  RemoteSite site = seen_from_login(driver::remote_site(described, SiteId(index), next_host));
  std::optional<store::RunLock> lock;  // no run of ours begins meanwhile
  if (auto id = read_file(options.state_dir / "id", 100)) {
    site.holder = *id;
    if (!options.beside_run) {
      TRY_ASSIGN(lock, store::RunLock::acquire(options.state_dir));
    }
  }
  driver::SiteAgents agents;
  TRY_ASSIGN(const AgentBinary* agent, agents.of(described));
  TRY(check_queue(site, *agent, options));
  std::vector<std::unique_ptr<HostCleaner>> cleaners;
  for (const RemoteHost& host : site.hosts)
    cleaners.push_back(std::make_unique<HostCleaner>(site, host, *agent, options.all));
  std::vector<Result<depot::SiteLook>> looks(cleaners.size());
  in_parallel(cleaners.size(), kMostCleaners, [&](std::size_t i) {
    looks[i] = cleaners[i]->look(options.patience);
    return true;
  });
  for (const auto& look : looks) {
    TRY(check_look(look, described, site.holder, grid.file));
    TRY(check_kept(*look, described, site.holder, options));
  }
  // The first removes all, unless they share nothing, as they should.
  depot::SiteRemoval sum;
  for (const auto& cleaner : cleaners) {
    TRY_ASSIGN(const depot::SiteRemoval removal, cleaner->remove());
    sum.bytes += removal.bytes;
    sum.files += removal.files;
    sum.kept = std::max(sum.kept, removal.kept);
  }
  return sum;
}

}  // namespace gantry::operate
