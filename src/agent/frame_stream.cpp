#include "agent/frame_stream.hpp"

#include <sys/socket.h>

#include <cerrno>

namespace gantry::agent {

namespace {
/// What is kept of it when it is empty: more is for rare rushes.
constexpr std::size_t kLargeOutbox = std::size_t{1} << 20;
}  // namespace

void FrameStream::send() {
  while (sent_ < outbox_.size()) {
    const ssize_t n = ::send(socket_.get(), outbox_.data() + sent_, outbox_.size() - sent_,
                             MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return forget_sent();
    if (n < 0) break;  // nobody will ever read the rest
    sent_ += static_cast<std::size_t>(n);
  }
  outbox_.clear();
  sent_ = 0;
  if (outbox_.capacity() > kLargeOutbox) outbox_.shrink_to_fit();
}

void FrameStream::forget_sent() {
  if (sent_ < outbox_.size() / 2) return;
  outbox_.erase(0, sent_);
  sent_ = 0;
}

FrameStream::Received FrameStream::receive(std::size_t chunk) {
  const auto [at, room] = reader_.space(chunk);
  const ssize_t n = ::recv(socket_.get(), at, room, MSG_DONTWAIT);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return Received::nothing;
  if (n <= 0) return Received::end;
  reader_.filled(static_cast<std::size_t>(n));
  return Received::some;
}

}  // namespace gantry::agent
