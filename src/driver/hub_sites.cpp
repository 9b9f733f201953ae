// Hub: sites that join the run and leave it while it goes on, and their links.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "driver/hub.hpp"

namespace gantry::driver {

void Hub::hear_of(const Host& host) {
  if (host.site == kHome) return;
  const store::SiteHost name{site_name(host.site), host.name};
  far_hosts_[host.id] = {host.site, name};
  for (const auto& io : ios_) {
    if (io->run.unheard.erase(name) == 0) continue;
    io->given.insert(host.id);
    if (io->run.unheard.empty()) engine_.apply(HostsUnheard{io->id(), false});
  }
}

Result<> Hub::note_given(const std::vector<Action>& actions) {
  bool added = false;
  for (const Action& action : actions) {
    const auto* start = std::get_if<StartAttempt>(&action);
    if (start == nullptr || !far_hosts_.contains(start->host)) continue;
    RunIo& io = io_of(start->key.run);
    if (io.given.contains(start->host)) continue;
    // All that are up: the others get their first attempts soon, and a commit takes its time.
    for (const schedule::HostLoad& load : engine_.hosts()) {
      const auto far = far_hosts_.find(load.host->id);
      if (far != far_hosts_.end() && io.given.insert(far->first).second)
        store_.give(io.id(), far->second.name);
    }
    added = true;
  }
  if (!added) return {};
  dirty_ = true;
  return commit(false);
}

void Hub::release_if_free(HostId host) {
  for (const auto& io : ios_) {
    // A host that has an attempt may go on with it, and come back.
    if (view(*io).uses(host) || io->given.erase(host) == 0) continue;
    store_.release(io->id(), far_hosts_.at(host).name);
    dirty_ = true;
  }
}

bool Hub::leaves_attempts(const RunIo& io) const {
  const auto& c = view(io).counts();
  if (c.done + c.failed == c.total) return false;
  if (!io.run.unheard.empty()) return true;
  std::set<SiteId> sites;
  for (const auto& [id, far] : far_hosts_) sites.insert(far.site);
  return std::ranges::any_of(sites, [&](SiteId site) { return view(io).uses(site); });
}

void Hub::change_sites(const store::Request& request) {
  dirty_ = true;  // whoever asked waits until the request is taken
  for (const std::string& name : request.join) join(request.grid, name);
  for (const std::string& name : request.leave) begin_to_leave(name);
}

void Hub::join(const std::string& file, const std::string& name) {
  const auto joined = sites_.join(file, name);
  if (!joined) return tell(fmt::format("site {} does not join: {}", name, joined.error().message));
  tell(fmt::format("site {} joins the run", name));
  engine_.apply(*joined);
  recall_queues();
}

void Hub::begin_to_leave(const std::string& name) {
  const auto site = sites_.find(name);
  if (!site) return tell(site.error().message);
  if (!leaving_.insert(*site).second) return;
  was_drained_ = true;
  tell(fmt::format("site {} leaves the run when its tasks have ended", name));
  sites_.rest(*site);
  std::vector<HostId> hosts;
  bool others = actuators_.expects_hosts({});
  for (const schedule::HostLoad& load : engine_.hosts()) {
    if (load.host->site == *site) hosts.push_back(load.host->id);
    others = others || !leaving_.contains(load.host->site);
  }
  for (const HostId host : hosts) engine_.apply(HostDraining{host});
  if (!others) tell("no other host is up: tasks wait until one is, or a site joins");
}

Result<> Hub::let_go_of_idle_sites() {
  for (auto site = leaving_.begin(); site != leaving_.end();) {
    const bool used =
        std::ranges::any_of(ios_, [&](const auto& io) { return view(*io).uses(*site); });
    if (used) {
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

void Hub::probe_links() {
  const auto probe = probes_.due(
      board_.sites(), engine_.seen(),
      [this](SiteId site) {
        return std::ranges::any_of(ios_,
                                   [&](const auto& io) { return view(*io).may_move_files(site); });
      },
      sites_.grid(), clock_.now());
  if (!probe) return;
  if (leaving_.contains(probe->site) || !actuators_.probe(probe->site, probe->bytes))
    probes_.not_sent();
}

/// Nothing comes from there any more.
void Hub::forget_files_at(SiteId site) {
  const auto known = engine_.site_files(now_);
  const auto found = std::ranges::find(known, site, &schedule::SiteFiles::site);
  if (found == known.end()) return;
  // What the engine shows changes with each event.
  const std::vector<FileId> there(found->there.begin(), found->there.end());
  std::vector<FileId> moving;
  for (const auto& file : found->moving) moving.push_back(file.file);
  for (const FileId file : there) engine_.apply(FileGone{file, site});
  for (const FileId file : moving)
    engine_.apply(MoveFailed{file, site, "the site has left the run", now_});
}

}  // namespace gantry::driver
