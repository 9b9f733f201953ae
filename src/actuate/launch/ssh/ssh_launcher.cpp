#include "actuate/launch/ssh/ssh_launcher.hpp"

#include <algorithm>
#include <utility>

#include "actuate/launch/output_note.hpp"
#include "actuate/launch/sandbox.hpp"
#include "actuate/launch/ssh/far_report.hpp"
#include "actuate/launch/task_wire.hpp"

namespace gantry {

namespace {

using SteadyClock = std::chrono::steady_clock;

/// For the last words to get there. Bounded: a person may wait for the end.
constexpr auto kLastWords = std::chrono::seconds(5);

}  // namespace

SshLauncher::SshLauncher(RemoteSite site, const AgentBinary& binary) : site_(std::move(site)) {
  for (const RemoteHost& host : site_.hosts)
    hosts_.emplace(std::piecewise_construct, std::forward_as_tuple(host.id),
                   std::forward_as_tuple(site_, host, binary));
}

Result<bool> SshLauncher::open() {
  return std::ranges::all_of(hosts_, [](const auto& each) { return each.second.link.was_tried(); });
}

bool SshLauncher::expects_hosts(const Resources& least) const {
  return std::ranges::any_of(hosts_, [&](const auto& each) {
    const HostLink& link = each.second.link;
    return link.may_come() && !link.up() && link.could_run(least);
  });
}

void SshLauncher::start(const LaunchRequest& request) {
  const auto& [key, id, task, fingerprint, base_dir, files] = request;
  HostLink& link = hosts_.at(id).link;
  if (!link.up()) {
    news_.emplace_back(AttemptReturned{key, id});
    return;
  }
  agent::Start start = to_wire(key, task);
  start.keep = task.staying;
  const OutputNote note{start.outputs, start.collect, start.keep, base_dir};
  const Sandbox sandbox(base_dir, link.scratch() + "/" + work_folder(site_, key));
  if (const auto problem = sandbox.move_into(start, files)) {
    news_.emplace_back(
        ReportReceived{unrun_report(key, FailureCause::start_failed, *problem), fingerprint, id});
    return;
  }
  if (!start.keep.empty()) start.kept_folder = link.scratch() + "/" + kept_folder(site_, key);
  start.tag = to_tag(fingerprint);
  note.append_to(start.tag);
  link.channel().start(start);
}

void SshLauncher::cancel(const TaskKey& key, HostId host) {
  HostLink& link = hosts_.at(host).link;
  if (link.up()) link.channel().cancel(key);
}

void SshLauncher::signal(const TaskKey& key, HostId host, std::int32_t signal) {
  HostLink& link = hosts_.at(host).link;
  if (link.up()) link.channel().signal(key, signal);
}

void SshLauncher::recall(HostId host, std::span<const TaskKey> keys) {
  HostLink& link = hosts_.at(host).link;
  if (link.up()) link.channel().recall(keys);
}

void SshLauncher::acknowledge(HostId host, std::uint64_t receipt) {
  SiteHost& its = hosts_.at(host);
  its.acknowledged = std::max(its.acknowledged, receipt);
  its.link.channel().acknowledge(receipt);
}

Result<> SshLauncher::poll(std::vector<News>& news) {
  for (auto& [id, host] : hosts_) hear(host, news);
  std::ranges::move(std::exchange(news_, {}), std::back_inserter(news));
  std::vector<ReadySet::Wanted> wanted;
  for (const auto& [id, host] : hosts_)
    wanted.push_back({host.link.fd(), host.link.wants_to_send()});
  ready_.watch(wanted);
  return {};
}

void SshLauncher::hear(SiteHost& host, std::vector<News>& news) {
  HostLink& link = host.link;
  link.poll(SteadyClock::now(), news);
  if (!link.up()) host.told = host.acknowledged = 0;
  for (auto& told : std::exchange(link.reports(), {})) {
    host.told = told.received.receipt;
    news.emplace_back(far_report(std::move(told), site_, link.host(), link.scratch()));
  }
  // Where each task is a job, that is the time it waited in the queue.
  for (const double seconds : std::exchange(link.channel().waits(), {}))
    if (site_.batch && site_.batch->jobs > 0)
      news.emplace_back(QueueWaited{.site = site_.id, .seconds = seconds});
}

std::uint32_t SshLauncher::free_slots(std::size_t index) const {
  const SiteHost& host = hosts_.at(site_.hosts[index].id);
  if (host.told > host.acknowledged) return 0;
  const std::uint32_t slots = std::max(1U, host.link.host().slots);
  const std::size_t given = host.link.channel().outstanding();
  return slots - static_cast<std::uint32_t>(std::min<std::size_t>(given, slots));
}

void SshLauncher::glance(std::vector<HostGlance>& hosts) const {
  for (std::size_t i = 0; i < site_.hosts.size(); ++i) hosts.push_back(link(i).glance());
}

bool SshLauncher::has_sent(std::vector<News>& news) {
  const auto now = SteadyClock::now();
  if (!close_by_) close_by_ = now + kLastWords;
  std::vector<News> heard;  // nobody takes it in any more: the agents keep it
  const bool polled = poll(heard).has_value();
  for (auto& each : heard)
    if (find_in<Notice>(each) != nullptr) news.push_back(std::move(each));
  const bool sends = std::ranges::any_of(
      hosts_, [](const auto& each) { return each.second.link.wants_to_send(); });
  return !sends || !polled || now >= *close_by_;
}

bool SshLauncher::close(std::vector<News>& news) {
  if (!let_go_ && !has_sent(news)) return false;
  if (!std::exchange(let_go_, true))
    for (auto& [id, host] : hosts_) host.link.close();
  return (close_by_ && SteadyClock::now() >= *close_by_) ||
         std::ranges::all_of(hosts_, [](auto& each) { return each.second.link.has_ended(); });
}

}  // namespace gantry
