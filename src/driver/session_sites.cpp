// Session: sites that join the run and leave it while it goes on, and their links.
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "driver/session.hpp"

namespace gantry::driver {

void Session::hear_of(const Host& host) {
  if (host.site == kHome) return;
  FarHost& far = far_hosts_[host.id];
  far.site = host.site;
  far.name = {site_name(host.site), host.name};
  if (run_.unheard.erase(far.name) == 0) return;
  far.given = true;
  if (run_.unheard.empty()) run_.engine.apply(HostsUnheard{run_.id, false});
}

void Session::release_if_free(HostId host) {
  const auto far = far_hosts_.find(host);
  // Otherwise it may go on, and be back.
  const bool is_free = far != far_hosts_.end() && !run_.view().uses(host);
  if (!is_free || !std::exchange(far->second.given, false)) return;
  store_.release(run_.id, far->second.name);
  dirty_ = true;
}

Result<> Session::note_given(const std::vector<Action>& actions) {
  const auto is_new = [&](const Action& action) {
    const auto* start = std::get_if<StartAttempt>(&action);
    const auto far = start != nullptr ? far_hosts_.find(start->host) : far_hosts_.end();
    return far != far_hosts_.end() && !far->second.given;
  };
  if (far_hosts_.empty() || std::ranges::none_of(actions, is_new)) return {};
  // Of all that are up: the others get their first attempts soon, and a commit takes its time.
  for (const schedule::HostLoad& load : run_.engine.hosts()) {
    const auto far = far_hosts_.find(load.host->id);
    if (far == far_hosts_.end() || std::exchange(far->second.given, true)) continue;
    store_.give(run_.id, far->second.name);
  }
  dirty_ = true;
  return commit(false);
}

bool Session::leaves_attempts() const {
  const auto& c = run_.view().counts();
  if (c.done + c.failed == c.total) return false;
  if (!run_.unheard.empty()) return true;
  std::set<SiteId> sites;
  for (const auto& [id, far] : far_hosts_) sites.insert(far.site);
  return std::ranges::any_of(sites, [&](SiteId site) { return run_.view().uses(site); });
}

void Session::change_sites(const store::Request& request) {
  dirty_ = true;  // whoever asked waits until the request is taken
  for (const std::string& name : request.join) join(request.grid, name);
  for (const std::string& name : request.leave) begin_to_leave(name);
}

void Session::join(const std::string& file, const std::string& name) {
  const auto joined = sites_.join(file, name);
  if (!joined) return tell(fmt::format("site {} does not join: {}", name, joined.error().message));
  tell(fmt::format("site {} joins the run", name));
  run_.engine.apply(*joined);
  recall_queues();
}

void Session::begin_to_leave(const std::string& name) {
  const auto site = sites_.find(name);
  if (!site) return tell(site.error().message);
  if (!leaving_.insert(*site).second) return;
  was_drained_ = true;
  tell(fmt::format("site {} leaves the run when its tasks have ended", name));
  sites_.rest(*site);
  std::vector<HostId> hosts;
  bool others = launcher_.expects_hosts({});
  for (const schedule::HostLoad& load : run_.engine.hosts()) {
    if (load.host->site == *site) hosts.push_back(load.host->id);
    others = others || !leaving_.contains(load.host->site);
  }
  for (const HostId host : hosts) run_.engine.apply(HostDraining{host});
  if (!others) tell("no other host is up: tasks wait until one is, or a site joins");
}

Result<> Session::let_go_of_idle_sites() {
  for (auto site = leaving_.begin(); site != leaving_.end();) {
    if (run_.view().uses(*site)) {
      ++site;
      continue;
    }
    TRY(commit(false));  // its agents may forget what has ended there
    sites_.leave(*site);
    forget_files_at(*site);
    tell(fmt::format("site {} has left the run", site_name(*site)));
    site = leaving_.erase(site);
  }
  return {};
}

void Session::probe_links() {
  const auto probe = probes_.due(
      board_.sites(), run_.engine.seen(),
      [this](SiteId site) { return run_.view().may_move_files(site); }, sites_.grid(),
      clock_.now());
  if (!probe) return;
  if (leaving_.contains(probe->site) || !launcher_.probe(probe->site, probe->bytes))
    probes_.not_sent();
}

/// Nothing comes from there any more.
void Session::forget_files_at(SiteId site) {
  const auto known = run_.engine.site_files(now_);
  const auto found = std::ranges::find(known, site, &schedule::SiteFiles::site);
  if (found == known.end()) return;
  // What the engine shows changes with each event.
  const std::vector<FileId> there(found->there.begin(), found->there.end());
  std::vector<FileId> moving;
  for (const auto& file : found->moving) moving.push_back(file.file);
  for (const FileId file : there) run_.engine.apply(FileGone{file, site});
  for (const FileId file : moving)
    run_.engine.apply(MoveFailed{file, site, "the site has left the run", now_});
}

}  // namespace gantry::driver
