#include "driver/session.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "driver/packed_output.hpp"
#include "model/fingerprint.hpp"

namespace gantry::driver {

namespace {

using namespace std::chrono_literals;

constexpr Duration kCommitInterval =
    100ms;  ///< how long an end may wait for others to share a sync with
constexpr Duration kNewsInterval = 5s;  ///< how old the ETA in the store may become
constexpr Duration kShowInterval = 100ms;
constexpr Duration kPaceWindow = 5s;
/// How long we try to write the journal before we give up; the agent keeps what is not
/// acknowledged.
constexpr Duration kJournalPatience = 10s;
constexpr std::size_t kMaxSearched = std::size_t{64} << 20;  ///< of a task's output, for `results:`

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

}  // namespace

Session::Session(const Sweep& sweep, const Options& options, const Observer& observer,
                 store::Store& store, ContentCache& contents, Launcher& launcher,
                 const Clock& clock, PreparedRun run)
    : sweep_(sweep),
      options_(options),
      observer_(observer),
      store_(store),
      contents_(contents),
      launcher_(launcher),
      clock_(clock),
      run_(std::move(run)),
      began_(clock.now()),
      now_(began_),
      committed_at_(began_) {}

Result<Summary> Session::run(StopSignals& signals) {
  TRY(store_.mark_driven(run_.id));
  TRY(open());
  while (!run_.engine.finished() && stops_ < 3) {
    if (stuck_since_ == kNever) {
      for (auto actions = run_.engine.decide(now_); !actions.empty();
           actions = run_.engine.decide(now_)) {
        carry_out(actions);
      }
      if (run_.engine.finished()) break;
    }
    TRY(step(signals.fd()));
    on_stop_signals(signals.take());
  }
  TRY(commit(true));
  show_progress();
  launcher_.close();
  return summary();
}

Result<> Session::cancel(const store::Request& request) {
  TRY(open());
  record(DrainRequested{"cancelling"});  // nobody drives this run: what is pending stays so
  record(CancelRequested{request.all, request.tasks, now_});
  const auto busy = [&] {
    const auto runs = [&](TaskId task) {
      return run_.engine.state(task) == engine::TaskState::running;
    };
    if (request.all) return run_.engine.counts().running > 0;
    return std::any_of(request.tasks.begin(), request.tasks.end(), runs);
  };
  do {
    carry_out(run_.engine.decide(now_));
    if (busy()) TRY(step(-1));
  } while (busy());
  TRY(commit(true));
  launcher_.close();
  return {};
}

Result<> Session::open() {
  dirty_ = true;
  TRY(launcher_.open());
  opening_ = true;
  TRY(poll_launcher());
  opening_ = false;
  return commit(false);
}

/// One turn: take in the news (wait for it if there is none yet) and do what is due.
Result<> Session::step(int signal_fd) {
  TRY_ASSIGN(const bool news, poll_launcher());
  if (!news) {
    TRY(wait(signal_fd));
    TRY(poll_launcher());
  }
  if (now_ >= committed_at_ + kNewsInterval) dirty_ = true;
  if (now_ >= committed_at_ + kCommitInterval) {
    TRY(commit(false));
    TRY(take_requests());
  }
  if (now_ >= shown_at_ + kShowInterval) show_progress();
  return {};
}

Result<> Session::wait(int signal_fd) {
  TimePoint next = std::max(shown_at_, now_) + kShowInterval;
  if (dirty_) next = std::min(next, committed_at_ + kCommitInterval);
  if (const auto wakeup = run_.engine.next_wakeup(); wakeup != kNever)
    next = std::min(next, wakeup);
  const short want = launcher_.wants_to_send() ? POLLIN | POLLOUT : POLLIN;
  pollfd fds[] = {{launcher_.wait_fd(), want, 0}, {signal_fd, POLLIN, 0}};
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - clock_.now());
  if (::poll(fds, 2, static_cast<int>(std::max<std::int64_t>(0, left.count()))) < 0 &&
      errno != EINTR) {
    return fail_errno("poll");
  }
  return {};
}

// Out.
// -----------------------------------------------------------------------------------------------

void Session::carry_out(const std::vector<Action>& actions) {
  for (const auto& action : actions) {
    std::visit(Overloaded{[&](const StartAttempt& a) { start(a); },
                          [&](const CancelAttempt& a) {
                            launcher_.cancel({run_.id, a.task, a.attempt}, a.host);
                          },
                          [&](const RecallQueued& a) { launcher_.recall(a.host); }},
               action);
  }
}

void Session::start(const StartAttempt& action) {
  const TaskKey key{run_.id, action.task, action.attempt};
  const Task task = sweep_.task(action.task);
  const auto print = contents_.fingerprint(task);
  if (print) {
    dirty_ = true;  // for those who ask `gantry status` while long tasks run
    return launcher_.start(key, action.host, task, *print);
  }
  AttemptEnded ended;
  ended.report.key = key;
  ended.report.cause = FailureCause::missing_input;
  ended.report.detail = print.error().message;
  ended.report.started = ended.report.ended = now_;
  ended.host = action.host;
  ended.parameters = task.parameters;
  ++executed_;
  record_end(std::move(ended));
}

