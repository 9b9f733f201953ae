#include "actuate/launch/ssh/ssh_connection.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "actuate/launch/agent_program.hpp"
#include "base/hash.hpp"

namespace gantry {

namespace {

constexpr std::size_t kMaxGreeting = std::size_t{256} << 10;
/// Bytes in a second, over the slowest line that the program is sent over.
constexpr std::size_t kSlowestLine = std::size_t{16} << 10;

}  // namespace

Result<AgentBinary> read_agent_binary() {
  TRY_ASSIGN(const auto path, find_agent());
  TRY_ASSIGN(AgentBinary binary, read_agent_binary(path.string()));
  utsname machine{};
  if (::uname(&machine) != 0) return fail_errno("uname");
  binary.image.machine = machine.machine;
  return binary;
}

Result<AgentBinary> read_agent_binary(const std::string& path) {
  AgentBinary binary;
  TRY_ASSIGN(binary.content, read_file(path));
  binary.image.name = "gantry-agent-" + hash_bytes(binary.content).hex();
  binary.image.bytes = binary.content.size();
  return binary;
}

Result<std::unique_ptr<SshConnection>> SshConnection::begin(const SshTarget& target,
                                                            const AgentBinary& binary,
                                                            const std::vector<std::string>& words) {
  TRY_ASSIGN(std::string token, make_token());
  const std::string command = remote_start(target, binary.image, token, words);
  TRY_ASSIGN(FarProgram ssh, FarProgram::start(ssh_words(target, command)));
  return std::unique_ptr<SshConnection>(
      new SshConnection(binary, std::move(token), std::move(ssh)));
}

SshConnection::State SshConnection::advance() {
  listen();
  std::string line;
  while (state_ == State::connecting) {
    if (sending_) send_program();
    if (!read_line(line)) break;
    state_ = on_line(line);
  }
  return state_;
}

bool SshConnection::read_line(std::string& line) {
  if (state_ != State::connecting) return false;
  std::array<char, 4096> buffer{};
  const ssize_t n = ::recv(fd(), buffer.data(), buffer.size(), MSG_DONTWAIT | MSG_PEEK);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (n <= 0) {
    state_ = fail_with(ssh_.last_words());
    return false;
  }
  const std::string_view seen(buffer.data(), static_cast<std::size_t>(n));
  const auto newline = seen.find('\n');
  const std::size_t take = newline == std::string_view::npos ? seen.size() : newline + 1;
  skipped_ += take;
  if (skipped_ > kMaxGreeting) {
    state_ = fail_with("its login shell prints without end");
    return false;
  }
  if (newline == std::string_view::npos && seen.size() < buffer.size()) {
    skipped_ -= take;
    return false;  // the rest of the line is yet to come
  }
  line = seen.substr(0, take);
  return ::recv(fd(), buffer.data(), take, MSG_DONTWAIT) == static_cast<ssize_t>(take);
}

SshConnection::State SshConnection::on_line(std::string_view line) {
  // A greeting without an end of line may stand before it.
  const auto at = line.find(token_);
  if (at == std::string_view::npos) return State::connecting;
  std::string_view rest = line.substr(at + token_.size());
  while (!rest.empty() && (rest.back() == '\n' || rest.back() == '\r')) rest.remove_suffix(1);
  constexpr std::string_view kReady = " ready ";
  constexpr std::string_view kSend = " send ";
  if (rest.starts_with(kReady) && rest.substr(kReady.size()).starts_with('/')) {
    scratch_ = rest.substr(kReady.size());
    return State::ready;
  }
  if (rest.starts_with(kSend)) {
    const std::string machine(rest.substr(kSend.size()));
    if (!binary_.image.machine.empty() && machine != binary_.image.machine)
      return fail_with(
          fmt::format("it is a {} machine, and this Gantry has an agent for {} only; "
                      "build gantry-agent there, and name it as the site's agent:",
                      machine, binary_.image.machine));
    asked_for_program_ = sending_ = true;
    return State::connecting;
  }
  return fail_with("the agent's program could not be written there: " + ssh_.last_words());
}

void SshConnection::send_program() {
  const std::string& content = binary_.content;
  while (sent_ < content.size()) {
    const ssize_t n =
        ::send(fd(), content.data() + sent_, content.size() - sent_, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return;  // no room now; that it broke is seen when reading
    sent_ += static_cast<std::size_t>(n);
  }
  sending_ = false;
}

Duration SshConnection::patience(Duration usual) const {
  if (!asked_for_program_) return usual;
  return usual + std::chrono::seconds(binary_.content.size() / kSlowestLine);
}

SshConnection::State SshConnection::fail_with(std::string why) {
  if (why.empty()) why = "the connection broke off";
  why_ = std::move(why);
  return State::failed;
}

std::string SshConnection::why() {
  listen();
  return why_.empty() ? ssh_.said() : why_;
}

}  // namespace gantry
