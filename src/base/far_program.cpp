#include "base/far_program.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/child_process.hpp"

extern char** environ;

namespace gantry {

namespace {

constexpr std::size_t kMaxSaid = std::size_t{4} << 10;

Result<pid_t> spawn_far(const std::vector<std::string>& words, int in_and_out, int errors) {
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_adddup2(&files, in_and_out, 0);
  ::posix_spawn_file_actions_adddup2(&files, in_and_out, 1);
  ::posix_spawn_file_actions_adddup2(&files, errors, 2);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);
  ::posix_spawnattr_setsigdefault(&attributes, &defaults);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(
      &attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  std::vector<char*> argv;
  argv.reserve(words.size() + 1);
  for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  pid_t pid = -1;
  const int error = ::posix_spawnp(&pid, argv[0], &files, &attributes, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  if (error == 0) return pid;
  return fail(ErrorCode::io, "cannot start " + words[0] + ": " + std::strerror(error),
              error == ENOENT ? "install it (Debian: openssh-client)" : "");
}

}  // namespace

Result<std::string> make_token() {
  TRY_ASSIGN(const Digest random, random_digest());
  return "gantry-" + random.hex();
}

Result<FarProgram> FarProgram::start(const std::vector<std::string>& words) {
  FarProgram program;
  TRY_ASSIGN(FdPair sockets, make_socket_pair());
  program.socket_ = std::move(sockets.ours);
  TRY_ASSIGN(FdPair errors, make_pipe());
  program.errors_ = std::move(errors.ours);
  if (::fcntl(program.errors_.get(), F_SETFL, O_NONBLOCK) != 0) return fail_errno("fcntl");
  TRY_ASSIGN(program.pid_, spawn_far(words, sockets.theirs.get(), errors.theirs.get()));
  return program;
}

FarProgram& FarProgram::operator=(FarProgram&& other) noexcept {
  if (this == &other) return *this;
  kill();
  pid_ = std::exchange(other.pid_, -1);
  socket_ = std::move(other.socket_);
  errors_ = std::move(other.errors_);
  said_ = std::move(other.said_);
  return *this;
}

/// It would go when the far end does, which a broken line may never tell it.
void FarProgram::kill() {
  if (pid_ <= 0) return;
  ::kill(-pid_, SIGKILL);
  wait_for_child(pid_);
  pid_ = -1;
}

bool FarProgram::has_ended() {
  if (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == pid_) pid_ = -1;
  return pid_ <= 0;
}

void FarProgram::listen() {
  std::array<char, 1024> buffer{};
  while (errors_) {
    const ssize_t n = ::read(errors_.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return;
    if (n == 0) return errors_.reset();  // it would be readable for ever
    said_.append(buffer.data(), static_cast<std::size_t>(n));
    if (said_.size() > kMaxSaid) said_.erase(0, said_.size() - kMaxSaid);
  }
}

std::string FarProgram::last_words() {
  listen();
  return std::string(last_line(said_));
}

}  // namespace gantry
