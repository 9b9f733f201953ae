#include "depot/ssh_peer.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/fd.hpp"

extern char** environ;

namespace gantry::depot {

namespace {

constexpr std::size_t kMaxSaid = std::size_t{4} << 10;

/// In a process group of its own, so that its jump hosts' connections end with it.
Result<pid_t> spawn(const std::vector<std::string>& words, int in_and_out, int errors) {
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_adddup2(&files, in_and_out, 0);
  ::posix_spawn_file_actions_adddup2(&files, in_and_out, 1);
  ::posix_spawn_file_actions_adddup2(&files, errors, 2);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, argv[0], &files, &attributes, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  if (error == 0) return pid;
  return fail(ErrorCode::peer, "cannot start " + words[0] + ": " + std::strerror(error));
}

class SshPeer final : public Peer {
 public:
  SshPeer(pid_t pid, UniqueFd socket, UniqueFd errors)
      : pid_(pid), socket_(std::move(socket)), errors_(std::move(errors)) {}
  SshPeer(const SshPeer&) = delete;
  SshPeer& operator=(const SshPeer&) = delete;
  ~SshPeer() override {
    ::kill(-pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  [[nodiscard]] int fd() const override { return socket_.get(); }

  std::string last_words() override {
    std::array<char, 1024> buffer{};
    for (ssize_t n = 0; (n = ::read(errors_.get(), buffer.data(), buffer.size())) > 0;) {
      said_.append(buffer.data(), static_cast<std::size_t>(n));
      if (said_.size() > kMaxSaid) said_.erase(0, said_.size() - kMaxSaid);
    }
    std::string_view text = said_;
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r' || text.back() == ' '))
      text.remove_suffix(1);
    return std::string(text.substr(text.rfind('\n') + 1));
  }

 private:
  pid_t pid_;
  UniqueFd socket_;
  UniqueFd errors_;
  std::string said_;
};

}  // namespace

Result<std::unique_ptr<Peer>> open_ssh_peer(const PeerSite& site, const std::string& token) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail_errno("socketpair");
  UniqueFd ours(ends[0]);
  const UniqueFd its(ends[1]);
  int pipe[2];
  if (::pipe2(pipe, O_CLOEXEC) != 0) return fail_errno("pipe");
  UniqueFd errors(pipe[0]);
  const UniqueFd its_errors(pipe[1]);
  if (::fcntl(ours.get(), F_SETFL, O_NONBLOCK) != 0 ||
      ::fcntl(errors.get(), F_SETFL, O_NONBLOCK) != 0)
    return fail_errno("fcntl");
  TRY_ASSIGN(const pid_t pid, spawn(peer_words(site, token), its.get(), its_errors.get()));
  return std::make_unique<SshPeer>(pid, std::move(ours), std::move(errors));
}

}  // namespace gantry::depot
