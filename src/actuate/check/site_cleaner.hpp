#pragma once
/// Removes what Gantry has at a site: asks every host what it sees first, over connections that are
/// open until the end, since a new one would bring the agent's program there again. Waits, each
/// time for a while only.

#include <memory>
#include <string>
#include <vector>

#include "actuate/launch/ssh/remote_site.hpp"
#include "actuate/launch/ssh/ssh_connection.hpp"
#include "base/time.hpp"
#include "depot/site_removal.hpp"

namespace gantry {

/// The conversation with `gantry-agent clean` on one host. One thread at a time.
class HostCleaner {
 public:
  /// `binary` must outlive this. `all`: also what others than `site.holder` have there.
  HostCleaner(const RemoteSite& site, RemoteHost host, const AgentBinary& binary, bool all);

  Result<depot::SiteLook> look(Duration patience);
  /// REQUIRES: look() has found nothing on any host.
  Result<depot::SiteRemoval> remove();
  [[nodiscard]] const RemoteHost& host() const { return host_; }

 private:
  using Clock = std::chrono::steady_clock;

  Result<> connect(Duration patience);
  Result<std::string> read_line(Clock::time_point deadline);
  tl::unexpected<Error> lost(const std::string& why) const;

  SshTarget target_;
  RemoteHost host_;
  const AgentBinary& binary_;
  std::vector<std::string> words_;
  std::unique_ptr<SshConnection> connection_;
  UniqueFd socket_;
  std::string received_;
};

}  // namespace gantry
