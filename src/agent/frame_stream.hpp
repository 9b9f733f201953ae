#pragma once
/// Messages to and from a peer over a socket, without ever waiting: what cannot be sent now stays
/// in the outbox. Used by the agent (towards gantry and its shepherds) and by gantry's launcher.
/// One thread.

#include <optional>
#include <string>

#include "agent/protocol.hpp"
#include "base/fd.hpp"

namespace gantry::agent {

class FrameStream {
 public:
  FrameStream() = default;
  explicit FrameStream(UniqueFd socket) : socket_(std::move(socket)) {}

  [[nodiscard]] explicit operator bool() const { return static_cast<bool>(socket_); }
  [[nodiscard]] int fd() const { return socket_.get(); }
  /// Closes the socket and forgets what was not sent.
  void close() { *this = {}; }

  /// Append messages here, then send().
  std::string& outbox() { return outbox_; }
  [[nodiscard]] bool wants_to_send() const { return to_send() > 0; }
  [[nodiscard]] std::size_t to_send() const { return outbox_.size() - sent_; }
  /// Sends as much as the peer takes now. A peer that takes nothing any more is noticed by
  /// receive(), after everything that it sent has been read.
  void send();

  enum class Received { some, nothing, end };
  /// Reads once, up to `chunk` bytes or more; `end` when the peer is gone.
  Received receive(std::size_t chunk);
  /// The next whole message, valid until the next receive().
  std::optional<Frame> next() { return reader_.next(); }
  /// What the peer sends is not our protocol.
  [[nodiscard]] bool broken() const { return reader_.broken(); }

  /// For whoever polls: whether the socket is watched for room to send.
  bool send_watched = false;

 private:
  /// For a peer that is never quite done reading: what it has read takes no room.
  void forget_sent();

  UniqueFd socket_;
  FrameReader reader_;
  std::string outbox_;
  std::size_t sent_ = 0;  ///< of the outbox
};

}  // namespace gantry::agent
