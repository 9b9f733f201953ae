#include "actuate/launch/ssh_connection.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <spawn.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "actuate/launch/agent_program.hpp"
#include "base/hash.hpp"

extern char** environ;

namespace gantry {

namespace {

constexpr std::size_t kMaxGreeting = std::size_t{256} << 10;
constexpr std::size_t kMaxSaid = std::size_t{4} << 10;

Result<pid_t> spawn_ssh(const std::vector<std::string>& words, int in_and_out, int errors) {
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_adddup2(&files, in_and_out, 0);
  ::posix_spawn_file_actions_adddup2(&files, in_and_out, 1);
  ::posix_spawn_file_actions_adddup2(&files, errors, 2);
  // Ctrl-C is for us: what a person stops are tasks, not the way to hear of them.
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETPGROUP);
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, argv[0], &files, &attributes, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  if (error == 0) return pid;
  return fail(ErrorCode::io, fmt::format("cannot start {}: {}", words[0], std::strerror(error)),
              error == ENOENT ? "install it (Debian: openssh-client)" : "");
}

std::string last_line(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' '))
    text.remove_suffix(1);
  return std::string(text.substr(text.rfind('\n') + 1));
}

}  // namespace

Result<std::string> make_token() {
  std::array<std::uint64_t, 2> bytes{};
  if (::getrandom(bytes.data(), sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes))
    return fail_errno("getrandom");
  return fmt::format("gantry-{:016x}{:016x}", bytes[0], bytes[1]);
}

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
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail_errno("socketpair");
  std::unique_ptr<SshConnection> connection(new SshConnection(binary, std::move(token)));
  connection->socket_.reset(ends[0]);
  const UniqueFd its(ends[1]);
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) return fail_errno("pipe");
  connection->errors_.reset(pipe[0]);
  const UniqueFd its_errors(pipe[1]);
  if (::fcntl(pipe[0], F_SETFL, O_NONBLOCK) != 0) return fail_errno("fcntl");
  const std::string command = remote_start(target, binary.image, connection->token_, words);
  TRY_ASSIGN(connection->pid_, spawn_ssh(ssh_words(target, command), its.get(), its_errors.get()));
  return connection;
}

/// It would go when the far end does, which a broken line may never tell it.
SshConnection::~SshConnection() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

bool SshConnection::has_ended() {
  if (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = -1;
  return pid_ <= 0;
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
  const ssize_t n = ::recv(socket_.get(), buffer.data(), buffer.size(), MSG_DONTWAIT | MSG_PEEK);
  if (n < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (n <= 0) {
    state_ = fail_with(last_line(why()));
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
  return ::recv(socket_.get(), buffer.data(), take, MSG_DONTWAIT) == static_cast<ssize_t>(take);
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
    sending_ = true;
    return State::connecting;
  }
  return fail_with("the agent's program could not be written there: " + last_line(why()));
}

void SshConnection::send_program() {
  const std::string& content = binary_.content;
  while (sent_ < content.size()) {
    const ssize_t n = ::send(socket_.get(), content.data() + sent_, content.size() - sent_,
                             MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return;  // no room now; that it broke is seen when reading
    sent_ += static_cast<std::size_t>(n);
  }
  sending_ = false;
}

SshConnection::State SshConnection::fail_with(std::string why) {
  if (why.empty()) why = "the connection broke off";
  why_ = std::move(why);
  return State::failed;
}

std::string SshConnection::why() {
  listen();
  return why_.empty() ? said_ : why_;
}

void SshConnection::listen() {
  std::array<char, 1024> buffer{};
  for (ssize_t n = 0; (n = ::read(errors_.get(), buffer.data(), buffer.size())) > 0;) {
    said_.append(buffer.data(), static_cast<std::size_t>(n));
    if (said_.size() > kMaxSaid) said_.erase(0, said_.size() - kMaxSaid);
  }
}

}  // namespace gantry
