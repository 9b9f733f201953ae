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
#include <cstdlib>
#include <cstring>
#include <deque>
#include <optional>
#include <utility>

#include "agent/causes.hpp"
#include "agent/output_capture.hpp"
#include "agent/process_tree.hpp"
#include "agent/protocol.hpp"
#include "agent/slot_log.hpp"
#include "agent/spawn.hpp"
#include "agent/task_files.hpp"
#include "base/time.hpp"

namespace gantry::agent {

namespace {

using namespace std::chrono_literals;

constexpr Duration kGrace = 5s;             ///< between SIGTERM and SIGKILL
constexpr Duration kMemoryInterval = 50ms;  ///< between looks at a task's memory
constexpr int kKillPatienceMs = 20'000;

std::int64_t now_ns() {
  return to_ns(RealClock{}.now());
}

std::int64_t to_ns(const timeval& t) {
  return std::int64_t{t.tv_sec} * 1'000'000'000 + std::int64_t{t.tv_usec} * 1000;
}

/// How many processes the kernel has killed for memory so far.
std::uint64_t kernel_oom_kills() {
  const auto text = read_file("/proc/vmstat");
  if (!text) return 0;
  const auto at = text->find("\noom_kill ");
  return at == std::string::npos ? 0 : std::strtoull(text->c_str() + at + 10, nullptr, 10);
}

class Shepherd {
 public:
  Shepherd(ShepherdConfig config, UniqueFd socket)
      : config_(std::move(config)), socket_(std::move(socket)) {}

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
    auto out = OutputCapture::create(config_.output_dir, "out");
    auto err = OutputCapture::create(config_.output_dir, "err");
    auto null = open_file("/dev/null", O_RDONLY);
    if (!out || !err || !null) return false;
    if (log) log_.emplace(std::move(*log));
    out_.emplace(std::move(*out));
    err_.emplace(std::move(*err));
    null_ = std::move(*null);
    marker_ = "GANTRY_AGENT_DIR=" + config_.agent_dir.string();
    return true;
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
          if (auto hello = decode_hello(frame->body)) environment_ = std::move(hello->environment);
          break;
        case MessageType::start:
          if (auto start = decode_start(frame->body)) queue_.push_back(std::move(*start));
          break;
        case MessageType::cancel:
          if (const auto key = decode_key(frame->body)) on_cancel(*key);
          break;
        default:
          break;
      }
    }
    if (reader_.broken()) leave();
  }

  [[noreturn]] void leave() {
    kill_descendants(kKillPatienceMs);
    std::_Exit(0);
  }

  void on_cancel(const AttemptKey& key) {
    if (running_ && current_.key == key) stop(Cause::cancelled);
  }

  // One task.
  // ----------------------------------------------------------------------------------------

  void run_task(const Start& start) {
    current_ = {};
    current_.key = start.key;
    current_.tag = start.tag;
    killed_for_ = Cause::none;
    kill_at_ = deadline_ = 0;
    if (log_ && start.reset_log) log_->reset_if_long();
    const std::string stem =
        "run-" + std::to_string(start.key.run) + "/slot-" + std::to_string(config_.slot);
    out_->begin(stem);
    err_->begin(stem);
    current_.started_ns = now_ns();
    if (launch(start)) {
      supervise(start);
      if (!kill_descendants(kKillPatienceMs))
        current_.detail = "some of its processes could not be killed";
    }
    current_.ended_ns = now_ns();
    current_.out = out_->finish();
    current_.err = err_->finish();
    if (current_.cause == static_cast<std::uint8_t>(Cause::none)) check_files(start);
    report();
  }

  bool launch(const Start& start) {
    frame_.clear();
    encode(frame_, Started{start.key, current_.started_ns});
    if (log_) log_->append(frame_);
    if (const auto problem = prepare_files(start))
      return not_started(problem->first, problem->second);

    SpawnRequest request;
    for (const auto& word : start.argv) request.argv.push_back(const_cast<char*>(word.c_str()));
    request.argv.push_back(nullptr);
    fill_environment(start, request.envp);
    request.program = resolve(start.argv[0], request.envp);
    if (request.program.empty()) return not_started(ENOENT, "cannot start " + start.argv[0]);
    request.workdir = start.workdir;
    request.stdin_fd = null_.get();
    request.stdout_fd = out_->write_end();
    request.stderr_fd = err_->write_end();
    SpawnFailure failure;
    child_ = spawn(request, failure);
    if (child_ >= 0) return true;
    return not_started(
        failure.error,
        std::string(failure.stage) + " " +
            (std::strstr(failure.stage, "directory") ? start.workdir : start.argv[0]));
  }

  bool not_started(int error, const std::string& what) {
    current_.cause = static_cast<std::uint8_t>(Cause::start_failed);
    current_.code = error;
    current_.detail = what + ": " + std::strerror(error);
    return false;
  }

  /// The common environment, without what the task sets itself, then the task's own.
  void fill_environment(const Start& start, std::vector<char*>& envp) {
    const auto name_of = [](const std::string& entry) {
      return std::string_view(entry).substr(0, entry.find('='));
    };
    for (auto& entry : environment_) {
      const auto name = name_of(entry);
      const bool overridden =
          std::any_of(start.environment.begin(), start.environment.end(),
                      [&](const std::string& own) { return name_of(own) == name; });
      if (!overridden) envp.push_back(entry.data());
    }
    for (const auto& entry : start.environment) envp.push_back(const_cast<char*>(entry.c_str()));
    envp.push_back(marker_.data());
    envp.push_back(nullptr);
  }

  /// Looking a program up costs several system calls; a sweep starts the same one over and over.
  const std::string& resolve(const std::string& name, const std::vector<char*>& envp) {
    const char* path = nullptr;
    for (const char* entry : envp) {
      if (entry != nullptr && std::strncmp(entry, "PATH=", 5) == 0) path = entry + 5;
    }
    const std::string path_text = path != nullptr ? path : "";
    if (name != resolved_name_ || path_text != resolved_path_ || resolved_.empty()) {
      resolved_ = find_program(name, path);
      resolved_name_ = name;
      resolved_path_ = path_text;
    }
    return resolved_;
  }

  /// Until the task's first process has ended: output, messages, time and memory limits.
  void supervise(const Start& start) {
    running_ = true;
    if (start.timeout_ns > 0) deadline_ = current_.started_ns + start.timeout_ns;
    oom_kills_ = start.memory > 0 ? kernel_oom_kills() : 0;
    memory_check_ = start.memory > 0 ? current_.started_ns + kMemoryInterval.count() : 0;
    sigset_t none;
    sigemptyset(&none);
    while (!reap(start)) {
      pollfd fds[] = {
          {socket_.get(), POLLIN, 0}, {out_->read_end(), POLLIN, 0}, {err_->read_end(), POLLIN, 0}};
      const auto limit = time_to_next_check();
      const int ready = ::ppoll(fds, 3, limit ? &*limit : nullptr, &none);
      if (ready > 0) {
        if (fds[1].revents != 0) out_->drain();
        if (fds[2].revents != 0) err_->drain();
        if (fds[0].revents != 0) receive();
      }
      if (limit) check_limits(start);
    }
    running_ = false;
  }

  [[nodiscard]] std::optional<timespec> time_to_next_check() const {
    std::int64_t next = INT64_MAX;
    for (const std::int64_t at : {deadline_, kill_at_, memory_check_}) {
      if (at > 0) next = std::min(next, at);
    }
    if (next == INT64_MAX) return std::nullopt;
    const std::int64_t wait = std::max<std::int64_t>(0, next - now_ns());
    return timespec{static_cast<time_t>(wait / 1'000'000'000),
                    static_cast<long>(wait % 1'000'000'000)};
  }

  void check_limits(const Start& start) {
    const std::int64_t now = now_ns();
    if (kill_at_ > 0 && now >= kill_at_) {
      signal_descendants(SIGKILL);
      kill_at_ = now + 100'000'000;  // again, for what was forked meanwhile
    }
    if (deadline_ > 0 && now >= deadline_) {
      deadline_ = 0;
      stop(Cause::timeout);
    }
    if (memory_check_ > 0 && now >= memory_check_) {
      memory_check_ = now + kMemoryInterval.count();
      if (resident_memory_of_descendants() > start.memory &&
          proportional_memory_of_descendants() > start.memory) {
        stop(Cause::out_of_memory);
      }
    }
  }

  /// Politely first, except when memory is at stake.
  void stop(Cause why) {
    if (killed_for_ != Cause::none) return;
    killed_for_ = why;
    deadline_ = memory_check_ = 0;
    const bool now = why == Cause::out_of_memory;
    signal_descendants(now ? SIGKILL : SIGTERM);
    signal_descendants(SIGCONT);
    kill_at_ = now_ns() + (now ? 100'000'000 : kGrace.count());
  }

  /// Collects what has ended; true once the task's own process has.
  bool reap(const Start& start) {
    for (;;) {
      int status = 0;
      rusage usage{};
      const pid_t pid = ::wait4(-1, &status, WNOHANG, &usage);
      if (pid <= 0) return false;
      if (pid != child_) continue;  // an orphan of the task
      current_.user_ns = to_ns(usage.ru_utime);
      current_.system_ns = to_ns(usage.ru_stime);
      current_.max_rss = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
      judge(start, status);
      return true;
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
    if (killed_for_ != Cause::none) cause = killed_for_;
    current_.cause = static_cast<std::uint8_t>(cause);
    if (cause == Cause::out_of_memory) {
      current_.detail = "limit " + std::to_string(start.memory >> 20) + " MiB";
    } else if (cause == Cause::timeout) {
      current_.detail =
          "limit " + std::to_string(static_cast<double>(start.timeout_ns) / 1e9) + " s";
    }
  }

  void check_files(const Start& start) {
    if (auto missing = missing_output(start)) {
      current_.cause = static_cast<std::uint8_t>(Cause::missing_output);
      current_.detail = std::move(*missing);
      return;
    }
    current_.collected = collect_files(start);
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
  std::optional<OutputCapture> out_;
  std::optional<OutputCapture> err_;
  FrameReader reader_;
  std::deque<Start> queue_;
  std::vector<std::string> environment_;
  std::string marker_;
  std::string resolved_, resolved_name_, resolved_path_;
  std::string frame_;

  Ended current_;
  pid_t child_ = -1;
  bool running_ = false;
  Cause killed_for_ = Cause::none;
  std::int64_t deadline_ = 0;      ///< when the timeout ends; 0 = none
  std::int64_t kill_at_ = 0;       ///< when SIGKILL follows SIGTERM; 0 = not stopping
  std::int64_t memory_check_ = 0;  ///< when to look at its memory; 0 = no limit
  std::uint64_t oom_kills_ = 0;
};

/// Nothing of the agent's is the shepherd's but its socket, and the lock that says "somebody still
/// lives here". Above all not the agent's ends of other shepherds' sockets: they must close when
/// the agent dies.
UniqueFd keep_only(int socket, int lock) {
  constexpr int kSocket = 3;
  constexpr int kLock = 4;
  const int socket_copy = ::fcntl(socket, F_DUPFD_CLOEXEC, 10);
  const int lock_copy = ::fcntl(lock, F_DUPFD_CLOEXEC, 10);
  if (socket_copy < 0 || lock_copy < 0 || ::dup3(socket_copy, kSocket, O_CLOEXEC) < 0 ||
      ::dup3(lock_copy, kLock, O_CLOEXEC) < 0 || ::close_range(kLock + 1, ~0U, 0) != 0) {
    std::_Exit(3);
  }
  return UniqueFd(kSocket);
}

}  // namespace

std::filesystem::path slot_log_path(const std::filesystem::path& agent_dir, unsigned slot) {
  return agent_dir / ("slot-" + std::to_string(slot) + ".log");
}

Result<ShepherdHandle> start_shepherd(const ShepherdConfig& config) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    return fail_errno("socketpair");
  UniqueFd mine(ends[0]);
  UniqueFd its(ends[1]);
  const pid_t pid = ::fork();
  if (pid < 0) return fail_errno("fork");
  if (pid == 0) {
    Shepherd(config, keep_only(its.release(), config.lock_fd)).run();
  }
  return ShepherdHandle{pid, std::move(mine)};
}

}  // namespace gantry::agent