// In.
// ------------------------------------------------------------------------------------------------

/// True when there was something.
Result<bool> Session::poll_launcher() {
  std::vector<LauncherEvent> events;
  TRY(launcher_.poll(events));
  now_ = std::max(now_, clock_.now());
  for (auto& event : events) TRY(on_event(std::move(event)));
  return !events.empty();
}

Result<> Session::on_event(LauncherEvent event) {
  const auto ours = [&](const TaskKey& key) {
    return key.run == run_.id && key.task.value() <= sweep_.size();
  };
  return std::visit(Overloaded{[&](HostAppeared& e) -> Result<> {
                                 host_names_[e.host.id] = e.host.name;
                                 run_.engine.apply(HostUp{e.host});
                                 return {};
                               },
                               [&](HostVanished& e) -> Result<> {
                                 if (observer_.notice) observer_.notice(e.why);
                                 run_.engine.apply(HostDown{e.host});
                                 return {};
                               },
                               [&](TaskRunning& e) -> Result<> {
                                 if (!ours(e.key)) return {};
                                 if (opening_) adopted_.insert(e.key.task);
                                 run_.engine.apply(AttemptStarted{e.key, e.host, e.at});
                                 return {};
                               },
                               [&](TaskReturned& e) -> Result<> {
                                 if (ours(e.key)) run_.engine.apply(AttemptReturned{e.key});
                                 return {};
                               },
                               [&](ReportReceived& e) -> Result<> {
                                 receipt_ = e.receipt;
                                 dirty_ = true;
                                 return ours(e.report.key) ? on_report(std::move(e))
                                                           : on_foreign_report(std::move(e));
                               },
                               [&](LauncherNotice& e) -> Result<> {
                                 if (observer_.notice) observer_.notice(e.text);
                                 return {};
                               }},
                    event);
}

Result<> Session::on_report(ReportReceived received) {
  const TaskKey key = received.report.key;
  auto& last = run_.last_ended[key.task.value()];
  if (key.attempt.value() <= last) return {};  // journalled before: a report may come twice
  last = key.attempt.value();
  if (is_of_another_study(received)) {
    received.report.cause = FailureCause::lost;
    received.report.detail = "what ran under this number belonged to another study";
  }
  AttemptEnded ended;
  ended.report = std::move(received.report);
  ended.host = received.host;
  ended.host_name = host_names_[received.host];
  ended.parameters = sweep_.parameters(key.task);
  ended.fingerprint = received.fingerprint;
  read_results(sweep_, ended);
  ++executed_;
  ++ended_;
  record_end(std::move(ended));
  return {};
}

/// Run numbers begin anew when somebody moves the database away, and the agent may still hold
/// reports of an older run with our number. Those of attempts that we started need no look.
bool Session::is_of_another_study(const ReportReceived& received) {
  const TaskId task = received.report.key.task;
  const bool adopted = adopted_.erase(task) > 0;
  if ((!adopted && !opening_) || received.fingerprint.empty()) return false;
  return received.fingerprint.command != command_digest(sweep_.task(task));
}

/// A task of another run has ended since that run was last driven: its result must not be lost.
Result<> Session::on_foreign_report(ReportReceived received) {
  const TaskKey key = received.report.key;
  TRY_ASSIGN(auto record, store_.run(key.run));
  if (!record || key.task.value() > record->counts.total) return {};  // that run was cleaned away
  TRY_ASSIGN(const auto row, store_.task(key.run, key.task));
  if (row && row->attempt >= key.attempt) return {};
  auto& sweep = other_sweeps_[key.run];
  if (!sweep && options_.reload) {
    if (auto loaded = options_.reload(*record); loaded && loaded->digest() == record->digest) {
      sweep.emplace(std::move(*loaded));
    }
  }
  AttemptEnded ended;
  ended.report = std::move(received.report);
  ended.host = received.host;
  ended.host_name = host_names_[received.host];
  ended.fingerprint = received.fingerprint;
  if (sweep) {
    ended.parameters = sweep->parameters(key.task);
    read_results(*sweep, ended);
  } else {
    ended.fingerprint =
        {};  // without its parameters and results it is not worth keeping: run it again
  }
  auto& counter =
      ended.report.cause == FailureCause::none ? record->counts.done : record->counts.failed;
  ++counter;
  TRY(store_.append(key.run, ended));
  return store_.update_run(key.run, record->state, record->counts, Duration{0}, 0, now_);
}

