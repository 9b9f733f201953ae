#include "agent/agent_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <optional>
#include <string>
#include <system_error>
#include <thread>

#include "agent/agent.hpp"
#include "agent/unix_socket.hpp"
#include "base/child_process.hpp"

extern char** environ;

namespace gantry::agent {

namespace {

namespace fs = std::filesystem;

/// Until the agent that writes to `ready` has said its word; or until another one answers, which a
/// gantry has started that was killed before it could connect: ours waits for it in vain.
Result<std::optional<UniqueFd>> await_agent(int ready, const fs::path& agent_dir) {
  constexpr int kLookMs = 100;
  for (;;) {
    pollfd fd{ready, POLLIN, 0};
    const int n = ::poll(&fd, 1, kLookMs);
    if (n < 0 && errno != EINTR) return fail_errno("waiting for the agent");
    if (n > 0) break;
    if (auto connection = connect_to(agent_dir, kSocketName)) return std::move(*connection);
  }
  TRY_ASSIGN(const std::string word, read_to_end(ready, "waiting for the agent"));
  if (word == "ok") return std::nullopt;
  return fail(ErrorCode::peer,
              "the agent could not start: " + (word.empty() ? "it ended at once" : word),
              "see " + (agent_dir / "agent.log").string());
}

/// A connection if there is one already, to whichever agent.
Result<std::optional<UniqueFd>> start_agent(const fs::path& state_dir,
                                            const AgentProgram& program) {
  TRY(make_state_folders(state_dir));
  const fs::path log = state_dir / "agent" / "agent.log";
  TRY_ASSIGN(FdPair ready, make_pipe());
  UniqueFd& ready_writer = ready.theirs;
  // The agent expects it as descriptor 3; dup2 in the child onto itself would keep O_CLOEXEC.
  if (ready_writer.get() == 3) ready_writer.reset(::fcntl(3, F_DUPFD_CLOEXEC, 10));

  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, 2, log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::posix_spawn_file_actions_adddup2(&files, ready_writer.get(), 3);
  const std::string dir = (state_dir / "agent").string();
  const std::string output = (state_dir / "output").string();
  std::vector<char*> argv{const_cast<char*>("gantry-agent"), const_cast<char*>(dir.c_str()),
                          const_cast<char*>(output.c_str())};
  for (const auto& option : program.options) argv.push_back(const_cast<char*>(option.c_str()));
  argv.push_back(nullptr);
  // Signals that gantry blocks (to read them from a descriptor) must not stay blocked in the agent.
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  sigset_t none;
  sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
  pid_t pid = -1;
  const int error =
      ::posix_spawn(&pid, program.path.c_str(), &files, &attributes, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&files);
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) return fail(ErrorCode::io, program.path.string() + ": " + std::strerror(error));
  ready_writer.reset();
  wait_for_child(pid);  // its first process ends as it becomes a daemon
  return await_agent(ready.ours.get(), state_dir / "agent");
}

}  // namespace

Result<> make_state_folders(const fs::path& state_dir) {
  std::error_code error;
  for (const char* name : {"agent", "output"}) {
    const fs::path path = state_dir / name;
    fs::create_directories(path, error);
    if (error) return fail(ErrorCode::io, path.string() + ": " + error.message());
  }
  if (::chmod((state_dir / "agent").c_str(), 0700) != 0)
    return fail_errno((state_dir / "agent").string());
  return {};
}

Result<UniqueFd> take_lock(const fs::path& agent_dir, std::chrono::seconds patience,
                           const std::function<bool()>& is_needless) {
  const fs::path path = agent_dir / "lock";
  TRY_ASSIGN(UniqueFd lock, open_file(path, O_RDWR | O_CREAT, 0600));
  const auto deadline = std::chrono::steady_clock::now() + patience;
  while (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR) return fail_errno(path.string());
    if (std::chrono::steady_clock::now() > deadline || (is_needless && is_needless()))
      return fail(ErrorCode::busy, path.string() + " is locked");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  return lock;
}

Result<UniqueFd> connect_agent(const std::filesystem::path& state_dir,
                               const AgentProgram& program) {
  // Three times: an agent that is just about to exit may still accept.
  for (int attempt = 0;; ++attempt) {
    if (auto connection = connect_to(state_dir / "agent", kSocketName)) return connection;
    auto started = start_agent(state_dir, program);
    if (started && *started) return std::move(**started);
    if (!started && attempt == 2) return tl::unexpected<Error>(started.error());
    if (attempt == 3)
      return fail(ErrorCode::peer, "the agent does not answer in " + state_dir.string());
  }
}

}  // namespace gantry::agent
