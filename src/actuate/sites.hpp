#pragma once
/// All sites in use: home, whose failure ends everything, and others, without which work goes on.
/// Owned by the driver, used from its thread; waits only in close().

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "actuate/site.hpp"

namespace gantry {

enum class HomeUse : std::uint8_t {
  runs_tasks,
  only_listens,  ///< nothing is started at home, but reports of earlier runs are still taken
};

enum class Leftovers : std::uint8_t {
  possible,  ///< earlier runs may have left something anywhere: every host is waited for
  none,      ///< hosts that take long to be reached are not waited for once others are there
};

class Sites {
 public:
  /// REQUIRES: no two hosts of any sites have the same number.
  Sites(SiteParts home, HomeUse use, std::vector<SiteParts> others);

  /// Call it again after each poll() until it returns true: then everything that could be reached
  /// in time has been reported.
  Result<bool> open(Leftovers leftovers, TimePoint now);

  // Sites that come and go.
  // -------------------------------------------------------------------------------------------

  /// Adds a site. Its hosts appear as they are reached.
  void add(SiteParts site);
  /// No more hosts are asked for there.
  void rest(SiteId site) { resting_.insert(by_site_.at(site)); }
  /// Lets the site go: its hosts vanish, and its agents end when nothing runs there. REQUIRES: not
  /// home.
  void leave(SiteId site);

  // Attempts.
  // -------------------------------------------------------------------------------------------

  void start(LaunchRequest request) {
    Site& site = of(request.host);
    site.start(std::move(request));
  }
  void cancel(const TaskKey& key, HostId host) { of(host).cancel(key, host); }
  void signal(const TaskKey& key, HostId host, std::int32_t signal) {
    of(host).signal(key, host, signal);
  }
  void recall(HostId host, std::span<const TaskKey> keys) { of(host).recall(host, keys); }
  /// This report and all before it are safe in the journal.
  void acknowledge(std::uint64_t receipt);
  /// As in Site.
  void refuse(std::uint64_t receipt);
  /// REQUIRES: the host has been up, and its site has not left.
  [[nodiscard]] bool files_travel(HostId host) { return of(host).files_travel(); }

  // Files and links; MoveFailed answers for a site that has left.
  // -------------------------------------------------------------------------------------------

  void bring(const MoveFile& move, const std::vector<TaskFile>& files);
  void drop(FileId file, SiteId site);
  bool probe(SiteId site, std::uint64_t bytes);

  /// Appends what has happened, stamped with `now`. Receipts are unique and growing across all
  /// sites.
  Result<> poll(TimePoint now, std::vector<News>& news);
  [[nodiscard]] ReadySet::Wanted waits_for() const;

  [[nodiscard]] bool expects_hosts(const Resources& least) const;
  /// Sites that a person has drained do not count.
  [[nodiscard]] bool has_given_up() const;
  void want(std::uint64_t cores);
  void glance(Glance& glance) const;

  /// Closes all sites together, so that one that cannot be reached delays no other. Waits for some
  /// seconds at most. Appends notices for a person.
  void close(std::vector<News>& news);

 private:
  struct Receipt {
    std::uint64_t ours = 0;
    std::size_t site = 0;
    HostId host;
    std::uint64_t its = 0;
  };

  void take_up(SiteParts parts);
  [[nodiscard]] bool is_used(std::size_t site) const {
    return sites_[site] && !lost_.contains(site);
  }
  [[nodiscard]] std::size_t index_of(HostId host) const;
  Site& of(HostId host) { return *sites_[index_of(host)]; }
  /// nullptr if it has left.
  Site* at(SiteId site) { return sites_[by_site_.at(site)].get(); }
  Result<> poll_site(std::size_t index);
  void take(std::size_t site, News news);
  void expect_no_more(HostId host);
  /// Work goes on without a site other than home.
  Result<> lose(std::size_t site, const Error& why);

  std::vector<std::unique_ptr<Site>> sites_;  ///< home first; nullptr: it has left
  std::vector<std::unique_ptr<Site>> leaving_;
  HomeUse home_;
  TimePoint opened_at_ = kNever;
  std::map<HostId, std::size_t> by_host_;
  std::map<SiteId, std::size_t> by_site_;
  std::set<HostId> up_;
  std::set<HostId> awaited_;                 ///< hosts whose jobs wait in queues
  std::map<std::size_t, std::string> lost_;  ///< why
  std::set<std::size_t> resting_;
  std::deque<Receipt> receipts_;  ///< not acknowledged
  std::uint64_t last_receipt_ = 0;
  ReadySet ready_;
  std::vector<News> heard_;
  std::vector<News> news_;
};

}  // namespace gantry
