#include "actuate/launch/all_sites.hpp"

#include <poll.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <iterator>
#include <map>
#include <set>
#include <thread>
#include <utility>

#include "base/ready_set.hpp"

namespace gantry {

namespace {

/// For hosts to be reached before a run begins without them.
constexpr auto kOpenPatience = std::chrono::seconds(20);
/// When some are there, and others may only have work for later.
constexpr auto kShortPatience = std::chrono::seconds(5);
constexpr int kLookMs = 100;
constexpr auto kWindUpPause = std::chrono::milliseconds(5);

class AllSites final : public ManySites {
 public:
  AllSites(std::unique_ptr<Launcher> home, bool home_works, std::vector<OtherSite> others)
      : home_works_(home_works) {
    sites_.push_back({kHome, "home", {}, std::move(home)});
    for (OtherSite& other : others) take_up(std::move(other));
  }

  void add(OtherSite site) override {
    take_up(std::move(site));
    const std::size_t last = sites_.size() - 1;
    // It is not home: the run goes on without it.
    if (const auto opened = sites_[last].launcher->open(); !opened)
      static_cast<void>(lose(last, opened.error()));
  }

  void rest(SiteId site) override { resting_.insert(by_site_.at(site)); }

  void leave(SiteId site) override {
    const std::size_t index = by_site_.at(site);
    OtherSite& gone = sites_[index];
    if (index == 0 || !gone.launcher) return;
    gone.launcher->close();
    gone.launcher.reset();
    for (const HostId host : gone.hosts) {
      if (up_.erase(host) > 0) events_.emplace_back(HostDown{host, ""});
      expect_no_more(host);
      by_host_.erase(host);
    }
    // What was not acknowledged stays with its agents.
    std::erase_if(receipts_, [&](const Receipt& receipt) { return receipt.site == index; });
  }

  void expect_nothing() override { nothing_is_left_ = true; }

  /// Home first: without it nothing else needs to be tried. Then all others at once.
  Result<> open() override {
    for (std::size_t i = 0; i < sites_.size(); ++i) {
      if (const auto opened = sites_[i].launcher->open(); !opened) TRY(lose(i, opened.error()));
    }
    const auto begin = std::chrono::steady_clock::now();
    for (;;) {
      TRY(poll(events_));
      const auto waited = std::chrono::steady_clock::now() - begin;
      const bool enough = nothing_is_left_ && !up_.empty() && waited > kShortPatience;
      if (settled() || enough || waited > kOpenPatience) return {};
      pollfd fd{ready_.fd(), POLLIN, 0};
      ::poll(&fd, 1, kLookMs);
    }
  }
  [[nodiscard]] bool settled() const override {
    for (std::size_t i = 0; i < sites_.size(); ++i)
      if (is_used(i) && !sites_[i].launcher->settled()) return false;
    return true;
  }

  [[nodiscard]] bool expects_hosts(const Resources& least) const override {
    for (std::size_t i = 0; i < sites_.size(); ++i)
      if (is_used(i) && !resting_.contains(i) && sites_[i].launcher->expects_hosts(least))
        return true;
    return false;
  }

  /// Those that a person sent away do not count.
  [[nodiscard]] bool has_given_up() const override {
    bool any = false;
    for (std::size_t i = home_works_ ? 0 : 1; i < sites_.size(); ++i) {
      if (!sites_[i].launcher || resting_.contains(i)) continue;
      if (!lost_.contains(i) && !sites_[i].launcher->has_given_up()) return false;
      any = true;
    }
    return any;
  }

  void want(std::uint64_t cores) override {
    for (std::size_t i = 0; i < sites_.size(); ++i)
      if (is_used(i)) sites_[i].launcher->want(resting_.contains(i) ? 0 : cores);
  }

  void start(const TaskKey& key, HostId host, const Task& task, const Fingerprint& fingerprint,
             const std::vector<TaskFile>& files) override {
    of(host).start(key, host, task, fingerprint, files);
  }
  [[nodiscard]] bool files_travel(HostId host) const override {
    return sites_[index_of(host)].launcher->files_travel(host);
  }
  void bring(const MoveFile& move, const std::vector<TaskFile>& files) override {
    if (Launcher* launcher = at(move.to)) return launcher->bring(move, files);
    events_.emplace_back(
        MoveFailed{.file = move.file, .site = move.to, .reason = "the site has left the run"});
  }
  void drop(FileId file, SiteId site) override {
    if (Launcher* launcher = at(site)) launcher->drop(file, site);
  }
  bool probe(SiteId site, std::uint64_t bytes) override {
    Launcher* launcher = at(site);
    return launcher != nullptr && launcher->probe(site, bytes);
  }
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

