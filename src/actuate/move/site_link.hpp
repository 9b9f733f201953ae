#pragma once
/// The connection to a site's file server: made, lost and made again, with growing pauses. Owned by
/// a mover, used from its thread; never waits.

#include <functional>
#include <string>

#include "agent/frame_stream.hpp"
#include "base/fd.hpp"
#include "base/result.hpp"
#include "base/time.hpp"

namespace gantry {

/// Starts the remote side; a socket to its standard input and output.
using ConnectSite = std::function<Result<UniqueFd>()>;

class SiteLink {
 public:
  SiteLink(ConnectSite connect, Duration first_pause, Duration longest_pause);

  [[nodiscard]] bool is_up() const { return static_cast<bool>(stream_); }
  agent::FrameStream& stream() { return stream_; }
  /// True when it has just come up.
  bool connect_if_due(TimePoint now);
  /// The other side has answered: the next pause is a short one again.
  void answered();
  void lost(TimePoint now, std::string why);
  void close();

  /// Since when the other side has not been there, and why.
  [[nodiscard]] TimePoint down_since() const { return down_since_; }
  [[nodiscard]] const std::string& why() const { return why_; }

  /// Readable when there is something to do; the same descriptor always.
  [[nodiscard]] int wait_fd() const { return epoll_.get(); }
  /// What to wait for next: room to send, if `to_send`; while down, the next attempt, if `to_come`.
  void watch(TimePoint now, bool to_send, bool to_come);

 private:
  ConnectSite connect_;
  Duration first_pause_;
  Duration longest_pause_;
  Duration pause_;
  TimePoint retry_at_ = kNever;
  TimePoint down_since_ = kNever;
  bool has_answered_ = false;  ///< on this connection
  std::string why_;
  agent::FrameStream stream_;
  UniqueFd epoll_;
  UniqueFd timer_;
  bool watching_sends_ = false;
  bool timer_is_set_ = true;
};

}  // namespace gantry
