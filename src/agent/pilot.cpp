#include "agent/pilot.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include "agent/agent_process.hpp"
#include "agent/pilot_address.hpp"
#include "agent/relay.hpp"
#include "agent/unix_socket.hpp"
#include "base/child_process.hpp"

namespace gantry::agent {

namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto kLingers = 60s;            ///< a gantry that lost its way may come back
constexpr unsigned kSecretPatience = 10;  ///< seconds to say it
constexpr std::size_t kMaxVisitors = 32;  ///< connections at once
constexpr auto kReachPatience = 10s;      ///< for a pilot that has just been started
constexpr int kConnectPatienceMs = 2000;
constexpr std::size_t kMaxAddressFile = 8192;

/// The file that others find us by, while we live.
class AddressFile {
 public:
  static Result<AddressFile> write(const fs::path& path, const PilotAddress& address) {
    // A file of its own with narrow rights from the beginning: the name appears with the content.
    const fs::path fresh = path.string() + "." + std::to_string(::getpid());
    ::unlink(fresh.c_str());
    TRY_ASSIGN(const UniqueFd file, open_file(fresh, O_WRONLY | O_CREAT | O_EXCL, 0600));
    TRY(write_all(file.get(), to_text(address)));
    if (::fsync(file.get()) != 0 || ::rename(fresh.c_str(), path.c_str()) != 0)
      return fail_errno(path.string());
    return AddressFile(path, to_text(address));
  }
  AddressFile(AddressFile&& other) noexcept
      : path_(std::exchange(other.path_, {})), text_(std::move(other.text_)) {}
  AddressFile& operator=(AddressFile&&) = delete;
  /// The next job may have put its own there already.
  ~AddressFile() {
    if (path_.empty()) return;
    if (const auto text = read_file(path_, kMaxAddressFile); text && *text == text_)
      ::unlink(path_.c_str());
  }

 private:
  AddressFile(fs::path path, std::string text) : path_(std::move(path)), text_(std::move(text)) {}
  fs::path path_;
  std::string text_;
};

Result<UniqueFd> listen_tcp(std::uint16_t& port) {
  UniqueFd listener(::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in6 any6{};
  any6.sin6_family = AF_INET6;
  sockaddr_in any4{};
  any4.sin_family = AF_INET;
  const int no = 0;
  const bool both =
      listener && ::setsockopt(listener.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no) == 0 &&
      ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&any6), sizeof any6) == 0;
  if (!both) {
    listener.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!listener) return fail_errno("socket");
    if (::bind(listener.get(), reinterpret_cast<const sockaddr*>(&any4), sizeof any4) != 0)
      return fail_errno("bind");
  }
  if (::listen(listener.get(), 16) != 0) return fail_errno("listen");
  sockaddr_storage bound{};
  socklen_t size = sizeof bound;
  if (::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&bound), &size) != 0)
    return fail_errno("getsockname");
  port = ntohs(bound.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(bound).sin6_port
                                           : reinterpret_cast<const sockaddr_in&>(bound).sin_port);
  return listener;
}

/// Those by which others may reach this node; its own loopback only when there is nothing else.
std::vector<std::string> own_addresses() {
  std::vector<std::string> numbers;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return {"127.0.0.1"};
  for (const int family : {AF_INET, AF_INET6}) {
    for (const ifaddrs* at = list; at != nullptr; at = at->ifa_next) {
      if (at->ifa_addr == nullptr || at->ifa_addr->sa_family != family) continue;
      if ((at->ifa_flags & IFF_UP) == 0 || (at->ifa_flags & IFF_LOOPBACK) != 0) continue;
      const auto* v4 = reinterpret_cast<const sockaddr_in*>(at->ifa_addr);
      const auto* v6 = reinterpret_cast<const sockaddr_in6*>(at->ifa_addr);
      if (family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr)) continue;
      const void* address = family == AF_INET ? static_cast<const void*>(&v4->sin_addr)
                                              : static_cast<const void*>(&v6->sin6_addr);
      std::array<char, INET6_ADDRSTRLEN> text{};
      if (::inet_ntop(family, address, text.data(), text.size()) != nullptr)
        numbers.emplace_back(text.data());
    }
  }
  ::freeifaddrs(list);
  if (numbers.empty()) numbers.emplace_back("127.0.0.1");
  return numbers;
}

