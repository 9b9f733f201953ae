// How an agent ends because a batch system takes the node back: it is told, or its time is over.
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "agent/agent_impl.hpp"
#include "agent/causes.hpp"
#include "agent/report_book.hpp"

namespace gantry::agent {

namespace {

using namespace std::chrono_literals;

/// For tasks to end after their SIGTERM, and for gantry to hear of it. Batch systems give half a
/// minute or a minute.
constexpr auto kStopPatience = 20s;
/// Between the signals that the processes of one job get.
constexpr int kSameMomentMs = 200;
constexpr int kShellSaysSignal = 128;

}  // namespace

bool was_told_to_end(const Ended& ended) {
  const bool by_signal = ended.cause == static_cast<std::uint8_t>(Cause::signal);
  const sigset_t signals = stop_signals();
  const int signal = by_signal ? ended.code : ended.code - kShellSaysSignal;
  return signal > 0 && signal < NSIG && sigismember(&signals, signal) == 1;
}

sigset_t stop_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGTERM, SIGUSR1, SIGUSR2}) sigaddset(&signals, signal);
  return signals;
}

Result<> Agent::watch_signals() {
  const sigset_t wanted = stop_signals();
  signals_.reset(::signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!signals_) return fail_errno("signalfd");
  return poller_.add(signals_.get(), kStopToken);
}

void Agent::on_stop_signal() {
  signalfd_siginfo info{};
  bool told = false;
  while (::read(signals_.get(), &info, sizeof info) == static_cast<ssize_t>(sizeof info))
    told = true;
  if (told) begin_to_stop("the batch system ends the job of this host");
}

/// What runs is cancelled, which gantry, that did not ask for it, takes for lost.
void Agent::begin_to_stop(const char* why) {
  if (is_stopping()) return;
  stop_at_ = SteadyClock::now() + kStopPatience;
  if (gantry_) {
    if (queue_.running() > 0) encode(gantry_.outbox(), Notice{why});
    on_recall({});
  }
  queue_.clear();
  for (auto& slot : slots_)
    if (slot->busy) on_cancel(AttemptKey(slot->current.key));
}

void Agent::heed_end(SteadyClock::time_point now) {
  if (ends_at_ == kNotNow || is_stopping()) return;
  if (now >= ends_at_) return begin_to_stop("the time of the job of this host is over");
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (!slot.busy || slot.told || slot.checkpoint_signal == 0) continue;
    if (now < ends_at_ - slot.checkpoint_before) continue;
    slot.told = true;
    encode(slot.stream.outbox(), Tell{slot.current.key, slot.checkpoint_signal});
    poller_.send(slot.stream, i);
  }
}

bool Agent::has_time_for(const PackedStart& start) const {
  if (ends_at_ == kNotNow || start.walltime_ns <= 0) return true;
  return std::chrono::nanoseconds(start.walltime_ns) <= ends_at_ - SteadyClock::now();
}

/// Batch systems signal all processes of a job, in any order: a task may be dead before we know
/// that all have to end, or before its slot's process hears it from us. That it failed then says
/// nothing about it. Nor does it when it has been told that the end is near, and gave up.
std::string Agent::unless_stopped(const Slot& slot, std::string body) {
  if (!signals_ && !slot.told) return body;
  const auto ended = decode_ended(body);
  if (!ended) return body;
  const auto cause = static_cast<Cause>(ended->second.cause);
  if (cause == Cause::none || cause == Cause::cancelled) return body;
  if (slot.told && (cause == Cause::exit_code || cause == Cause::signal))
    return unrun_report(slot.current, Cause::lost, "the time of its host was nearly over");
  if (!signals_) return body;
  if (!is_stopping() && was_told_to_end(ended->second)) {
    pollfd fd{signals_.get(), POLLIN, 0};
    ::poll(&fd, 1, kSameMomentMs);
  }
  on_stop_signal();
  if (!is_stopping()) return body;
  return unrun_report(slot.current, Cause::lost, "the batch system ended its job");
}

/// Gantry has taken note of everything, or time is up. The slot logs hold the rest for the next
/// agent.
bool Agent::may_stop(SteadyClock::time_point now) {
  if (now >= stop_at_) return true;
  if (queue_.running() > 0) return false;
  return !gantry_ || (book_.unacknowledged().empty() && !gantry_.wants_to_send());
}

}  // namespace gantry::agent
