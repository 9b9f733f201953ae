#include "agent/shepherd.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>

#include "agent/process_tree.hpp"
#include "agent/shepherd_impl.hpp"
#include "base/child_process.hpp"

namespace gantry::agent {

void Shepherd::run() {
  if (!prepare()) std::_Exit(3);
  for (;;) {
    if (queue_.empty()) {
      receive();
      continue;
    }
    const Start start = std::move(queue_.front());
    queue_.pop_front();
    run_task(start);
  }
}

bool Shepherd::prepare() {
  // A session for each slot, not for each task: a kernel that schedules by session (autogroup)
  // makes and removes a group for each, which took 30 us of CPU a task.
  ::setsid();
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  ::prctl(PR_SET_NAME, ("slot-" + std::to_string(config_.slot)).c_str());
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &child, nullptr);
  ::signal(SIGCHLD, SIG_DFL);  // ignored, as somebody may have left it, it would tell us nothing
  child_signals_.reset(::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK));
  auto log = SlotLog::open(slot_log_path(config_.agent_dir, config_.slot));
  if (log) log_.emplace(std::move(*log));
  auto null = open_file("/dev/null", O_RDONLY);
  if (null) null_ = std::move(*null);
  return null_ && child_signals_;
}

void Shepherd::receive() {
  const auto [at, room] = reader_.space(std::size_t{64} << 10);
  const ssize_t n = ::read(socket_.get(), at, room);
  if (n < 0 && errno == EINTR) return;
  if (n <= 0) leave();
  reader_.filled(static_cast<std::size_t>(n));
  while (const auto frame = reader_.next()) {
    switch (frame->type) {
      case MessageType::hello:
        if (auto hello = decode<Hello>(frame->body)) on_hello(std::move(*hello));
        break;
      case MessageType::start:
        if (auto start = decode<Start>(frame->body)) queue_.push_back(std::move(*start));
        break;
      case MessageType::cancel:
        if (const auto key = decode<AttemptKey>(frame->body)) on_cancel(*key);
        break;
      case MessageType::tell:
        if (const auto tell = decode<Tell>(frame->body)) on_tell(*tell);
        break;
      case MessageType::recall:
        give_back(running_ ? 0 : 1);  // what runs, or is about to, is not waiting
        break;
      default:
        break;
    }
  }
  if (reader_.broken()) leave();
}

void Shepherd::leave() {
  kill_descendants(kKillPatienceMs);
  if (config_.keeper.leave) config_.keeper.leave();
  std::_Exit(0);
}

void Shepherd::on_hello(Hello hello) {
  environment_.set_common(std::move(hello.environment));
  grace_ = Duration(hello.grace_ns);
}

void Shepherd::on_cancel(const AttemptKey& key) {
  if (running_ && current_.key == key)
    return carry_out(watch_.on_cancel(std::chrono::steady_clock::now()));
  // It may have come together with its task.
  for (const auto& start : queue_) {
    if (start.key == key) cancelled_early_ = key;
  }
}

void Shepherd::on_tell(const Tell& tell) {
  if (!running_ || current_.key != tell.key) return;
  if (tell.checkpoint_ns > 0)
    checkpoint_until_ = std::chrono::steady_clock::now() + Duration(tell.checkpoint_ns);
  signal_descendants(tell.signal);
}

void Shepherd::give_back(std::size_t keep) {
  for (; queue_.size() > keep; queue_.pop_back()) encode(unsent_, Returned{queue_.back().key});
  send_reports();
}

void Shepherd::send_reports() {
  if (!write_all(socket_.get(), unsent_)) leave();
  unsent_.clear();
}

namespace {

/// Nothing of the agent's is the shepherd's but its socket, and the lock that says "somebody still
/// lives here". Above all not the agent's ends of other shepherds' sockets: they must close when
/// the agent dies.
UniqueFd keep_only(int socket, int lock) {
  const auto [low, high] = std::minmax(socket, lock);
  const auto close_between = [](int after, int before) {
    if (after + 1 < before) {
      ::close_range(static_cast<unsigned>(after) + 1, static_cast<unsigned>(before) - 1, 0);
    }
  };
  close_between(2, low);
  close_between(low, high);
  ::close_range(static_cast<unsigned>(high) + 1, ~0U, 0);
  return UniqueFd(socket);
}

/// In the forked process. Nothing may return or unwind into the agent's code, which is below us on
/// the stack.
[[noreturn]] void run_shepherd(const ShepherdConfig& config, int socket) noexcept {
  try {
    Shepherd(config, keep_only(socket, config.lock_fd)).run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "gantry-agent: slot %u: %s\n", config.slot, error.what());
    std::_Exit(3);
  }
}

}  // namespace

Result<ShepherdHandle> start_shepherd(const ShepherdConfig& config) {
  TRY_ASSIGN(FdPair sockets, make_socket_pair());
  const pid_t pid = ::fork();
  if (pid < 0) return fail_errno("fork");
  if (pid == 0) run_shepherd(config, sockets.theirs.release());
  return ShepherdHandle{pid, std::move(sockets.ours)};
}

}  // namespace gantry::agent
