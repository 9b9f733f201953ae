// Hub: what actuators tell, to the engine and to the person.
#include <fmt/format.h>

#include <algorithm>

#include "base/overloaded.hpp"
#include "driver/hub.hpp"

namespace gantry::driver {

Result<> Hub::on_news(News news) {
  return std::visit(Overloaded{[&](Event& event) -> Result<> {
                                 on_event(event);
                                 return {};
                               },
                               [&](ReportReceived& report) -> Result<> {
                                 receipt_ = std::max(receipt_, report.receipt);
                                 dirty_ = true;
                                 const TaskKey key = report.report.key;
                                 if (RunIo* io = owner(key))
                                   return on_report(*io, std::move(report));
                                 board_.on_ended(key);
                                 return take_others(std::move(report), 0);
                               },
                               [&](Notice& notice) -> Result<> {
                                 tell(notice.text);
                                 return {};
                               }},
                    news);
}

void Hub::on_event(Event& event) {
  const bool counts = std::visit(
      Overloaded{
          [&](const AttemptStarted& e) { return is_to_know(e); },
          [&](const AttemptReturned& e) {
            if (owner(e.key) == nullptr) others_.returned(e.key);
            return owner(e.key) != nullptr;
          },
          [&](const AttemptComputed& e) { return owner(e.key) != nullptr; },
          [&](const SiteEchoed& e) { return e.bytes == 0 || probes_.answered(e.site, now_); },
          [](const auto&) { return true; }},
      event);
  if (!counts) return;
  if (const auto* down = std::get_if<HostDown>(&event)) {
    unpark(down->host, {});
    others_.vanished(down->host);
  }
  show(event);
  engine_.apply(event);
  if (const auto* up = std::get_if<HostUp>(&event)) {
    if (leaving_.contains(up->host.site)) engine_.apply(HostDraining{up->host.id});
    expect_staged(up->host.site);
  }
}

bool Hub::is_to_know(const AttemptStarted& started) {
  if (owner(started.key) != nullptr) return true;
  others_.started(started.key, started.host);
  return false;
}

/// What people see of it, before the engine makes something of it.
void Hub::show(const Event& event) {
  std::visit(Overloaded{[&](const HostUp& e) {
                          host_names_[e.host.id] = e.host.name;
                          hear_of(e.host);
                        },
                        [&](const HostDown& e) {
                          if (!e.why.empty()) tell(e.why + what_is_lost_with(e.host));
                          board_.on_vanished(e.host);
                          release_if_free(e.host);
                        },
                        [&](const HostDraining& e) {
                          if (!e.why.empty() && rested_.insert(e.host).second) tell(e.why);
                        },
                        [&](const AttemptComputed& e) { board_.on_computed(e.key, e.host, now_); },
                        [&](const FileArrived& e) {
                          unsent_.erase({e.file, e.site});
                        },
                        [&](const MoveFailed& e) {
                          // It is tried again and again.
                          if (!e.reason.empty() && unsent_.emplace(e.file, e.site).second)
                            tell(fmt::format("{} could not be sent to site {}: {}",
                                             names_.path(e.file), site_name(e.site), e.reason));
                        },
                        [&](const WayClosed& e) { tell(e.why); }, [](const auto&) {}},
             event);
}

/// Plans count on them at once. The site looks meanwhile whether they are what they should be; what
/// is not is sent.
void Hub::expect_staged(SiteId site) {
  if (sites_.grid() == nullptr || !expected_.insert(site).second) return;
  const GridSite& described = sites_.grid()->sites[site.value()];
  for (std::uint32_t i = 0; i < names_.size(); ++i) {
    if (!is_staged(described, names_.path(FileId(i)))) continue;
    engine_.apply(FileArrived{FileId(i), site, now_});
    bring({FileId(i), kHome, site});
  }
}

std::string Hub::what_is_lost_with(HostId host) const {
  const bool starts_more =
      std::ranges::any_of(ios_, [&](const auto& io) { return view(*io).draining().empty(); });
  if (!starts_more || engine_.hosts().size() < 2) return {};
  for (const schedule::HostLoad& load : engine_.hosts()) {
    if (load.host->id != host || load.ongoing.empty()) continue;
    const std::size_t tasks = load.ongoing.size();
    return fmt::format("; its {} elsewhere unless it is back first",
                       tasks == 1 ? "task starts" : fmt::format("{} tasks start", tasks));
  }
  return {};
}

std::string Hub::site_name(SiteId site) const {
  const Grid* grid = sites_.grid();
  const bool known = grid != nullptr && site.value() < grid->sites.size();
  return known ? grid->sites[site.value()].name : std::to_string(site.value());
}

}  // namespace gantry::driver
