#include "actuate/launch/batch/pilot_launcher.hpp"

#include <utility>

namespace gantry {

namespace {

using SteadyClock = std::chrono::steady_clock;

/// For jobs to be given back, also one that is just being submitted.
constexpr auto kReleasePatience = std::chrono::seconds(10);

}  // namespace

PilotLauncher::PilotLauncher(RemoteSite site, const AgentBinary& binary)
    : hosts_(std::move(site), binary), pool_(hosts_.site(), binary, PilotPool::Patience{}) {}

Result<bool> PilotLauncher::open() {
  if (!pool_.has_looked()) return false;
  for (std::size_t i = 0; i < hosts_.site().hosts.size(); ++i)
    if (pool_.lends(i) && !hosts_.link(i).was_tried()) return false;
  return true;
}

bool PilotLauncher::expects_hosts(const Resources& least) const {
  for (std::size_t i = 0; i < hosts_.site().hosts.size(); ++i) {
    const HostLink& link = hosts_.link(i);
    if (pool_.expects(i) && !link.up() && link.could_run(least)) return true;
  }
  return false;
}

bool PilotLauncher::has_given_up() const {
  for (std::size_t i = 0; i < hosts_.site().hosts.size(); ++i)
    if (pool_.expects(i) || hosts_.link(i).up()) return false;
  return true;
}

void PilotLauncher::want(std::uint64_t cores, const std::set<HostId>& awaited) {
  pool_.want(cores);
  awaited_ = awaited;
}

/// Hosts come and go with the jobs that they are.
Result<> PilotLauncher::poll(std::vector<News>& news) {
  const auto now = SteadyClock::now();
  const auto& hosts = hosts_.site().hosts;
  // First: what was started since the last time must not be given back.
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    if (hosts_.link(i).up())
      pool_.on_use(i, awaited_.contains(hosts[i].id) ? 0 : hosts_.free_slots(i), now);
    else
      pool_.on_down(i);
  }
  pool_.poll(now, news);
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    hosts_.link(i).set_lent(pool_.lends(i));
    if (pool_.gave_back(i)) hosts_.link(i).give_back(news);
  }
  TRY(hosts_.poll(news));
  std::vector<ReadySet::Wanted> wanted{hosts_.waits_for()};
  pool_.add_wanted(wanted);
  ready_.watch(wanted);
  return {};
}

void PilotLauncher::glance(std::vector<HostGlance>& hosts) const {
  const std::size_t first = hosts.size();
  hosts_.glance(hosts);
  for (std::size_t i = 0; first + i < hosts.size(); ++i) {
    HostGlance& host = hosts[first + i];
    if (pool_.lends(i) || host.condition == HostCondition::up) continue;
    host.condition = pool_.is_queued(i)      ? HostCondition::queued
                     : pool_.is_suspended(i) ? HostCondition::suspended
                                             : HostCondition::away;
  }
}

void PilotLauncher::release() {
  std::vector<bool> idle;
  for (std::size_t i = 0; i < hosts_.site().hosts.size(); ++i)
    idle.push_back(hosts_.link(i).channel().is_idle());
  pool_.release(idle);
  release_by_ = SteadyClock::now() + kReleasePatience;
}

bool PilotLauncher::close(std::vector<News>& news) {
  if (!release_by_) {
    if (!hosts_.has_sent(news)) return false;
    release();
  }
  const auto now = SteadyClock::now();
  if (!released_) {
    pool_.poll(now, news);
    if (!pool_.is_released() && now < *release_by_) return false;
    pool_.close(news);
    released_ = true;
  }
  return hosts_.close(news);
}

}  // namespace gantry