/// Bytes of fixed number; false when the other side closes before.
bool read_exactly(int fd, char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t n = ::read(fd, data, size);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    data += n;
    size -= static_cast<std::size_t>(n);
  }
  return true;
}

void send_at_once(int socket) {
  const int yes = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  ::setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
}

/// The job's process, once the agent listens.
class Gate {
 public:
  Gate(UniqueFd listener, std::string secret, fs::path agent_dir, pid_t agent)
      : listener_(std::move(listener)),
        secret_(std::move(secret)),
        agent_dir_(std::move(agent_dir)),
        agent_(agent) {}

  /// Until the agent has ended.
  Result<> serve() {
    sigset_t wanted = stop_signals();
    sigaddset(&wanted, SIGCHLD);
    signals_.reset(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!signals_) return fail_errno("signalfd");
    while (!ended_) {
      const bool has_room = visitors_.size() < kMaxVisitors;
      std::array fds{pollfd{signals_.get(), POLLIN, 0},
                     pollfd{has_room ? listener_.get() : -1, POLLIN, 0}};
      // Now and then also without news: a signal may have been lost.
      if (::poll(fds.data(), fds.size(), 1000) < 0 && errno != EINTR) return fail_errno("poll");
      hear_signals();
      if (fds[1].revents != 0) accept_visitor();
    }
    if (WIFEXITED(status_) && WEXITSTATUS(status_) == 0) return {};
    return fail(ErrorCode::peer, "the agent ended before its time");
  }

 private:
  void hear_signals() {
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info))
      if (info.ssi_signo != SIGCHLD) ::kill(agent_, SIGTERM);
    int status = 0;
    for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      visitors_.erase(pid);
      if (pid != agent_) continue;
      ended_ = true;
      status_ = status;
    }
  }

  void accept_visitor() {
    const UniqueFd visitor(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!visitor) return;
    const pid_t pid = ::fork();
    if (pid == 0) std::_Exit(serve_visitor(visitor.get()));
    if (pid > 0) visitors_.insert(pid);
  }

  /// In a process of its own.
  [[nodiscard]] int serve_visitor(int visitor) const {
    ::alarm(kSecretPatience);  // which ends the process
    std::array<char, kSecretBytes> said{};
    if (!read_exactly(visitor, said.data(), said.size())) return 1;
    if (!is_same_secret({said.data(), said.size()}, secret_)) return 1;
    ::alarm(0);
    send_at_once(visitor);
    const auto agent = connect_to(agent_dir_, kSocketName);
    if (!agent) return 1;
    return join(visitor, visitor, agent->get()) ? 0 : 1;
  }

  UniqueFd listener_;
  std::string secret_;
  fs::path agent_dir_;
  pid_t agent_;
  UniqueFd signals_;
  std::set<pid_t> visitors_;
  bool ended_ = false;
  int status_ = 0;
};

/// "ok", or what went wrong.
Result<> await_ready(int ready) {
  TRY_ASSIGN(const std::string word, read_to_end(ready, "waiting for the agent"));
  if (word == "ok") return {};
  return fail(ErrorCode::peer, "the agent could not start: " + word);
}

/// The agent's process: the gate's child, which ends politely when the gate dies.
[[noreturn]] void run_agent(const AgentConfig& config, UniqueFd ready, pid_t gate) {
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != gate) std::_Exit(3);
  const auto served = serve(config, std::move(ready));
  if (!served) static_cast<void>(write_all(STDERR_FILENO, served.error().message + "\n"));
  std::_Exit(served ? 0 : 3);
}

