#include "actuate/sites.hpp"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

namespace gantry {

namespace {

using namespace std::chrono_literals;

/// For hosts to be reached before work begins without them.
constexpr auto kOpenPatience = 20s;
/// When some are there, and others may only have work for later.
constexpr auto kShortPatience = 5s;
constexpr auto kClosePause = 5ms;

}  // namespace

Sites::Sites(SiteParts home, HomeUse use, std::vector<SiteParts> others) : home_(use) {
  take_up(std::move(home));
  for (SiteParts& other : others) take_up(std::move(other));
}

void Sites::take_up(SiteParts parts) {
  for (const HostId host : parts.hosts) by_host_[host] = sites_.size();
  by_site_[parts.facts.id] = sites_.size();
  sites_.push_back(std::make_unique<Site>(std::move(parts)));
}

Result<bool> Sites::open(Leftovers leftovers, TimePoint now) {
  if (opened_at_ == kNever) opened_at_ = now;
  bool settled = true;
  for (std::size_t i = 0; i < sites_.size(); ++i) {
    if (!is_used(i)) continue;
    const auto opened = sites_[i]->open();
    if (!opened) TRY(lose(i, opened.error()));
    if (opened && !*opened) settled = false;
  }
  const Duration waited = now - opened_at_;
  const bool enough = leftovers == Leftovers::none && !up_.empty() && waited > kShortPatience;
  return settled || enough || waited > kOpenPatience;
}

void Sites::add(SiteParts site) {
  take_up(std::move(site));
  const std::size_t last = sites_.size() - 1;
  // It is not home: work goes on without it.
  if (const auto opened = sites_[last]->open(); !opened)
    static_cast<void>(lose(last, opened.error()));
}

void Sites::leave(SiteId site) {
  const std::size_t index = by_site_.at(site);
  if (index == 0 || !sites_[index]) return;
  for (const HostId host : sites_[index]->hosts()) {
    if (up_.erase(host) > 0) news_.emplace_back(HostDown{host});
    expect_no_more(host);
    by_host_.erase(host);
  }
  leaving_.push_back(std::move(sites_[index]));
  // What was not acknowledged stays with its agents.
  std::erase_if(receipts_, [&](const Receipt& receipt) { return receipt.site == index; });
}

std::size_t Sites::index_of(HostId host) const {
  const auto found = by_host_.find(host);
  return found == by_host_.end() ? 0 : found->second;
}

void Sites::acknowledge(std::uint64_t receipt) {
  std::map<std::pair<std::size_t, HostId>, std::uint64_t> latest;
  while (!receipts_.empty() && receipts_.front().ours <= receipt) {
    const Receipt& each = receipts_.front();
    // Of what a launcher says by itself, no agent wants to hear: 0.
    std::uint64_t& its = latest[{each.site, each.host}];
    its = std::max(its, each.its);
    receipts_.pop_front();
  }
  for (const auto& [where, its] : latest) sites_[where.first]->acknowledge(where.second, its);
}

void Sites::refuse(std::uint64_t receipt) {
  const auto found = std::ranges::find(receipts_, receipt, &Receipt::ours);
  if (found != receipts_.end()) sites_[found->site]->refuse(found->host, found->its);
}

void Sites::bring(const MoveFile& move, const std::vector<TaskFile>& files) {
  if (Site* site = at(move.to)) return site->bring(move, files);
  news_.emplace_back(
      MoveFailed{.file = move.file, .site = move.to, .reason = "the site has left the run"});
}

void Sites::drop(FileId file, SiteId site) {
  if (Site* found = at(site)) found->drop(file);
}

bool Sites::probe(SiteId site, std::uint64_t bytes) {
  Site* found = at(site);
  return found != nullptr && found->probe(bytes);
}

Result<> Sites::poll(TimePoint now, std::vector<News>& news) {
  for (std::size_t i = 0; i < sites_.size(); ++i)
    if (is_used(i)) TRY(poll_site(i));
  std::erase_if(leaving_, [this](const auto& site) { return site->close(news_); });
  for (auto& each : std::exchange(news_, {})) {
    if (auto* event = std::get_if<Event>(&each)) stamp(*event, now);
    news.push_back(std::move(each));
  }
  if (sites_.size() == 1) return {};
  std::vector<ReadySet::Wanted> wanted;
  for (std::size_t i = 0; i < sites_.size(); ++i)
    if (is_used(i)) wanted.push_back(sites_[i]->waits_for());
  ready_.watch(wanted);
  return {};
}

ReadySet::Wanted Sites::waits_for() const {
  return sites_.size() == 1 ? sites_.front()->waits_for() : ReadySet::Wanted{ready_.fd()};
}

Result<> Sites::poll_site(std::size_t index) {
  heard_.clear();
  const auto polled = sites_[index]->poll(heard_);
  for (auto& each : heard_) take(index, std::move(each));
  return polled ? Result<>{} : lose(index, polled.error());
}

void Sites::take(std::size_t site, News news) {
  if (const auto* came = find_in<HostUp>(news)) {
    if (site == 0 && home_ == HomeUse::only_listens) return;
    up_.insert(came->host.id);
  }
  if (const auto* gone = find_in<HostDown>(news)) up_.erase(gone->host);
  if (const auto* job = find_in<HostQueued>(news)) {
    if (job->since != kNever)
      awaited_.insert(job->host.id);
    else
      awaited_.erase(job->host.id);
  }
  if (auto* report = find_in<ReportReceived>(news)) {
    receipts_.push_back({++last_receipt_, site, report->host, report->receipt});
    report->receipt = last_receipt_;
  }
  news_.push_back(std::move(news));
}

void Sites::expect_no_more(HostId host) {
  if (awaited_.erase(host) == 0) return;
  HostQueued gone{};
  gone.host.id = host;
  news_.emplace_back(std::move(gone));
}

Result<> Sites::lose(std::size_t site, const Error& why) {
  if (site == 0) return tl::unexpected<Error>(why);
  lost_.emplace(site, why.message);
  const std::string text = sites_[site]->name() + ": " + why.message;
  bool any = false;
  for (const HostId host : sites_[site]->hosts()) {
    expect_no_more(host);
    if (up_.erase(host) == 0) continue;
    news_.emplace_back(HostDown{host, text});
    any = true;
  }
  if (!any) news_.emplace_back(Notice{text});
  return {};
}

bool Sites::expects_hosts(const Resources& least) const {
  for (std::size_t i = 0; i < sites_.size(); ++i)
    if (is_used(i) && !resting_.contains(i) && sites_[i]->expects_hosts(least)) return true;
  return false;
}

bool Sites::has_given_up() const {
  bool any = false;
  for (std::size_t i = home_ == HomeUse::runs_tasks ? 0 : 1; i < sites_.size(); ++i) {
    if (!sites_[i] || resting_.contains(i)) continue;
    if (!lost_.contains(i) && !sites_[i]->has_given_up()) return false;
    any = true;
  }
  return any;
}

void Sites::want(std::uint64_t cores) {
  for (std::size_t i = 0; i < sites_.size(); ++i)
    if (is_used(i)) sites_[i]->want(resting_.contains(i) ? 0 : cores);
}

void Sites::glance(Glance& glance) const {
  for (std::size_t i = home_ == HomeUse::runs_tasks ? 0 : 1; i < sites_.size(); ++i) {
    if (!sites_[i]) continue;
    const std::size_t first = glance.hosts.size();
    sites_[i]->glance(glance);
    const auto lost = lost_.find(i);
    for (std::size_t k = first; lost != lost_.end() && k < glance.hosts.size(); ++k) {
      glance.hosts[k].condition = HostCondition::lost;
      glance.hosts[k].why = lost->second;
    }
  }
}

void Sites::close(std::vector<News>& news) {
  std::vector<Site*> open;
  for (const auto& site : sites_)
    if (site) open.push_back(site.get());
  for (const auto& site : leaving_) open.push_back(site.get());
  for (;;) {
    std::erase_if(open, [&](Site* site) { return site->close(news); });
    if (open.empty()) return;
    std::this_thread::sleep_for(kClosePause);
  }
}

}  // namespace gantry
