#include "driver/session.hpp"
// The part of a session that writes: the journal, and what a person sees.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

namespace gantry::driver {

namespace {

using namespace std::chrono_literals;

constexpr Duration kPaceWindow = 5s;
/// How long we try to write the journal before we give up; the agent keeps what is not
/// acknowledged.
constexpr Duration kJournalPatience = 10s;

}  // namespace

// Journal.
// -------------------------------------------------------------------------------------------

void Session::apply(Event& event) {
  auto* ended = std::get_if<AttemptEnded>(&event);
  if (ended == nullptr || ended->report.ended <= now_) return run_.engine.apply(event);
  // The agent's time is ahead of ours when somebody has set the clock: as if it ended now, or a
  // retry would wait until we are there.
  const AttemptReport& report = ended->report;
  const auto [started, at] = std::pair(report.started, report.ended);
  if (started != kNever) ended->report.started -= at - now_;
  ended->report.ended = now_;
  run_.engine.apply(event);
  ended->report.started = started;
  ended->report.ended = at;
}

void Session::journal(Event event) {
  const auto* ended = std::get_if<AttemptEnded>(&event);
  Inputs inputs;
  if (ended != nullptr) {
    const auto found = inputs_.find(ended->report.key);
    if (found != inputs_.end()) inputs = std::move(inputs_.extract(found).mapped());
  }
  group_.emplace_back(std::move(event), std::move(inputs));
  dirty_ = true;
}

void Session::write_group() {
  contents_.begin_round();
  for (auto& [event, inputs] : group_) {
    auto* ended = std::get_if<AttemptEnded>(&event);
    if (ended != nullptr) check_inputs(*ended, inputs);
    // append() only buffers: what can fail is the commit, and it keeps the events until it
    // succeeds.
    static_cast<void>(store_.append(run_.id, std::move(event)));
  }
  group_.clear();
}

void Session::check_inputs(AttemptEnded& ended, const Inputs& inputs) {
  const auto cause = ended.report.cause;
  // A value that could not be read can perhaps be read by another rule.
  if (cause != FailureCause::none && cause != FailureCause::missing_result) return;
  const auto stop = [this] { return stop_waits(); };
  bool own_work = false;
  for (const auto& used : inputs) {
    if (!contents_.has_changed(used, stop)) continue;
    if (is_own_work(ended, used)) {
      own_work = true;
      continue;
    }
    ended.fingerprint.inputs = {};
    if (cause != FailureCause::none) return;
    ended.changed_input = *used.path;
    ended.report.detail = changed_meanwhile(*used.path).text();
    ++changed_[*used.path];
    return;
  }
  if (!own_work) return;
  const auto print = contents_.fingerprint(sweep_.task(ended.report.key.task), stop, nullptr,
                                           ended.report.started - kStampLag);
  ended.fingerprint.inputs = print ? print->inputs : Digest{};
}

bool Session::is_own_work(const AttemptEnded& ended, const ContentCache::Used& used) const {
  if (used.kind == ContentCache::Kind::named) return false;
  // `gzip {}`: running it again could only fail.
  if (used.kind == ContentCache::Kind::value && ::access(used.path->c_str(), F_OK) != 0)
    return true;
  // Somebody may edit a program or a value's file while it runs; but not each time that it runs.
  const auto history = store_.history(run_.id, ended.report.key.task);
  return history && std::ranges::any_of(*history, [&](const store::HistoryRow& row) {
           return row.kind == "ended" && row.changed_input == *used.path;
         });
}

void Session::record(Event event) {
  apply(event);
  journal(std::move(event));
}

void Session::add_memory_note(AttemptReport& report) const {
  if (report.cause != FailureCause::out_of_memory) return;
  const TaskId task = report.key.task;
  std::string note = run_.view().after_memory(task);
  const bool failed = run_.view().state(task) == engine::TaskState::failed;
  if (failed && !sweep_.resources(task).learn_memory)
    note = "with 'resources: {memory: learn}' it is given what it needs";
  if (!note.empty()) report.detail += (report.detail.empty() ? "" : "; ") + note;
}

void Session::record_end(AttemptEnded ended) {
  const TaskId task = ended.report.key.task;
  ended.expected = run_.view().expected(ended.report.key);
  Event event = std::move(ended);
  apply(event);
  const auto state = run_.view().state(task);
  add_memory_note(std::get<AttemptEnded>(event).report);
  // It waits for its retry, or its twin still runs.
  const bool again = state != engine::TaskState::done && state != engine::TaskState::failed &&
                     state != engine::TaskState::cancelled;
  if (observer_.ended) observer_.ended(std::get<AttemptEnded>(event), again);
  journal(std::move(event));
}

Result<> Session::commit(bool last) {
  if (!dirty_ && !last) return {};
  write_group();
  const auto& c = run_.view().counts();
  const bool complete = c.done + c.failed == c.total;
  const auto state = last && complete ? store::RunState::finished : store::RunState::open;
  if (last && !leaves_attempts()) store_.release_all(run_.id);
  TRY(store_.update_run(run_.id, state, counts(), run_.view().eta(now_), last ? 0 : ::getpid(),
                        now_));
  const auto deadline = clock_.now() + kJournalPatience;
  for (;;) {
    committed_at_ = now_;
    auto committed = store_.commit();
    if (committed) break;
    if (committed.error().code == ErrorCode::gone) return abandon(std::move(committed).error());
    const bool give_up = stuck_since_ != kNever && now_ - stuck_since_ > kJournalPatience;
    if (give_up || (last && clock_.now() > deadline)) {
      Error error = std::move(committed).error();
      error.hint = "how tasks ended is not lost: the agent keeps it. " +
                   (cut_ == 0 ? ""
                              : fmt::format("Of the output of {} only the end was kept. ",
                                            cut_ == 1 ? "1 task" : fmt::format("{} tasks", cut_))) +
                   (error.hint.empty() ? "Mend this and run the same command again" : error.hint);
      return tl::unexpected<Error>(std::move(error));
    }
    if (stuck_since_ == kNever) hold_tasks(committed.error());
    if (!last) return {};
    ::usleep(200'000);
  }
  stuck_since_ = kNever;
  dirty_ = false;
  const std::uint64_t receipt = safe_receipt();
  if (receipt > acknowledged_) launcher_.acknowledge(receipt);
  acknowledged_ = std::max(receipt, acknowledged_);
  return {};
}

void Session::hold_tasks(const Error& why) {
  stuck_since_ = now_;
  for (const auto& [host, name] : host_names_) launcher_.recall(host);
  if (observer_.notice) observer_.notice(why.message + "; starting nothing, trying again");
}

tl::unexpected<Error> Session::abandon(Error error) {
  run_.engine.apply(CancelRequested{run_.id, true, {}, now_});
  carry_out(run_.engine.decide(now_));
  launcher_.close();
  error.hint =
      "the tasks that still ran were ended. If the state directory was moved, what it held is "
      "where "
      "it is now: move it back and run the same command again to go on. Otherwise run the same "
      "command again to start over";
  return tl::unexpected<Error>(std::move(error));
}

// What a person sees.
// ----------------------------------------------------------------------------------

void Session::tell_outdated() {
  for (auto& [reason, outdated] : run_.outdated) {
    if (observer_.notice)
      observer_.notice(fmt::format("{}: {}",
                                   outdated.tasks == 1
                                       ? "1 finished task runs again"
                                       : fmt::format("{} finished tasks run again", outdated.tasks),
                                   outdated_text(reason, outdated)));
    outdated.told = outdated.tasks;
  }
}

store::Counts Session::counts() const {
  const auto& c = run_.view().counts();
  return {c.total, c.done, c.reused, c.failed, c.cancelled, c.running};
}

void Session::show_progress() {
  shown_at_ = now_;
  pace_.emplace_back(now_, ended_);
  while (pace_.size() > 2 && now_ - pace_.front().first > kPaceWindow) pace_.pop_front();
  if (observer_.progress) observer_.progress(progress());
}

Progress Session::progress() const {
  Progress progress;
  progress.run = run_.id;
  progress.counts = counts();
  progress.retrying = run_.view().counts().waiting;
  progress.elapsed = now_ - began_;
  progress.eta = run_.view().eta(now_);
  const double span = pace_.empty() ? 0 : seconds(pace_.back().first - pace_.front().first);
  if (span > 0) progress.tasks_per_second = (pace_.back().second - pace_.front().second) / span;
  progress.draining_why = run_.view().draining();
  progress.draining = !progress.draining_why.empty();
  return progress;
}

LiveFacts Session::live_facts(const Progress& progress) {
  return {run_.engine,   run_.view(), launcher_, shared_,  options_,
          sites_.grid(), leaving_,    progress,  ended_on_};
}

Summary Session::summary() const {
  Summary s;
  s.run = run_.id;
  s.counts = counts();
  s.elapsed = clock_.now() - began_;
  s.executed = executed_;
  s.unchanged = run_.unchanged;
  s.outdated = run_.outdated;
  s.changed = changed_;
  s.cut = cut_;
  s.why = run_.view().draining();
  const auto& c = run_.view().counts();
  s.interrupted = stops_ > 0 || (!s.why.empty() && c.done + c.failed < c.total);
  return s;
}

}  // namespace gantry::driver
