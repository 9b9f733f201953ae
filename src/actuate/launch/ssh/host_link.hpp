#pragma once
/// The way to the agent of one remote host: connects, notices that it is lost, and connects again.
/// Never waits. Owned by the site's launcher.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "actuate/launch/agent_channel.hpp"
#include "actuate/launch/ssh/remote_site.hpp"
#include "actuate/launch/ssh/ssh_connection.hpp"

namespace gantry {

class HostLink {
 public:
  using Clock = std::chrono::steady_clock;

  /// Both must outlive this.
  HostLink(const RemoteSite& site, const RemoteHost& host, const AgentBinary& binary);

  /// Goes on as far as it can. Appends HostUp, HostDown, what the agent says, and
  /// notices.
  void poll(Clock::time_point now, std::vector<News>& events);

  /// Whether the host is ours at present: if not, it is not connected to. That it was taken away
  /// shows when the connection breaks.
  void set_lent(bool lent) { lent_ = lent; }
  [[nodiscard]] bool up() const { return state_ == State::up; }
  /// It is up, or has been tried in vain.
  [[nodiscard]] bool was_tried() const { return up() || failures_ > 0; }
  /// It has not been tried in vain yet, or was up before.
  [[nodiscard]] bool may_come() const { return !was_tried() || channel_.cores() > 0; }
  /// As far as is known, and once it is up.
  [[nodiscard]] bool could_run(const Resources& task) const;
  [[nodiscard]] const RemoteHost& host() const { return host_; }
  /// Absolute, at the site, once it was up.
  [[nodiscard]] const std::string& scratch() const { return scratch_; }
  AgentChannel& channel() { return channel_; }
  [[nodiscard]] const AgentChannel& channel() const { return channel_; }
  /// What the agent has reported since it is up, to be taken away.
  std::vector<AgentReport>& reports() { return reports_; }

  [[nodiscard]] HostGlance glance() const;

  /// What to wait for; -1 while there is nothing.
  [[nodiscard]] int fd() const;
  [[nodiscard]] bool wants_to_send() const;
  /// Nobody needs it any more, and nothing runs there.
  void give_back(std::vector<News>& events);
  /// Lets the agent go; what was sent gets there until has_ended().
  void close();
  [[nodiscard]] bool has_ended() { return !connection_ || connection_->has_ended(); }

 private:
  enum class State { down, connecting, greeting, up };

  void connect(Clock::time_point now, std::vector<News>& events);
  [[nodiscard]] std::vector<std::string> agent_words() const;
  void talk(Clock::time_point now, std::vector<News>& events);
  void lose(Clock::time_point now, const std::string& why, std::vector<News>& events);
  /// Of the host, as it was declared or as its agent has said; 0 while that is not known.
  [[nodiscard]] std::uint32_t slots() const;
  [[nodiscard]] std::uint64_t memory() const;
  void rest_or_go_on(std::vector<News>& events);
  /// Also when it has changed.
  void appear(std::vector<News>& events);

  const RemoteSite& site_;
  const RemoteHost& host_;
  const AgentBinary& binary_;
  AgentChannel channel_;
  std::unique_ptr<SshConnection> connection_;
  State state_ = State::down;
  bool lent_ = true;
  Clock::time_point try_at_ = Clock::time_point::min();
  Clock::time_point heard_at_;  ///< a sign of life, or the beginning of the state
  Clock::time_point listened_at_{};
  std::uint64_t frames_ = 0;    ///< heard by then
  std::size_t refusals_ = 0;    ///< of its agent, as was told
  bool rests_ = false;          ///< as was told
  std::uint32_t failures_ = 0;  ///< in a row
  std::string told_;            ///< why it failed, as a person was told
  TimePoint lost_since_ = kNever;
  std::string scratch_;
  std::vector<AgentReport> reports_;
};

}  // namespace gantry
