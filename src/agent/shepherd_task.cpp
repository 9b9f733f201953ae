// One task, from its start to its report.
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "agent/causes.hpp"
#include "agent/process_tree.hpp"
#include "agent/shepherd_impl.hpp"
#include "agent/spawn.hpp"
#include "base/fd.hpp"

namespace gantry::agent {

namespace {

using SteadyClock = std::chrono::steady_clock;

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

}  // namespace

void Shepherd::run_task(const Start& start) {
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

bool Shepherd::launch(const Start& start) {
  if (std::exchange(cancelled_early_, std::nullopt) == start.key) {
    current_.cause = static_cast<std::uint8_t>(Cause::cancelled);
    return false;
  }
  frame_.clear();
  encode(frame_, Started{start.key, current_.started_ns});
  // Without a record, what we told the agent of the task before says that this one has begun.
  if (!log_ || !log_->append(frame_)) send_reports();
  if (has_zero_byte(start))
    return not_started(EINVAL, "an argument, variable or path holds a zero byte");
  if (!start.sandbox.empty() && !stage(start)) return false;
  if (const auto problem = prepare_files(start, old_files_))
    return not_started(problem->first, problem->second);
  const std::string stem = output_stem(start);
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
  return not_started(failure.error,
                     std::string(failure.stage) + " " +
                         (std::strstr(failure.stage, "directory") ? start.workdir : start.argv[0]));
}

std::string Shepherd::output_stem(const Start& start) const {
  const AttemptKey& key = start.key;
  return "run-" + std::to_string(key.run) + "/" +
         (start.sandbox.empty() ? "slot-" + std::to_string(config_.slot)
                                : std::to_string(key.task) + "." + std::to_string(key.attempt));
}

bool Shepherd::stage(const Start& start) {
  if (!config_.keeper.stage) return not_started(ENOSYS, "this agent has no depot");
  Staging staging = config_.keeper.stage(start);
  if (staging.error == 0 && staging.unstaged.empty()) return true;
  if (staging.unstaged.empty()) return not_started(staging.error, staging.problem);
  lose(std::move(staging));
  return false;
}

void Shepherd::lose(Staging staging) {
  current_.cause = static_cast<std::uint8_t>(Cause::lost);
  current_.detail = std::move(staging.problem);
  current_.unstaged = std::move(staging.unstaged);
}

bool Shepherd::not_started(int error, const std::string& what) {
  current_.cause = static_cast<std::uint8_t>(Cause::start_failed);
  current_.code = error;
  current_.detail = what + ": " + std::strerror(error);
  return false;
}

void Shepherd::supervise(const Start& start) {
  running_ = true;
  first_ended_ = false;
  checkpoint_until_.reset();
  oom_kills_ = start.memory > 0 ? kernel_oom_kills() : 0;
  watch_ = LimitWatch({Duration(start.timeout_ns), start.memory, grace_}, SteadyClock::now());
  bool none_left = false;
  while (!first_ended_ || (!none_left && watch_.in_grace())) {
    pollfd fds[] = {{socket_.get(), POLLIN, 0},
                    {out_.read_end(), POLLIN, 0},
                    {err_.read_end(), POLLIN, 0},
                    {child_signals_.get(), POLLIN, 0}};
    const auto limit = until_next_check();
    const timespec wait = to_timespec(limit.value_or(Duration{0}));
    const int ready = ::ppoll(fds, 4, limit ? &wait : nullptr, nullptr);
    if (ready > 0) {
      if (fds[1].revents != 0) out_.drain();
      if (fds[2].revents != 0) err_.drain();
      if (fds[0].revents != 0) receive();
      if (fds[3].revents != 0) none_left = reap(start);
    }
    if (limit) check_limits(start);
  }
  running_ = false;
}

std::optional<Duration> Shepherd::until_next_check() const {
  const auto now = SteadyClock::now();
  const auto limit = watch_.until_next_check(now);
  if (unsent_.empty()) return limit;
  const auto left = std::max(Duration{0}, Duration(unsent_since_ + kReportDelay - now));
  return std::min(left, limit.value_or(left));
}

void Shepherd::check_limits(const Start& start) {
  const auto now = SteadyClock::now();
  if (!unsent_.empty() && now - unsent_since_ >= kReportDelay) send_reports();
  carry_out(watch_.on_time(now));
  if (!watch_.memory_is_due(now)) return;
  std::uint64_t bytes = resident_memory_of_descendants();
  if (bytes > start.memory) bytes = std::min(bytes, proportional_memory_of_descendants());
  current_.max_rss = std::max(current_.max_rss, bytes);
  carry_out(watch_.on_memory(bytes, now));
}

void Shepherd::carry_out(LimitWatch::Do what) {
  if (what == LimitWatch::Do::nothing) return;
  signal_descendants(what == LimitWatch::Do::kill ? SIGKILL : SIGTERM);
  signal_descendants(SIGCONT);  // one that was stopped would not notice
}

bool Shepherd::reap(const Start& start) {
  signalfd_siginfo taken{};  // before we look: what ends after that is told anew
  static_cast<void>(::read(child_signals_.get(), &taken, sizeof taken));
  for (;;) {
    int status = 0;
    rusage usage{};
    const pid_t pid = ::wait4(-1, &status, WNOHANG | WUNTRACED, &usage);
    if (pid < 0 && errno == ECHILD) return true;
    if (pid <= 0) return false;
    if (WIFSTOPPED(status)) {
      // There is no terminal whose owner could let it go on. SIGSTOP is a person's.
      if (WSTOPSIG(status) != SIGSTOP) ::kill(pid == child_ ? -pid : pid, SIGCONT);
      continue;
    }
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

void Shepherd::judge(const Start& start, int status) {
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
  if (saved_its_state(start, status)) cause = Cause::checkpointed;
  if (watch_.reason() != Cause::none) cause = watch_.reason();
  current_.cause = static_cast<std::uint8_t>(cause);
  if (cause == Cause::out_of_memory) {
    current_.memory_limit = start.memory;
    current_.detail = "limit " + std::to_string(start.memory >> 20) + " MiB";
  } else if (cause == Cause::timeout) {
    current_.detail = "limit " + seconds_text(start.timeout_ns);
  }
}

bool Shepherd::saved_its_state(const Start& start, int status) const {
  return checkpoint_until_ && SteadyClock::now() <= *checkpoint_until_ && WIFEXITED(status) &&
         WEXITSTATUS(status) == start.checkpoint_code;
}

void Shepherd::check_files(const Start& start) {
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

void Shepherd::keep_outputs(const Start& start) {
  Keeping keeping =
      config_.keeper.keep ? config_.keeper.keep(start) : Keeping{"this agent has no depot", {}};
  current_.kept = std::move(keeping.kept);
  if (keeping.problem.empty()) return;
  current_.cause = static_cast<std::uint8_t>(Cause::missing_output);
  current_.detail = std::move(keeping.problem);
}

void Shepherd::sweep(const Start& start) {
  const bool wanted = current_.cause == static_cast<std::uint8_t>(Cause::none) &&
                      start.outputs.size() > start.keep.size();
  if (start.sandbox.empty() || wanted || !config_.keeper.sweep) return;
  current_.swept = config_.keeper.sweep(start, queue_.empty() ? nullptr : &queue_.front());
}

void Shepherd::report() {
  frame_.clear();
  encode(frame_, 1, current_);
  const bool logged = log_ && log_->append(frame_);
  if (!logged) {
    frame_.clear();
    encode(frame_, 0, current_);
  }
  const auto now = SteadyClock::now();
  if (unsent_.empty()) unsent_since_ = now;
  unsent_ += frame_;
  const bool may_wait = logged && !queue_.empty() && unsent_.size() < kMostUnsent &&
                        now - unsent_since_ < kReportDelay;
  if (!may_wait) send_reports();
}

}  // namespace gantry::agent
