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
  /// No file is on its way there: how long answers take is the link's own time.
  void set_quiet(bool quiet) {
    quiet_ = quiet;
    disturbed_ = disturbed_ || !quiet;
  }
  /// Sends an empty message and then so many bytes to be answered, SiteEchoed tells of both: only
  /// if no file is in the way, and nothing else is to be sent.
  bool probe(std::uint64_t bytes);
  /// The answer to the last of them is awaited.
  [[nodiscard]] bool is_probed() const {
    return up() && (probe_bytes_ > 0 || channel_.is_probed());
  }
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

  [[nodiscard]] HostGlance glance() const;

  /// What to wait for; -1 while there is nothing.
  [[nodiscard]] int fd() const;
  [[nodiscard]] bool wants_to_send() const;
  /// Nothing more can be started there for a while: it rests. What runs goes on.
  void pause(Clock::time_point now, std::string why);
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
  /// How far away it is, and what the link carries.
  void measure(Clock::time_point now, std::vector<News>& events);
  void on_echo(const AgentChannel::EchoAnswer& answer, std::vector<News>& events);
  void lose(Clock::time_point now, const std::string& why, std::vector<News>& events);
  /// Of the host, as it was declared or as its agent has said; 0 while that is not known.
  [[nodiscard]] std::uint32_t slots() const;
  [[nodiscard]] std::uint64_t memory() const;
  /// Why nothing is to be started there now; nullptr: nothing is in the way.
  [[nodiscard]] const std::string* why_resting() const;
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
  bool quiet_ = true;
  bool disturbed_ = false;         ///< since the last message that is to be answered was sent
  std::uint64_t probe_bytes_ = 0;  ///< to be sent after the next answer
  double probe_trip_ = 0;          ///< seconds
  Clock::time_point echo_at_ = Clock::time_point::min();
  Clock::time_point try_at_ = Clock::time_point::min();
  Clock::time_point heard_at_;  ///< a sign of life, or the beginning of the state
  Clock::time_point listened_at_{};
  std::uint64_t frames_ = 0;  ///< heard by then
  std::size_t refusals_ = 0;  ///< of its agent, as was told
  bool rests_ = false;        ///< as was told
  std::string pause_why_;     ///< empty: there is no pause
  Clock::time_point pause_end_{};
  std::uint32_t failures_ = 0;  ///< in a row
  std::string told_;            ///< why it failed, as a person was told
  TimePoint lost_since_ = kNever;
  std::string scratch_;
};

}  // namespace gantry
