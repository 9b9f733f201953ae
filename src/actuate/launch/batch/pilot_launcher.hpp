#pragma once
/// A batch site whose jobs become hosts: each job runs an agent on a node, which is reached through
/// the login host. Jobs are submitted while there is work for them, and given back when nobody
/// needs them. Owned by a Site, used from its thread.

#include <chrono>
#include <optional>
#include <set>
#include <vector>

#include "actuate/launch/batch/pilot_pool.hpp"
#include "actuate/launch/ssh/ssh_launcher.hpp"

namespace gantry {

class PilotLauncher final : public Launcher, public HostSource, public Watchable {
 public:
  /// `binary` must outlive the launcher. REQUIRES: site.batch, and no job for each task.
  PilotLauncher(RemoteSite site, const AgentBinary& binary);

  Result<bool> open() override;
  void start(const LaunchRequest& request) override { hosts_.start(request); }
  void cancel(const TaskKey& key, HostId host) override { hosts_.cancel(key, host); }
  void signal(const TaskKey& key, HostId host, std::int32_t signal) override {
    hosts_.signal(key, host, signal);
  }
  void recall(HostId host, std::span<const TaskKey> keys) override { hosts_.recall(host, keys); }
  void acknowledge(HostId host, std::uint64_t receipt) override {
    hosts_.acknowledge(host, receipt);
  }
  Result<> poll(std::vector<News>& news) override;
  [[nodiscard]] ReadySet::Wanted waits_for() const override { return {ready_.fd()}; }
  bool close(std::vector<News>& news) override;

  [[nodiscard]] bool expects_hosts(const Resources& least) const override;
  [[nodiscard]] bool has_given_up() const override;
  void want(std::uint64_t cores, const std::set<HostId>& awaited) override;
  void glance(std::vector<HostGlance>& hosts) const override;

 private:
  /// What runs goes on, with its job. The others are given back.
  void release();

  SshLauncher hosts_;
  PilotPool pool_;
  std::set<HostId> awaited_;  ///< hosts for which something is on its way
  ReadySet ready_;
  std::optional<std::chrono::steady_clock::time_point> release_by_{};  ///< once it closes
  bool released_ = false;
};

}  // namespace gantry
