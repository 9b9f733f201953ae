#include "agent/shell_command.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "base/child_process.hpp"

extern char** environ;

namespace gantry::agent {

namespace {

using namespace std::chrono_literals;

/// A busy controller may take long; one that hangs must not hang us.
constexpr auto kCommandPatience = 60s;
constexpr std::size_t kMaxOutput = std::size_t{64} << 20;

pid_t spawn_shell(const std::string& text, int output) {
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, output, 1);
  ::posix_spawn_file_actions_adddup2(&files, output, 2);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  // A login shell: it is the person's profile that knows where a cluster's commands are.
  std::array<char*, 5> argv{const_cast<char*>("sh"), const_cast<char*>("-l"),
                            const_cast<char*>("-c"), const_cast<char*>(text.c_str()), nullptr};
  pid_t pid = -1;
  const int error = ::posix_spawn(&pid, "/bin/sh", &files, &attributes, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  return error == 0 ? pid : -1;
}

}  // namespace

ShellCommand::~ShellCommand() {
  if (pid_ > 0) ::kill(-pid_, SIGKILL);
  if (busy_) finish();
}

void ShellCommand::start(const std::string& text, Clock::time_point now) {
  busy_ = true;
  text_.clear();
  deadline_ = now + kCommandPatience;
  auto pipe = make_pipe();
  if (!pipe) return;
  output_ = std::move(pipe->ours);
  ::fcntl(output_.get(), F_SETFL, O_NONBLOCK);
  pid_ = spawn_shell(text, pipe->theirs.get());
}

std::optional<ShellCommand::Answer> ShellCommand::poll(Clock::time_point now) {
  if (!busy_) return std::nullopt;
  if (pid_ <= 0) {
    text_ = "the shell of this host cannot be started";
    return finish();
  }
  std::array<char, std::size_t{16} << 10> buffer{};
  for (;;) {
    const ssize_t n = ::read(output_.get(), buffer.data(), buffer.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) break;
    if (n <= 0) return finish();
    text_.append(buffer.data(), static_cast<std::size_t>(n));
    if (text_.size() > kMaxOutput) break;
  }
  if (now < deadline_ && text_.size() <= kMaxOutput) return std::nullopt;
  text_ += "\na command of this host does not end\n";
  ::kill(-pid_, SIGKILL);
  return finish();
}

ShellCommand::Answer ShellCommand::finish() {
  Answer answer{-1, std::exchange(text_, {})};
  output_.reset();
  busy_ = false;
  if (const pid_t pid = std::exchange(pid_, -1); pid > 0)
    if (const int status = wait_for_child(pid); WIFEXITED(status))
      answer.code = WEXITSTATUS(status);
  return answer;
}

}  // namespace gantry::agent
