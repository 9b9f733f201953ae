#pragma once
/// Reports of a site's hosts that wait until what their tasks wrote has come home. Those of a host
/// go on in their order, since they are acknowledged so. Owned by the site's launcher.

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actuate/launch/output_note.hpp"
#include "actuate/launch/sandbox.hpp"
#include "actuate/launch/ssh/remote_site.hpp"
#include "actuate/launcher.hpp"
#include "actuate/move/site_depot.hpp"

namespace gantry {

class Arrivals {
 public:
  using Clock = std::chrono::steady_clock;

  /// Both must outlive this.
  Arrivals(const RemoteSite& site, SiteDepot& depot) : site_(site), depot_(depot) {}

  /// Asks for what the task wrote, as far as it counts. `scratch`: the host's folder for us.
  void take(ReportReceived report, const RemoteHost& host, const std::string& scratch);
  /// What it had reported it will report again. What comes of it meanwhile is not fetched twice.
  void on_vanished(HostId host);
  [[nodiscard]] bool any_of(HostId host) const;

  /// Looks at what has come. What home cannot take, or what could not be reached, is fetched again:
  /// nothing is wrong with the task.
  void poll(Clock::time_point now, std::vector<News>& events);
  /// The next report of the host that is complete, if any.
  std::optional<ReportReceived> next_of(HostId host);

 private:
  struct Fetch {
    Get file;
    std::optional<TransferId> under_way{};
    bool done = false;
    Clock::time_point again{};  ///< neither: not before
  };
  struct Arrival {
    ReportReceived report;
    std::vector<Fetch> fetches{};
    bool announced = false;
    bool told = false;  ///< that something is in the way
    std::chrono::milliseconds pause{1000};
  };

  void fetch_printed(Arrival& arrival, const RemoteHost& host);
  void fetch_outputs(Arrival& arrival, const OutputNote& note, const Sandbox& below_scratch);
  void take_kept(AttemptReport& report, const OutputNote& note, const Sandbox& there) const;
  void look_at(Arrival& arrival, Clock::time_point now, std::vector<News>& events);
  void on_failed(Arrival& arrival, Fetch& fetch, const SiteDepot::Outcome& outcome,
                 Clock::time_point now, std::vector<News>& events);

  const RemoteSite& site_;
  SiteDepot& depot_;
  std::map<HostId, std::deque<Arrival>> hosts_;
  /// What hosts that vanished had reported: it goes on coming.
  std::map<TaskKey, std::vector<Fetch>> unclaimed_;
};

}  // namespace gantry
