#include "actuate/news.hpp"

#include <algorithm>
#include <utility>

#include "base/overloaded.hpp"

namespace gantry {

AttemptReport unrun_report(const TaskKey& key, FailureCause cause, std::string why) {
  AttemptReport report;
  report.key = key;
  report.cause = cause;
  report.detail = std::move(why);
  report.started = report.ended = RealClock{}.now();
  return report;
}

void stamp(Event& event, TimePoint now) {
  std::visit(Overloaded{[&](HostLoaded& e) {
                          e.at = std::min(e.at, now);
                          e.heard = now;
                        },
                        [&](HostQueued& e) {
                          if (e.since != kNever) e.since = now;
                        },
                        [&](AttemptStarted& e) { e.at = std::min(e.at, now); },
                        [&](QueueWaited& e) { e.at = now; }, [&](SiteEchoed& e) { e.at = now; },
                        [&](FileArrived& e) { e.at = now; }, [&](MoveFailed& e) { e.at = now; },
                        [](auto&) {}},
             event);
}

}  // namespace gantry
