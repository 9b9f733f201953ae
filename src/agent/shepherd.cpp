#include "agent/shepherd.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <exception>
#include <optional>
#include <utility>

#include "agent/causes.hpp"
#include "agent/limit_watch.hpp"
#include "agent/output_capture.hpp"
#include "agent/process_tree.hpp"
#include "agent/protocol.hpp"
#include "agent/slot_log.hpp"
#include "agent/spawn.hpp"
#include "agent/task_environment.hpp"
#include "agent/task_files.hpp"
#include "base/time.hpp"

namespace gantry::agent {

namespace {

using SteadyClock = std::chrono::steady_clock;

constexpr int kKillPatienceMs = 20'000;

std::int64_t now_ns() {
  return to_ns(RealClock{}.now());
}

std::int64_t cpu_ns(const timeval& t) {
  return std::int64_t{t.tv_sec} * 1'000'000'000 + std::int64_t{t.tv_usec} * 1000;
}

/// How many processes the kernel has killed for memory so far.
std::uint64_t kernel_oom_kills() {
  const auto text = read_file("/proc/vmstat");
  if (!text) return 0;
  const auto at = text->find("\noom_kill ");
  return at == std::string::npos ? 0 : std::strtoull(text->c_str() + at + 10, nullptr, 10);
}

/// "1.5 s": as short as it can be said.
std::string seconds_text(std::int64_t ns) {
  char text[32];
  std::snprintf(text, sizeof text, "%.10g s", static_cast<double>(ns) / 1e9);
  return text;
}

timespec to_timespec(Duration d) {
  return {static_cast<time_t>(d.count() / 1'000'000'000),
          static_cast<long>(d.count() % 1'000'000'000)};
}

/// What the kernel would take for the end of a string.
bool has_zero_byte(const Start& start) {
  const auto holds = [](const std::string& text) { return text.find('\0') != std::string::npos; };
  return holds(start.workdir) || std::any_of(start.argv.begin(), start.argv.end(), holds) ||
         std::any_of(start.environment.begin(), start.environment.end(), holds);
}

class Shepherd {
 public:
  Shepherd(ShepherdConfig config, UniqueFd socket)
      : config_(std::move(config)),
        socket_(std::move(socket)),
        out_(config_.output_dir, "out"),
        err_(config_.output_dir, "err"),
        environment_(config_.mark) {}

  [[noreturn]] void run() {
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

 private:
  bool prepare() {
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
    ::prctl(PR_SET_NAME, ("slot-" + std::to_string(config_.slot)).c_str());
    sigset_t child;
    sigemptyset(&child);
    sigaddset(&child, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &child, nullptr);
    struct sigaction wake {};
    wake.sa_handler = [](int) {};  // only there to interrupt ppoll
    ::sigaction(SIGCHLD, &wake, nullptr);
    auto log = SlotLog::open(slot_log_path(config_.agent_dir, config_.slot));
    if (log) log_.emplace(std::move(*log));
    auto null = open_file("/dev/null", O_RDONLY);
    if (null) null_ = std::move(*null);
    return static_cast<bool>(null_);
  }

  /// Blocks for bytes from the agent and takes in whole messages. Without an agent there is nothing
  /// to live for.
  void receive() {
    const auto [at, room] = reader_.space(std::size_t{64} << 10);
    const ssize_t n = ::read(socket_.get(), at, room);
    if (n < 0 && errno == EINTR) return;
    if (n <= 0) leave();
    reader_.filled(static_cast<std::size_t>(n));
    while (const auto frame = reader_.next()) {
      switch (frame->type) {
        case MessageType::hello:
          if (auto hello = decode_hello(frame->body)) on_hello(std::move(*hello));
          break;
        case MessageType::start:
          if (auto start = decode_start(frame->body)) queue_.push_back(std::move(*start));
          break;
        case MessageType::cancel:
          if (const auto key = decode_key(frame->body)) on_cancel(*key);
          break;
        case MessageType::tell:
          if (const auto tell = decode_tell(frame->body)) on_tell(*tell);
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

  [[noreturn]] void leave() {
    kill_descendants(kKillPatienceMs);
    if (config_.keeper.leave) config_.keeper.leave();
    std::_Exit(0);
  }

  void on_hello(Hello hello) {
    environment_.set_common(std::move(hello.environment));
    grace_ = Duration(hello.grace_ns);
  }

  void on_cancel(const AttemptKey& key) {
    if (running_ && current_.key == key) return carry_out(watch_.on_cancel(SteadyClock::now()));
    // It may have come together with its task.
    for (const auto& start : queue_) {
      if (start.key == key) cancelled_early_ = key;
    }
  }

  void on_tell(const Tell& tell) const {
    if (running_ && current_.key == tell.key) signal_descendants(tell.signal);
  }

  /// Gives up what waits here, but for the first `keep`.
  void give_back(std::size_t keep) {
    frame_.clear();
    while (queue_.size() > keep) {
      encode(frame_, Returned{queue_.back().key});
      queue_.pop_back();
    }
    if (!write_all(socket_.get(), frame_)) leave();
  }

  // One task.
  // ----------------------------------------------------------------------------------------

  void run_task(const Start& start) {
    current_ = {};
    current_.key = start.key;
    current_.tag = start.tag;
    if (log_) log_->begin_task(start.log_serial, start.log_safe);
    current_.started_ns = now_ns();
    const bool ran = launch(start);
    if (ran) supervise(start);
    const bool all_gone = !ran || kill_descendants(kKillPatienceMs);
    current_.ended_ns = now_ns();
    if (ran) {
      current_.out = out_.finish();
      current_.err = err_.finish();
    }
    if (current_.cause == static_cast<std::uint8_t>(Cause::none)) check_files(start);
    if (all_gone) sweep(start);
    if (all_gone) return report();
    // They would hold up every later task here. The agent makes a new slot without them.
    current_.detail = "some of its processes could not be killed";
    give_back(0);
    report();
    std::_Exit(0);
  }

  bool launch(const Start& start) {
    if (std::exchange(cancelled_early_, std::nullopt) == start.key) {
      current_.cause = static_cast<std::uint8_t>(Cause::cancelled);
      return false;
    }
    frame_.clear();
    encode(frame_, Started{start.key, current_.started_ns});
    if (log_) log_->append(frame_);
    if (has_zero_byte(start))
      return not_started(EINVAL, "an argument, variable or path holds a zero byte");
    if (!start.sandbox.empty() && !stage(start)) return false;
    if (const auto problem = prepare_files(start, old_files_))
      return not_started(problem->first, problem->second);
    const std::string stem =
        "run-" + std::to_string(start.key.run) + "/slot-" + std::to_string(config_.slot);
    if (!out_.begin(stem) || !err_.begin(stem))
      return not_started(errno, "cannot make a pipe for its output");

    SpawnRequest request;
    for (const auto& word : start.argv) request.argv.push_back(const_cast<char*>(word.c_str()));
    request.argv.push_back(nullptr);
    request.envp = environment_.with(start.environment);
    request.program = environment_.find(start.argv[0], request.envp, start.workdir);
    if (request.program.empty()) return not_started(ENOENT, "cannot start " + start.argv[0]);
    request.workdir = start.workdir;
    request.stdin_fd = null_.get();
    request.stdout_fd = out_.write_end();
    request.stderr_fd = err_.write_end();
    SpawnFailure failure;
    child_ = spawn(request, failure);
    if (child_ >= 0) return true;
    environment_.forget();  // it may have moved
    return not_started(
        failure.error,
        std::string(failure.stage) + " " +
            (std::strstr(failure.stage, "directory") ? start.workdir : start.argv[0]));
  }

  /// Puts the inputs into the task's sandbox. What the depot lacks is not the task's fault.
  bool stage(const Start& start) {
    if (!config_.keeper.stage) return not_started(ENOSYS, "this agent has no depot");
    Staging staging = config_.keeper.stage(start);
    if (staging.error == 0 && staging.unstaged.empty()) return true;
    if (staging.unstaged.empty()) return not_started(staging.error, staging.problem);
    lose(std::move(staging));
    return false;
  }

  void lose(Staging staging) {
    current_.cause = static_cast<std::uint8_t>(Cause::lost);
    current_.detail = std::move(staging.problem);
    current_.unstaged = std::move(staging.unstaged);
  }

  bool not_started(int error, const std::string& what) {
    current_.cause = static_cast<std::uint8_t>(Cause::start_failed);
    current_.code = error;
    current_.detail = what + ": " + std::strerror(error);
    return false;
  }

  /// Until the task's first process has ended: output, messages, time and memory limits. When the
  /// task was asked to end, the rest of its tree has as much time for that as the first process.
  void supervise(const Start& start) {
    running_ = true;
    first_ended_ = false;
    oom_kills_ = start.memory > 0 ? kernel_oom_kills() : 0;
    watch_ = LimitWatch({Duration(start.timeout_ns), start.memory, grace_}, SteadyClock::now());
    sigset_t none;
    sigemptyset(&none);
    for (;;) {
      const bool none_left = reap(start);
      if (first_ended_ && (none_left || !watch_.in_grace())) break;
      pollfd fds[] = {
          {socket_.get(), POLLIN, 0}, {out_.read_end(), POLLIN, 0}, {err_.read_end(), POLLIN, 0}};
      const auto limit = watch_.until_next_check(SteadyClock::now());
      const timespec wait = to_timespec(limit.value_or(Duration{0}));
      const int ready = ::ppoll(fds, 3, limit ? &wait : nullptr, &none);
      if (ready > 0) {
        if (fds[1].revents != 0) out_.drain();
        if (fds[2].revents != 0) err_.drain();
        if (fds[0].revents != 0) receive();
      }
      if (limit) check_limits(start);
    }
    running_ = false;
  }

  void check_limits(const Start& start) {
    const auto now = SteadyClock::now();
    carry_out(watch_.on_time(now));
    if (!watch_.memory_is_due(now)) return;
    std::uint64_t bytes = resident_memory_of_descendants();
    if (bytes > start.memory) bytes = std::min(bytes, proportional_memory_of_descendants());
    current_.max_rss = std::max(current_.max_rss, bytes);
    carry_out(watch_.on_memory(bytes, now));
  }

  static void carry_out(LimitWatch::Do what) {
    if (what == LimitWatch::Do::nothing) return;
    signal_descendants(what == LimitWatch::Do::kill ? SIGKILL : SIGTERM);
    signal_descendants(SIGCONT);  // one that was stopped would not notice
  }

  /// Collects what has ended; true when nothing is left.
  bool reap(const Start& start) {
    for (;;) {
      int status = 0;
      rusage usage{};
      const pid_t pid = ::wait4(-1, &status, WNOHANG, &usage);
      if (pid < 0 && errno == ECHILD) return true;
      if (pid <= 0) return false;
      if (pid != child_) continue;  // an orphan of the task
      current_.user_ns = cpu_ns(usage.ru_utime);
      current_.system_ns = cpu_ns(usage.ru_stime);
      current_.max_rss =
          std::max(current_.max_rss, static_cast<std::uint64_t>(usage.ru_maxrss) * 1024);
      judge(start, status);
      first_ended_ = true;
      if (!watch_.in_grace()) return false;
    }
  }

  void judge(const Start& start, int status) {
    auto cause = Cause::none;
    if (WIFSIGNALED(status)) {
      cause = Cause::signal;
      current_.code = WTERMSIG(status);
      const bool by_kernel =
          current_.code == SIGKILL && start.memory > 0 && kernel_oom_kills() != oom_kills_;
      if (by_kernel) cause = Cause::out_of_memory;
    } else if (WEXITSTATUS(status) != 0) {
      cause = Cause::exit_code;
      current_.code = WEXITSTATUS(status);
    }
    if (watch_.reason() != Cause::none) cause = watch_.reason();
    current_.cause = static_cast<std::uint8_t>(cause);
    if (cause == Cause::out_of_memory) {
      current_.detail = "limit " + std::to_string(start.memory >> 20) + " MiB";
    } else if (cause == Cause::timeout) {
      current_.detail = "limit " + seconds_text(start.timeout_ns);
    }
  }

  void check_files(const Start& start) {
    if (!start.sandbox.empty() && config_.keeper.check) {
      if (Staging found = config_.keeper.check(start); !found.unstaged.empty())
        return lose(std::move(found));
    }
    if (auto missing = missing_output(start, old_files_)) {
      current_.cause = static_cast<std::uint8_t>(Cause::missing_output);
      current_.detail = std::move(*missing);
      return;
    }
    current_.collected = collect_files(start);
    if (!start.keep.empty()) keep_outputs(start);
  }

  void keep_outputs(const Start& start) {
    Keeping keeping =
        config_.keeper.keep ? config_.keeper.keep(start) : Keeping{"this agent has no depot", {}};
    current_.kept = std::move(keeping.kept);
    if (keeping.problem.empty()) return;
    current_.cause = static_cast<std::uint8_t>(Cause::missing_output);
    current_.detail = std::move(keeping.problem);
  }

  /// Sandboxes from which nothing is to be fetched would only lie about until somebody has the
  /// time.
  void sweep(const Start& start) {
    const bool wanted = current_.cause == static_cast<std::uint8_t>(Cause::none) &&
                        start.outputs.size() > start.keep.size();
    if (start.sandbox.empty() || wanted || !config_.keeper.sweep) return;
    current_.swept = config_.keeper.sweep(start);
  }

  void report() {
    frame_.clear();
    encode(frame_, 1, current_);
    if (!log_ || !log_->append(frame_)) {
      frame_.clear();
      encode(frame_, 0, current_);
    }
    if (!write_all(socket_.get(), frame_)) leave();
  }

  ShepherdConfig config_;
  UniqueFd socket_;
  UniqueFd null_;
  std::optional<SlotLog> log_;
  OutputCapture out_;
  OutputCapture err_;
  FrameReader reader_;
  std::deque<Start> queue_;
  TaskEnvironment environment_;
  Duration grace_{0};
  std::string frame_;

  Ended current_;
  std::optional<AttemptKey> cancelled_early_;  ///< a waiting task that must not start
  pid_t child_ = -1;
  bool running_ = false;
  OldFiles old_files_;
  bool first_ended_ = false;  ///< the process that was started for the task
  LimitWatch watch_;
  std::uint64_t oom_kills_ = 0;
};

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
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail_errno("socketpair");
  UniqueFd mine(ends[0]);
  UniqueFd its(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) return fail_errno("fork");
  if (pid == 0) run_shepherd(config, its.release());
  return ShepherdHandle{pid, std::move(mine)};
}

}  // namespace gantry::agent
