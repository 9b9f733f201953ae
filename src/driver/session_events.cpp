// What the launcher tells, to the engine and to the person.
#include <fmt/format.h>

#include <algorithm>

#include "base/overloaded.hpp"
#include "driver/session.hpp"

namespace gantry::driver {

Result<> Session::on_event(LauncherEvent event) {
  const auto ours = [&](const TaskKey& key) { return is_ours(key); };
  return std::visit(
      Overloaded{[&](HostAppeared& e) -> Result<> {
                   host_names_[e.host.id] = e.host.name;
                   hear_of(e.host.name);
                   run_.engine.apply(HostUp{e.host});
                   if (leaving_.contains(e.host.site)) run_.engine.apply(HostDraining{e.host.id});
                   expect_staged(e.host.site);
                   return {};
                 },
                 [&](HostVanished& e) -> Result<> {
                   if (!e.why.empty()) tell(e.why + what_is_lost_with(e.host));
                   board_.on_vanished(e.host);
                   run_.engine.apply(HostDown{e.host});
                   return {};
                 },
                 [&](HostResting& e) -> Result<> {
                   if (rested_.insert(e.host).second) tell(e.why);
                   run_.engine.apply(HostDraining{e.host, true});
                   return {};
                 },
                 [&](HostShared& e) -> Result<> {
                   run_.engine.apply(HostLoaded{e.host, e.share, std::min(e.at, now_), now_});
                   return {};
                 },
                 [&](HostAwaited& e) -> Result<> {
                   run_.engine.apply(HostQueued{std::move(e.host), e.waits ? now_ : kNever});
                   return {};
                 },
                 [&](HostEchoed& e) -> Result<> {
                   if (e.bytes > 0 && !probes_.answered(e.site, now_)) return {};
                   run_.engine.apply(
                       SiteEchoed{e.site, e.seconds, now_, static_cast<double>(e.bytes), e.trip});
                   return {};
                 },
                 [&](QueueLeft& e) -> Result<> {
                   run_.engine.apply(QueueWaited{e.site, e.seconds, now_});
                   return {};
                 },
                 [&](TaskRunning& e) -> Result<> {
                   if (!ours(e.key)) {
                     others_.started(e.key, e.host);
                     return {};
                   }
                   if (opening_) adopted_.insert(e.key);
                   run_.engine.apply(AttemptStarted{e.key, e.host, std::min(e.at, now_)});
                   return {};
                 },
                 [&](TaskReturned& e) -> Result<> {
                   if (ours(e.key)) run_.engine.apply(AttemptReturned{e.key, e.host});
                   return {};
                 },
                 [&](TaskComputed& e) -> Result<> {
                   if (!ours(e.key)) return {};
                   board_.on_computed(e.key, e.host, now_);
                   run_.engine.apply(AttemptComputed{e.key, e.host});
                   return {};
                 },
                 [&](FileBrought& e) -> Result<> {
                   unsent_.erase({e.file, e.site});
                   run_.engine.apply(FileArrived{e.file, e.site, now_, e.found});
                   return {};
                 },
                 [&](BringFailed& e) -> Result<> {
                   // It is tried again and again.
                   if (observer_.notice && !e.why.empty() && unsent_.emplace(e.file, e.site).second)
                     observer_.notice(fmt::format("{} could not be sent to site {}: {}",
                                                  shared_.path(e.file), site_name(e.site), e.why));
                   run_.engine.apply(MoveFailed{e.file, e.site, std::move(e.why), now_});
                   return {};
                 },
                 [&](FileLost& e) -> Result<> {
                   run_.engine.apply(FileGone{e.file, e.site});
                   return {};
                 },
                 [&](WayFailed& e) -> Result<> {
                   if (observer_.notice) observer_.notice(e.why);
                   run_.engine.apply(WayClosed{e.from, e.to});
                   return {};
                 },
                 [&](ReportReceived& e) -> Result<> {
                   receipt_ = std::max(receipt_, e.receipt);
                   dirty_ = true;
                   if (ours(e.report.key)) {
                     const bool adopted = adopted_.erase(e.report.key) > 0 || opening_;
                     return on_report(std::move(e), adopted);
                   }
                   board_.on_ended(e.report.key);
                   return take_others(std::move(e), 0);
                 },
                 [&](LauncherNotice& e) -> Result<> {
                   if (observer_.notice) observer_.notice(e.text);
                   return {};
                 }},
      event);
}

/// Plans count on them at once. The site looks meanwhile whether they are what they should be; what
/// is not is sent.
void Session::expect_staged(SiteId site) {
  if (sites_.grid() == nullptr || !expected_.insert(site).second) return;
  const GridSite& described = sites_.grid()->sites[site.value()];
  for (std::uint32_t i = 0; i < shared_.size(); ++i) {
    if (!is_staged(described, shared_.path(FileId(i)))) continue;
    run_.engine.apply(FileArrived{FileId(i), site, now_});
    bring({FileId(i), kHome, site});
  }
}

std::string Session::what_is_lost_with(HostId host) const {
  if (!run_.view().draining().empty() || run_.engine.hosts().size() < 2) return {};
  for (const schedule::HostLoad& load : run_.engine.hosts()) {
    if (load.host->id != host || load.ongoing.empty()) continue;
    const std::size_t tasks = load.ongoing.size();
    return fmt::format("; its {} elsewhere unless it is back first",
                       tasks == 1 ? "task starts" : fmt::format("{} tasks start", tasks));
  }
  return {};
}

std::string Session::site_name(SiteId site) const {
  const Grid* grid = sites_.grid();
  const bool known = grid != nullptr && site.value() < grid->sites.size();
  return known ? grid->sites[site.value()].name : std::to_string(site.value());
}

}  // namespace gantry::driver
