#include "actuate/launch/ssh/remote_shell.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <charconv>

namespace gantry {

namespace {

using namespace std::chrono_literals;

/// A busy controller may take long; one that hangs must not hang us.
constexpr auto kAnswerPatience = 60s;
constexpr std::size_t kMaxAnswer = std::size_t{16} << 20;

}  // namespace

void RemoteShell::ask(std::string command) {
  command_ = std::move(command);
  busy_ = true;
  deadline_.reset();
}

std::optional<RemoteShell::Answer> RemoteShell::poll(Clock::time_point now) {
  if (!busy_) return std::nullopt;
  if (!socket_) {
    if (auto lost = connect(now)) return lost;
    if (!socket_) return std::nullopt;
  }
  return talk(now);
}

std::optional<RemoteShell::Answer> RemoteShell::connect(Clock::time_point now) {
  if (!connection_) {
    auto begun = SshConnection::begin(target_, binary_, {});
    if (!begun) return lose(begun.error().message);
    connection_ = std::move(*begun);
    began_ = now;
  }
  switch (connection_->advance()) {
    case SshConnection::State::connecting:
      if (now - began_ > connection_->patience()) return lose("it does not answer");
      return std::nullopt;
    case SshConnection::State::failed:
      return lose(connection_->why());
    case SshConnection::State::ready:
      break;
  }
  scratch_ = connection_->scratch();
  socket_ = connection_->take_socket();
  deadline_.reset();
  return std::nullopt;
}

std::optional<RemoteShell::Answer> RemoteShell::talk(Clock::time_point now) {
  if (!deadline_) {
    auto token = make_token();
    if (!token) return lose(token.error().message);
    token_ = std::move(*token);
    inbox_.clear();
    sent_ = 0;
    outbox_ =
        fmt::format("{{ {}\n}} </dev/null 2>&1; printf '\\n%s %s\\n' {} $?\n", command_, token_);
    deadline_ = now + kAnswerPatience;
  }
  while (sent_ < outbox_.size()) {
    const ssize_t n = ::send(socket_.get(), outbox_.data() + sent_, outbox_.size() - sent_,
                             MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) break;  // no room now; that it broke is seen when reading
    sent_ += static_cast<std::size_t>(n);
  }
  connection_->listen();  // lest ssh wait for that
  for (;;) {
    std::array<char, std::size_t{16} << 10> buffer{};
    const ssize_t n = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n <= 0) return lose(connection_->why());
    inbox_.append(buffer.data(), static_cast<std::size_t>(n));
    if (inbox_.size() > kMaxAnswer) return lose("it answers without end");
    if (auto answer = find_end()) return answer;
  }
  if (now > *deadline_) return lose("a command there does not end");
  return std::nullopt;
}

std::optional<RemoteShell::Answer> RemoteShell::find_end() {
  const std::string mark = "\n" + token_ + " ";
  const std::size_t at = inbox_.find(mark);
  if (at == std::string::npos) return std::nullopt;
  const std::size_t end = inbox_.find('\n', at + mark.size());
  if (end == std::string::npos) return std::nullopt;
  Answer answer{true, 0, {}};
  const char* first = inbox_.data() + at + mark.size();
  if (std::from_chars(first, inbox_.data() + end, answer.code).ec != std::errc())
    return lose("its shell cannot be understood");
  inbox_.resize(at);
  answer.output = std::exchange(inbox_, {});
  busy_ = false;
  return answer;
}

std::optional<RemoteShell::Answer> RemoteShell::lose(std::string why) {
  close();
  return Answer{false, 0, std::move(why)};
}

void RemoteShell::add_wanted(std::vector<ReadySet::Wanted>& wanted) const {
  if (socket_)
    wanted.push_back({socket_.get(), sent_ < outbox_.size()});
  else if (connection_)
    wanted.push_back({connection_->fd(), connection_->wants_to_send()});
}

void RemoteShell::close() {
  socket_.reset();
  connection_.reset();
  busy_ = false;
}

}  // namespace gantry