Result<UniqueFd> connect_tcp(const std::string& host, std::uint16_t port) {
  sockaddr_in v4{};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(port);
  sockaddr_in6 v6{};
  v6.sin6_family = AF_INET6;
  v6.sin6_port = htons(port);
  const bool is_v4 = ::inet_pton(AF_INET, host.c_str(), &v4.sin_addr) == 1;
  if (!is_v4 && ::inet_pton(AF_INET6, host.c_str(), &v6.sin6_addr) != 1)
    return fail(ErrorCode::peer, host + " is no address");
  UniqueFd socket(
      ::socket(is_v4 ? AF_INET : AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket) return fail_errno("socket");
  const auto* address =
      is_v4 ? reinterpret_cast<const sockaddr*>(&v4) : reinterpret_cast<const sockaddr*>(&v6);
  if (::connect(socket.get(), address, is_v4 ? sizeof v4 : sizeof v6) != 0) {
    if (errno != EINPROGRESS) return fail_errno("cannot connect to " + host);
    pollfd fd{socket.get(), POLLOUT, 0};
    int error = ETIMEDOUT;
    socklen_t size = sizeof error;
    if (::poll(&fd, 1, kConnectPatienceMs) > 0)
      ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) {
      errno = error;
      return fail_errno("cannot connect to " + host);
    }
  }
  if (::fcntl(socket.get(), F_SETFL, 0) != 0) return fail_errno("fcntl");
  send_at_once(socket.get());
  return socket;
}

/// One look at the file, and at every address in it.
Result<UniqueFd> connect_pilot(const fs::path& state_dir) {
  const auto text = read_file(state_dir / "agent" / kAddressName, kMaxAddressFile);
  const auto address = text ? parse_pilot_address(*text) : std::nullopt;
  if (!address) return fail(ErrorCode::gone, "its job has not told yet where it runs");
  Result<UniqueFd> socket = fail(ErrorCode::gone, "its job has no address");
  for (const auto& host : address->hosts) {
    socket = connect_tcp(host, address->port);
    if (socket) break;
  }
  if (socket) TRY(write_all(socket->get(), address->secret));
  return socket;
}

}  // namespace

Result<> serve_as_pilot(const fs::path& state_dir, SandboxKeeper keeper,
                        std::chrono::nanoseconds time) {
  TRY(make_state_folders(state_dir));
  const fs::path agent_dir = state_dir / "agent";
  sigset_t held = stop_signals();
  sigaddset(&held, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &held, nullptr);
  for (const int ignored : {SIGTERM, SIGUSR1, SIGUSR2, SIGPIPE}) ::signal(ignored, SIG_IGN);
  TRY_ASSIGN(FdPair ready, make_pipe());
  const pid_t gate = ::getpid();
  const pid_t agent = ::fork();
  if (agent < 0) return fail_errno("fork");
  if (agent == 0) {
    AgentConfig config{agent_dir, state_dir / "output", std::move(keeper)};
    config.heeds_signals = true;
    config.time = time;
    config.lingers = kLingers;
    run_agent(config, std::move(ready.theirs), gate);
  }
  ready.theirs.reset();
  TRY(await_ready(ready.ours.get()));
  // Of an earlier pilot, which is gone: only now, since two of one name may have been submitted.
  ::unlink((agent_dir / kAddressName).c_str());
  PilotAddress address;
  TRY_ASSIGN(UniqueFd listener, listen_tcp(address.port));
  TRY_ASSIGN(address.secret, make_secret());
  address.hosts = own_addresses();
  TRY_ASSIGN(const AddressFile file, AddressFile::write(agent_dir / kAddressName, address));
  return Gate(std::move(listener), address.secret, agent_dir, agent).serve();
}

Result<> reach_pilot(const fs::path& state_dir, int in, int out) {
  const auto deadline = std::chrono::steady_clock::now() + kReachPatience;
  for (;;) {
    auto pilot = connect_pilot(state_dir);
    if (pilot) return join(in, out, pilot->get());
    if (std::chrono::steady_clock::now() >= deadline) return tl::unexpected(pilot.error());
    std::this_thread::sleep_for(200ms);
  }
}

}  // namespace gantry::agent