  Result<> poll(std::vector<News>& events) override {
    for (std::size_t i = 0; i < sites_.size(); ++i) {
      if (!is_used(i)) continue;
      heard_.clear();
      const auto polled = sites_[i].launcher->poll(heard_);
      for (auto& event : heard_) take(i, std::move(event));
      if (!polled) TRY(lose(i, polled.error()));
    }
    if (&events != &events_) {
      std::ranges::move(events_, std::back_inserter(events));
      events_.clear();
    }
    std::vector<ReadySet::Wanted> wanted;
    for (std::size_t i = 0; i < sites_.size(); ++i)
      if (is_used(i))
        wanted.push_back({sites_[i].launcher->wait_fd(), sites_[i].launcher->wants_to_send()});
    ready_.watch(wanted);
    return {};
  }

  void glance(Glance& glance) const override {
    for (std::size_t i = home_works_ ? 0 : 1; i < sites_.size(); ++i) {
      if (!sites_[i].launcher) continue;
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
  /// All together: one that cannot be reached keeps no other waiting.
  void close() override {
    const auto wind_up = [this] {
      bool all = true;
      for (auto& site : sites_)
        if (site.launcher && !site.launcher->wind_up()) all = false;
      return all;
    };
    while (!wind_up()) std::this_thread::sleep_for(kWindUpPause);
    for (auto& site : sites_)
      if (site.launcher) site.launcher->close();
  }
  std::vector<std::string> last_words() override {
    std::vector<std::string> words;
    for (auto& site : sites_)
      if (site.launcher) std::ranges::move(site.launcher->last_words(), std::back_inserter(words));
    return words;
  }

 private:
  struct Receipt {
    std::uint64_t ours = 0;
    std::size_t site = 0;
    std::uint64_t its = 0;
  };

  void take_up(OtherSite site) {
    for (const HostId host : site.hosts) by_host_[host] = sites_.size();
    by_site_[site.id] = sites_.size();
    sites_.push_back(std::move(site));
  }
  [[nodiscard]] bool is_used(std::size_t site) const {
    return sites_[site].launcher && !lost_.contains(site);
  }
  [[nodiscard]] std::size_t index_of(HostId host) const {
    const auto found = by_host_.find(host);
    return found == by_host_.end() ? 0 : found->second;
  }
  Launcher& of(HostId host) { return *sites_[index_of(host)].launcher; }
  /// nullptr when it was let go.
  Launcher* at(SiteId site) { return sites_[by_site_.at(site)].launcher.get(); }

  void take(std::size_t site, News event) {
    if (const auto* appeared = find_in<HostUp>(event)) {
      if (site == 0 && !home_works_) return;
      up_.insert(appeared->host.id);
    }
    if (const auto* vanished = find_in<HostDown>(event)) up_.erase(vanished->host);
    if (const auto* job = find_in<HostQueued>(event)) {
      if (job->since != kNever)
        awaited_.insert(job->host.id);
      else
        awaited_.erase(job->host.id);
    }
    if (auto* report = std::get_if<ReportReceived>(&event)) {
      receipts_.push_back({++last_receipt_, site, report->receipt});
      report->receipt = last_receipt_;
    }
    events_.push_back(std::move(event));
  }

  void expect_no_more(HostId host) {
    if (awaited_.erase(host) == 0) return;
    HostQueued gone;
    gone.host.id = host;
    events_.emplace_back(std::move(gone));
  }

  /// The run goes on without a site other than home.
  Result<> lose(std::size_t site, const Error& why) {
    if (site == 0) return tl::unexpected<Error>(why);
    lost_.emplace(site, why.message);
    bool any = false;
    for (const HostId host : sites_[site].hosts) {
      expect_no_more(host);
      if (up_.erase(host) == 0) continue;
      events_.emplace_back(HostDown{host, sites_[site].name + ": " + why.message});
      any = true;
    }
    if (!any) events_.emplace_back(Notice{sites_[site].name + ": " + why.message});
    return {};
  }

  std::vector<OtherSite> sites_;  ///< home first; those that were let go have no launcher
  bool home_works_;
  bool nothing_is_left_ = false;  ///< of earlier runs, anywhere
  std::map<HostId, std::size_t> by_host_;
  std::map<SiteId, std::size_t> by_site_;
  std::set<HostId> up_;
  std::set<HostId> awaited_;                 ///< whose jobs wait in queues
  std::map<std::size_t, std::string> lost_;  ///< why
  std::set<std::size_t> resting_;
  std::deque<Receipt> receipts_;  ///< not acknowledged
  std::uint64_t last_receipt_ = 0;
  ReadySet ready_;
  std::vector<News> heard_;
  std::vector<News> events_;
};

}  // namespace

std::unique_ptr<ManySites> make_all_sites(std::unique_ptr<Launcher> home, bool home_works,
                                          std::vector<OtherSite> others) {
  return std::make_unique<AllSites>(std::move(home), home_works, std::move(others));
}

}  // namespace gantry
