#pragma once
/// Hosts of a site that are reached by ssh: attempts run under an agent on each, in sandboxes of
/// the site's scratch folder, with inputs from its depot. Owned by a Site, used from its thread.

#include <chrono>
#include <map>
#include <optional>
#include <vector>

#include "actuate/launch/ssh/host_link.hpp"
#include "actuate/launch/ssh/remote_site.hpp"
#include "actuate/launch/ssh/ssh_connection.hpp"
#include "actuate/launcher.hpp"
#include "base/ready_set.hpp"

namespace gantry {

class SshLauncher final : public Launcher, public HostSource, public Watchable {
 public:
  /// `binary` must outlive the launcher.
  SshLauncher(RemoteSite site, const AgentBinary& binary);

  Result<bool> open() override;
  void start(const LaunchRequest& request) override;
  void cancel(const TaskKey& key, HostId host) override;
  void signal(const TaskKey& key, HostId host, std::int32_t signal) override;
  void recall(HostId host, std::span<const TaskKey> keys) override;
  void acknowledge(HostId host, std::uint64_t receipt) override;
  Result<> poll(std::vector<News>& news) override;
  [[nodiscard]] ReadySet::Wanted waits_for() const override { return {ready_.fd()}; }
  bool close(std::vector<News>& news) override;

  [[nodiscard]] bool expects_hosts(const Resources& least) const override;
  /// What is lost behind ssh is tried again.
  [[nodiscard]] bool has_given_up() const override { return false; }
  void want(std::uint64_t, const std::set<HostId>&) override {}
  void glance(std::vector<HostGlance>& hosts) const override;

  // For a launcher whose hosts are lent (launch/batch).
  // -------------------------------------------------------------------------------------------

  [[nodiscard]] const RemoteSite& site() const { return site_; }
  /// Of the site's host number `index`.
  HostLink& link(std::size_t index) { return hosts_.at(site_.hosts[index].id).link; }
  [[nodiscard]] const HostLink& link(std::size_t index) const {
    return hosts_.at(site_.hosts[index].id).link;
  }
  /// Slots of the host that have nothing to do; none while a report of it is not acknowledged.
  [[nodiscard]] std::uint32_t free_slots(std::size_t index) const;
  /// Everything that was to be sent has been, or it has taken too long.
  bool has_sent(std::vector<News>& news);

 private:
  struct SiteHost {
    SiteHost(const RemoteSite& site, const RemoteHost& host, const AgentBinary& binary)
        : link(site, host, binary) {}
    HostLink link;
    std::uint64_t told = 0;          ///< the last receipt
    std::uint64_t acknowledged = 0;  ///< the last one that was
  };

  void hear(SiteHost& host, std::vector<News>& news);

  RemoteSite site_;
  std::map<HostId, SiteHost> hosts_;
  ReadySet ready_;
  std::vector<News> news_;                                           ///< what it says by itself
  std::optional<std::chrono::steady_clock::time_point> close_by_{};  ///< once it closes
  bool let_go_ = false;
};

}  // namespace gantry
