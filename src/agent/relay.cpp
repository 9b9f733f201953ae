#include "agent/relay.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>

namespace gantry::agent {

namespace {

/// Bytes on their way from one descriptor to another.
class Pipe {
 public:
  Pipe(int from, int to) : from_(from), to_(to) {}

  /// Reads only when everything before is written: whoever sends too fast has to wait.
  [[nodiscard]] pollfd wanted() const {
    return begin_ == end_ ? pollfd{from_, POLLIN, 0} : pollfd{to_, POLLOUT, 0};
  }

  /// False when there is nothing more to come, or nobody to take it.
  bool move() {
    if (begin_ == end_) {
      const ssize_t n = ::read(from_, buffer_.data(), buffer_.size());
      if (n < 0) return errno == EINTR || errno == EAGAIN;
      if (n == 0) return false;
      begin_ = 0;
      end_ = static_cast<std::size_t>(n);
      return true;
    }
    const ssize_t n = ::write(to_, buffer_.data() + begin_, end_ - begin_);
    if (n < 0) return errno == EINTR || errno == EAGAIN;
    begin_ += static_cast<std::size_t>(n);
    return true;
  }

 private:
  int from_;
  int to_;
  std::array<char, std::size_t{64} << 10> buffer_{};
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
};

}  // namespace

Result<> relay(const std::filesystem::path& state_dir, const AgentProgram& program, int in,
               int out) {
  TRY_ASSIGN(const UniqueFd agent, connect_agent(state_dir, program));
  return join(in, out, agent.get());
}

Result<> join(int in, int out, int peer) {
  Pipe up(in, peer);
  Pipe down(peer, out);
  for (;;) {
    std::array fds{up.wanted(), down.wanted()};
    if (::poll(fds.data(), fds.size(), -1) < 0) {
      if (errno == EINTR) continue;
      return fail_errno("poll");
    }
    if (fds[0].revents != 0 && !up.move()) return {};
    if (fds[1].revents != 0 && !down.move()) return {};
  }
}

}  // namespace gantry::agent