/// A value that cannot be read makes the attempt a failure.
void Session::read_results(const Sweep& sweep, AttemptEnded& ended) const {
  if (ended.report.cause != FailureCause::none) return;
  const auto give_up = [&](Error error) {
    ended.report.cause = FailureCause::missing_result;
    ended.report.detail = std::move(error.message);
  };
  Result<std::string> packed;
  std::string_view text = ended.report.out.text;
  if (sweep.reads_stdout() && !ended.report.out.pack.empty()) {
    packed = whole_output(options_.state_dir, ended.report.out, kMaxSearched);
    if (!packed) return give_up(std::move(packed).error());
    text = *packed;
  }
  auto values = sweep.extract(ended.report, text);
  if (!values) return give_up(std::move(values).error());
  ended.results = std::move(*values);
}

Result<> Session::take_requests() {
  TRY_ASSIGN(auto requests, store_.take_requests());
  for (auto& request : requests) {
    if (request.run == run_.id)
      record(CancelRequested{request.all, std::move(request.tasks), now_});
  }
  return {};
}

void Session::on_stop_signals(int count) {
  for (int i = 0; i < count; ++i) {
    ++stops_;
    if (stops_ == 1) {
      record(DrainRequested{"interrupted"});
      if (observer_.notice) {
        observer_.notice(
            "finishing what runs; Ctrl-C again cancels it. Run the same command again to go on");
      }
    } else if (stops_ == 2) {
      if (observer_.notice) observer_.notice("cancelling");
      record(CancelRequested{true, {}, now_});
    }
  }
  if (count > 0) show_progress();
}

// Journal.
// -------------------------------------------------------------------------------------------

void Session::record(Event event) {
  // append() only buffers: what can fail is the commit, and it keeps the events until it succeeds.
  run_.engine.apply(event);
  static_cast<void>(store_.append(run_.id, std::move(event)));
  dirty_ = true;
}

/// Shows it as well, with what the engine makes of it.
void Session::record_end(AttemptEnded ended) {
  const TaskId task = ended.report.key.task;
  Event event = std::move(ended);
  run_.engine.apply(event);
  const auto state = run_.engine.state(task);
  const bool again = state == engine::TaskState::waiting || state == engine::TaskState::pending;
  if (observer_.ended) observer_.ended(std::get<AttemptEnded>(event), again);
  static_cast<void>(store_.append(run_.id, std::move(event)));
  dirty_ = true;
}

Result<> Session::commit(bool last) {
  if (!dirty_ && !last) return {};
  const auto& c = run_.engine.counts();
  const bool complete = c.done + c.failed == c.total;
  const auto state = last && complete ? store::RunState::finished : store::RunState::open;
  TRY(store_.update_run(run_.id, state, counts(), run_.engine.eta(now_), last ? 0 : ::getpid(),
                        now_));
  const auto deadline = clock_.now() + kJournalPatience;
  for (;;) {
    committed_at_ = now_;
    auto committed = store_.commit();
    if (committed) break;
    const bool give_up = stuck_since_ != kNever && now_ - stuck_since_ > kJournalPatience;
    if (give_up || (last && clock_.now() > deadline)) {
      Error error = std::move(committed).error();
      error.hint = "nothing is lost: the agent keeps what has finished. " +
                   (error.hint.empty() ? "Mend this and run the same command again" : error.hint);
      return tl::unexpected<Error>(std::move(error));
    }
    if (stuck_since_ == kNever) {
      stuck_since_ = now_;
      if (observer_.notice)
        observer_.notice(committed.error().message + "; starting nothing, trying again");
    }
    if (!last) return {};
    ::usleep(200'000);
  }
  stuck_since_ = kNever;
  dirty_ = false;
  if (receipt_ != acknowledged_) launcher_.acknowledge(receipt_);
  acknowledged_ = receipt_;
  return {};
}

// What a person sees.
// ----------------------------------------------------------------------------------

store::Counts Session::counts() const {
  const auto& c = run_.engine.counts();
  return {c.total, c.done, c.reused, c.failed, c.cancelled, c.running};
}

void Session::show_progress() {
  shown_at_ = now_;
  pace_.emplace_back(now_, ended_);
  while (pace_.size() > 2 && now_ - pace_.front().first > kPaceWindow) pace_.pop_front();
  if (!observer_.progress) return;
  Progress progress;
  progress.run = run_.id;
  progress.counts = counts();
  progress.retrying = run_.engine.counts().waiting;
  progress.elapsed = now_ - began_;
  progress.eta = run_.engine.eta(now_);
  const double span = seconds(pace_.back().first - pace_.front().first);
  if (span > 0) progress.tasks_per_second = (pace_.back().second - pace_.front().second) / span;
  progress.draining_why = run_.engine.draining();
  progress.draining = !progress.draining_why.empty();
  observer_.progress(progress);
}

Summary Session::summary() const {
  Summary s;
  s.run = run_.id;
  s.counts = counts();
  s.elapsed = clock_.now() - began_;
  s.executed = executed_;
  s.unchanged = run_.unchanged;
  s.outdated = run_.outdated;
  s.why = run_.engine.draining();
  const auto& c = run_.engine.counts();
  s.interrupted = stops_ > 0 || (!s.why.empty() && c.done + c.failed < c.total);
  return s;
}

}  // namespace gantry::driver
