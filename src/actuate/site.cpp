#include "actuate/site.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/characters.hpp"

namespace gantry {

Site::Site(SiteParts parts)
    : facts_(std::move(parts.facts)),
      hosts_(std::move(parts.hosts)),
      launcher_(std::move(parts.launch.launcher)),
      source_(parts.launch.source),
      watched_(parts.launch.watched),
      mover_(std::move(parts.mover)),
      hint_(std::move(parts.hint)) {
  if (!mover_) return;
  depot_.emplace(facts_, *mover_);
  arrivals_.emplace(facts_.name, std::move(parts.folders), *depot_);
}

void Site::signal(const TaskKey& key, HostId host, std::int32_t signal) {
  if (!waiting_.contains(key)) launcher_->signal(key, host, signal);
}

void Site::cancel(const TaskKey& key, HostId host) {
  if (waiting_.erase(key) == 0) return launcher_->cancel(key, host);
  release_files(key);
  AttemptReport report = unrun_report(key, FailureCause::cancelled, "");
  report.started = kNever;
  news_.emplace_back(ReportReceived{std::move(report), {}, host});
}

void Site::recall(HostId host, std::span<const TaskKey> keys) {
  give_back([&](const Waiting& waiting) {
    return waiting.request.host == host &&
           (keys.empty() || std::ranges::find(keys, waiting.request.key) != keys.end());
  });
  launcher_->recall(host, keys);
}

void Site::acknowledge(HostId host, std::uint64_t receipt) {
  auto& delivered = delivered_[host];
  std::size_t safe = 0;
  for (; safe < delivered.size() && delivered[safe].receipt <= receipt; ++safe) {
    for (const auto& rubbish : delivered[safe].left.rubbish) depot_->remove_work(rubbish);
    release_files(delivered[safe].key);  // only now: the sandbox had links to them
  }
  delivered.erase(delivered.begin(), delivered.begin() + static_cast<std::ptrdiff_t>(safe));
  if (receipt != 0) launcher_->acknowledge(host, receipt);
}

void Site::refuse(HostId host, std::uint64_t receipt) {
  for (const Delivered& report : delivered_[host])
    if (report.receipt == receipt && !report.left.kept_folder.empty())
      depot_->remove_work(report.left.kept_folder);
}

Result<> Site::poll(std::vector<News>& news) {
  std::ranges::move(std::exchange(news_, {}), std::back_inserter(news));
  if (!mover_) return launcher_->poll(news);
  heard_.clear();
  TRY(launcher_->poll(heard_));
  for (auto& each : heard_) hear(std::move(each), news);
  std::vector<HostId> up;
  for (const auto& [id, host] : up_) up.push_back(id);
  mover_->use_hosts(up);
  TRY(depot_->poll());
  poll_files(news);
  ready_.watch({launcher_->waits_for(), mover_->waits_for()});
  return {};
}

ReadySet::Wanted Site::waits_for() const {
  return mover_ ? ReadySet::Wanted{ready_.fd()} : launcher_->waits_for();
}

void Site::hear(News each, std::vector<News>& news) {
  if (auto* report = find_in<ReportReceived>(each)) {
    for (const Digest& content : report->left.lacking) depot_->lacks(content);
    return arrivals_->take(std::move(*report));
  }
  std::optional<Host> came;
  if (const auto* host = find_in<HostUp>(each)) came = host->host;
  if (const auto* host = find_in<HostDown>(each)) on_down(host->host, news);
  if (const auto* host = find_in<HostDraining>(each)) resting_.insert(host->host);
  if (const auto* returned = find_in<AttemptReturned>(each)) release_files(returned->key);
  news.push_back(std::move(each));
  if (!came) return;
  resting_.erase(came->id);
  if (pause_told_) tell_paused(*came, news);
  up_[came->id] = std::move(*came);
}

/// What it had reported it will report again.
void Site::on_down(HostId host, std::vector<News>& news) {
  give_back([&](const Waiting& waiting) { return waiting.request.host == host; });
  std::ranges::move(std::exchange(news_, {}), std::back_inserter(news));
  arrivals_->on_vanished(host);
  delivered_.erase(host);
  resting_.erase(host);
  up_.erase(host);
  if (up_.empty() && facts_.gives) depot_->tell_not_brought();
}

void Site::poll_files(std::vector<News>& news) {
  const auto now = std::chrono::steady_clock::now();
  // Agents answer, but files cannot go there: what is started meanwhile would wait in vain, and
  // what it makes would not come home.
  if (const std::string why = depot_->take_cut(); !why.empty()) {
    pause("files cannot be brought there: " + std::string(last_line(why)));
    give_back([](const Waiting&) { return true; });
    depot_->tell_not_brought();
  }
  std::ranges::move(std::exchange(depot_->events(), {}), std::back_inserter(news));
  hand_over_ready();
  end_pause(news);
  std::ranges::move(std::exchange(news_, {}), std::back_inserter(news));
  arrivals_->poll(now, news);
  deliver(news);
}

void Site::deliver(std::vector<News>& news) {
  while (auto report = arrivals_->next()) {
    delivered_[report->host].push_back(
        {report->receipt, report->report.key, std::exchange(report->left, {})});
    news.emplace_back(std::move(*report));
  }
}

void Site::want(std::uint64_t cores) {
  if (source_ == nullptr) return;
  std::set<HostId> awaited;
  for (const auto& [key, waiting] : waiting_) awaited.insert(waiting.request.host);
  source_->want(cores, awaited);
}

void Site::glance(Glance& glance) const {
  if (watched_ != nullptr) watched_->glance(glance.hosts);
  SiteGlance& site = glance.sites.emplace_back(SiteGlance{.id = facts_.id, .name = facts_.name});
  if (!mover_) return;
  mover_->glance(site);
  site.to_send = depot_->to_send();
}

bool Site::close(std::vector<News>& news) {
  const bool launcher = launcher_->close(news);
  const bool mover = !mover_ || mover_->close();
  return launcher && mover;
}

}  // namespace gantry
