#pragma once
/// Reports of a site's hosts that wait until what their tasks wrote has come home. Those of a host
/// go on in their order, since they are acknowledged so. Owned by a Site.

#include <chrono>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "actuate/move/site_depot.hpp"
#include "actuate/news.hpp"

namespace gantry {

/// Folders here for what tasks wrote elsewhere; absolute.
struct ArrivalFolders {
  std::filesystem::path incoming{};    ///< where outputs wait until their report counts
  std::filesystem::path output_dir{};  ///< for what tasks print, if it is long
};

class Arrivals {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  /// The depot must outlive this. `site` is said in messages.
  Arrivals(std::string site, ArrivalFolders folders, SiteDepot& depot)
      : site_(std::move(site)), folders_(std::move(folders)), depot_(depot) {}

  /// Asks for what the task wrote, as far as it counts.
  void take(ReportReceived report);
  /// What it had reported it will report again. What comes of it meanwhile is not fetched twice.
  void on_vanished(HostId host);

  /// Looks at what has come. What home cannot take, or what could not be reached, is fetched again:
  /// nothing is wrong with the task.
  void poll(SteadyTime now, std::vector<News>& news);
  /// The next report that is complete and whose turn it is, if any.
  std::optional<ReportReceived> next();

 private:
  struct Fetch {
    Get file;
    std::optional<TransferId> under_way{};
    bool done = false;
    SteadyTime again{};  ///< neither: not before
  };
  struct Arrival {
    ReportReceived report;
    std::vector<Fetch> fetches{};
    bool announced = false;
    bool told = false;  ///< that something is in the way
    std::chrono::milliseconds pause{1000};
  };

  void look_at(Arrival& arrival, SteadyTime now, std::vector<News>& news);
  void on_failed(Arrival& arrival, Fetch& fetch, const TransferFailed& failed, SteadyTime now,
                 std::vector<News>& news);

  std::string site_;
  ArrivalFolders folders_;
  SiteDepot& depot_;
  std::map<HostId, std::deque<Arrival>> hosts_;
  /// What hosts that vanished had reported: it goes on coming.
  std::map<TaskKey, std::vector<Fetch>> unclaimed_;
};

}  // namespace gantry
