#include "actuate/launch/all_sites.hpp"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include "actuate/launch/ready_set.hpp"

namespace gantry {

namespace {

/// For hosts to be reached before a run begins without them.
constexpr auto kOpenPatience = std::chrono::seconds(20);
constexpr int kLookMs = 100;

class AllSites final : public Launcher {
 public:
  AllSites(std::unique_ptr<Launcher> home, bool home_works, std::vector<OtherSite> others)
      : home_works_(home_works) {
    sites_.push_back({kHome, "home", {}, std::move(home)});
    for (OtherSite& other : others) {
      for (const HostId host : other.hosts) by_host_[host] = sites_.size();
      by_site_[other.id] = sites_.size();
      sites_.push_back(std::move(other));
    }
  }

  /// Home first: without it nothing else needs to be tried. Then all others at once.
  Result<> open() override {
    for (std::size_t i = 0; i < sites_.size(); ++i) {
      if (const auto opened = sites_[i].launcher->open(); !opened) TRY(leave(i, opened.error()));
    }
    const auto deadline = std::chrono::steady_clock::now() + kOpenPatience;
    do {
      TRY(poll(events_));
      if (settled()) return {};
      pollfd fd{ready_.fd(), POLLIN, 0};
      ::poll(&fd, 1, kLookMs);
    } while (std::chrono::steady_clock::now() < deadline);
    return {};
  }
  [[nodiscard]] bool settled() const override {
    for (std::size_t i = 0; i < sites_.size(); ++i)
      if (!lost_.contains(i) && !sites_[i].launcher->settled()) return false;
    return true;
  }

  [[nodiscard]] bool expects_hosts() const override {
    for (std::size_t i = 0; i < sites_.size(); ++i)
      if (!lost_.contains(i) && sites_[i].launcher->expects_hosts()) return true;
    return false;
  }

  void want(std::uint64_t cores) override {
    for (std::size_t i = 0; i < sites_.size(); ++i)
      if (!lost_.contains(i)) sites_[i].launcher->want(cores);
  }

  void start(const TaskKey& key, HostId host, const Task& task, const Fingerprint& fingerprint,
             const std::vector<TaskFile>& files) override {
    of(host).start(key, host, task, fingerprint, files);
  }
  [[nodiscard]] bool files_travel(HostId host) const override {
    return sites_[index_of(host)].launcher->files_travel(host);
  }
  void bring(FileId file, SiteId site, const std::vector<TaskFile>& files) override {
    at(site).bring(file, site, files);
  }
  void drop(FileId file, SiteId site) override { at(site).drop(file, site); }
  void cancel(const TaskKey& key, HostId host) override { of(host).cancel(key, host); }
  void recall(HostId host) override { of(host).recall(host); }

  void acknowledge(std::uint64_t receipt) override {
    std::map<std::size_t, std::uint64_t> latest;
    while (!receipts_.empty() && receipts_.front().ours <= receipt) {
      // Of what a launcher says by itself, no agent wants to hear: 0.
      std::uint64_t& its = latest[receipts_.front().site];
      its = std::max(its, receipts_.front().its);
      receipts_.pop_front();
    }
    for (const auto& [site, its] : latest) sites_[site].launcher->acknowledge(its);
  }

  void refuse(std::uint64_t receipt) override {
    const auto found = std::ranges::find(receipts_, receipt, &Receipt::ours);
    if (found != receipts_.end()) sites_[found->site].launcher->refuse(found->its);
  }

  Result<> poll(std::vector<LauncherEvent>& events) override {
    for (std::size_t i = 0; i < sites_.size(); ++i) {
      if (lost_.contains(i)) continue;
      heard_.clear();
      const auto polled = sites_[i].launcher->poll(heard_);
      for (auto& event : heard_) take(i, std::move(event));
      if (!polled) TRY(leave(i, polled.error()));
    }
    if (&events != &events_) {
      std::ranges::move(events_, std::back_inserter(events));
      events_.clear();
    }
    std::vector<ReadySet::Wanted> wanted;
    for (std::size_t i = 0; i < sites_.size(); ++i)
      if (!lost_.contains(i))
        wanted.push_back({sites_[i].launcher->wait_fd(), sites_[i].launcher->wants_to_send()});
    ready_.watch(wanted);
    return {};
  }

  void glance(Glance& glance) const override {
    for (std::size_t i = home_works_ ? 0 : 1; i < sites_.size(); ++i) {
      const std::size_t first = glance.hosts.size();
      sites_[i].launcher->glance(glance);
      const auto lost = lost_.find(i);
      for (std::size_t k = first; lost != lost_.end() && k < glance.hosts.size(); ++k) {
        glance.hosts[k].condition = HostCondition::lost;
        glance.hosts[k].why = lost->second;
      }
    }
  }

  [[nodiscard]] int wait_fd() const override { return ready_.fd(); }
  [[nodiscard]] bool wants_to_send() const override { return false; }  // the set watches for it
  void close() override {
    for (auto& site : sites_) site.launcher->close();
  }

 private:
  struct Receipt {
    std::uint64_t ours = 0;
    std::size_t site = 0;
    std::uint64_t its = 0;
  };

  [[nodiscard]] std::size_t index_of(HostId host) const {
    const auto found = by_host_.find(host);
    return found == by_host_.end() ? 0 : found->second;
  }
  Launcher& of(HostId host) { return *sites_[index_of(host)].launcher; }
  Launcher& at(SiteId site) { return *sites_[by_site_.at(site)].launcher; }

  void take(std::size_t site, LauncherEvent event) {
    if (const auto* appeared = std::get_if<HostAppeared>(&event)) {
      if (site == 0 && !home_works_) return;
      up_.insert(appeared->host.id);
    }
    if (const auto* vanished = std::get_if<HostVanished>(&event)) up_.erase(vanished->host);
    if (auto* report = std::get_if<ReportReceived>(&event)) {
      receipts_.push_back({++last_receipt_, site, report->receipt});
      report->receipt = last_receipt_;
    }
    events_.push_back(std::move(event));
  }

  /// The run goes on without a site other than home.
  Result<> leave(std::size_t site, const Error& why) {
    if (site == 0) return tl::unexpected<Error>(why);
    lost_.emplace(site, why.message);
    bool any = false;
    for (const HostId host : sites_[site].hosts) {
      if (up_.erase(host) == 0) continue;
      events_.emplace_back(HostVanished{host, sites_[site].name + ": " + why.message});
      any = true;
    }
    if (!any) events_.emplace_back(LauncherNotice{sites_[site].name + ": " + why.message});
    return {};
  }

  std::vector<OtherSite> sites_;  ///< home first
  bool home_works_;
  std::map<HostId, std::size_t> by_host_;
  std::map<SiteId, std::size_t> by_site_;
  std::set<HostId> up_;
  std::map<std::size_t, std::string> lost_;  ///< why
  std::deque<Receipt> receipts_;             ///< not acknowledged
  std::uint64_t last_receipt_ = 0;
  ReadySet ready_;
  std::vector<LauncherEvent> heard_;
  std::vector<LauncherEvent> events_;
};

}  // namespace

std::unique_ptr<Launcher> make_all_sites(std::unique_ptr<Launcher> home, bool home_works,
                                         std::vector<OtherSite> others) {
  return std::make_unique<AllSites>(std::move(home), home_works, std::move(others));
}

}  // namespace gantry
