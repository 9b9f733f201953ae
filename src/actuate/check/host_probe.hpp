#pragma once
/// One remote host as a doctor sees it: connects as runs do, asks and measures one thing after the
/// other, and leaves nothing there but the agent's program. Waits, but never longer than it was
/// told to. Used from one thread at a time.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actuate/launch/agent_channel.hpp"
#include "actuate/launch/ssh/remote_site.hpp"
#include "actuate/launch/ssh/ssh_connection.hpp"
#include "actuate/mover.hpp"
#include "base/ready_set.hpp"

namespace gantry {

struct HostFacts {
  std::uint32_t cores = 0;
  double free_cores = 0;  ///< that nobody used while we looked
  std::uint64_t memory = 0;
  std::uint64_t free_memory = 0;
  std::uint64_t free_disk = 0;  ///< of the file system of its scratch folder
  std::uint64_t total_disk = 0;
  Duration clock_ahead{0};  ///< of ours
  Duration round_trip{0};   ///< to the agent's program and back
};

class HostProbe {
 public:
  /// `binary` must outlive this. `site.holder` must be nobody else's: whoever greets an agent is
  /// taken for its only gantry. `patience`: for each step.
  HostProbe(RemoteSite site, RemoteHost host, const AgentBinary& binary, Duration patience);
  ~HostProbe();
  HostProbe(const HostProbe&) = delete;
  HostProbe& operator=(const HostProbe&) = delete;

  /// First of all. Errors have what to do about them as their hint.
  Result<HostFacts> examine();
  [[nodiscard]] const RemoteHost& host() const { return host_; }

  // REQUIRES: examine() succeeded.
  // -------------------------------------------------------------------------------------------

  /// How long it took, answers included.
  Result<Duration> send(const Put& file, Duration patience);
  Result<Duration> fetch(const Get& file, Duration patience);
  /// Whether the site's depot has it, as seen from this host.
  Result<bool> finds(const Digest& content);
  /// Whether it can fetch files from another site, which need not have any.
  Result<> reaches(const depot::PeerSite& other);
  /// How long it took to fetch a file from a site that has it. The first one also logs in there.
  Result<Duration> pull(const Put& file, Duration patience);
  /// Has the agent run a task with this content as its input: what a fetch() can find it as.
  Result<std::string> run_task_with(const Digest& content);
  void drop(const Digest& content) { mover_->drop(content); }

  /// Removes what it made there, and lets go.
  void leave();

 private:
  using Clock = std::chrono::steady_clock;
  using Condition = std::function<bool()>;

  Result<> connect();
  Result<> hear_load(HostFacts& facts);
  Result<> open_files(HostFacts& facts);
  Result<Duration> measure_round_trip();
  Result<UniqueFd> connect_files();
  /// Until the condition holds; an error when the host is lost or time is up, with what was to be.
  Result<> await(const Condition& condition, Duration patience, std::string_view what);
  /// What became of a request.
  struct Outcome {
    std::string why{};    ///< it failed, or is sent from home after all; empty: it is done
    bool no_way = false;  ///< the site that it was to come from could not be asked, or it failed
  };
  Result<Outcome> await_outcome(TransferId id, Duration patience, std::string_view what);
  Result<Duration> await_transfer(TransferId id, Duration patience, std::string_view what);
  void look();
  void on_agent_lost();
  tl::unexpected<Error> lost(const std::string& why) const;

  RemoteSite site_;
  RemoteHost host_;
  const AgentBinary& binary_;
  Duration patience_;
  AgentChannel channel_;
  std::unique_ptr<SshConnection> to_agent_;
  std::unique_ptr<SshConnection> to_files_;
  std::unique_ptr<Mover> mover_;
  ReadySet ready_;
  std::string broken_;  ///< why, once it is
  std::vector<MoverEvent> moved_;
  std::vector<Digest> sent_;
  std::optional<ReportReceived> report_;
  std::uint64_t loads_heard_ = 0;
  std::string scratch_;
};

}  // namespace gantry
