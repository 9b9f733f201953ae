// Hub: what it writes: the journal, and what a person sees.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "driver/hub.hpp"

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

void Hub::apply(Event& event) {
  auto* ended = std::get_if<AttemptEnded>(&event);
  if (ended == nullptr || ended->report.ended <= now_) return engine_.apply(event);
  // The agent's time is ahead of ours when somebody has set the clock: as if it ended now, or a
  // retry would wait until we are there.
  const AttemptReport& report = ended->report;
  const auto [started, at] = std::pair(report.started, report.ended);
  if (started != kNever) ended->report.started -= at - now_;
  ended->report.ended = now_;
  engine_.apply(event);
  ended->report.started = started;
  ended->report.ended = at;
}

void Hub::journal(RunIo& io, Event event, std::uint64_t receipt) {
  const auto* ended = std::get_if<AttemptEnded>(&event);
  Inputs inputs = ended != nullptr ? io.forget(ended->report.key) : Inputs{};
  group_.push_back({&io, std::move(event), std::move(inputs), receipt});
  io.changed_at = now_;
  dirty_ = true;
}

void Hub::write_group(bool last) {
  std::optional<ContentCache::Aside> aside;
  if (!last) aside.emplace(contents_, ContentCache::Reading::aside_anew);
  contents_.begin_round();
  std::set<const RunIo*> waiting;
  for (Journalled& each : std::exchange(group_, {})) {
    auto* ended = std::get_if<AttemptEnded>(&each.event);
    // The journal keeps the order of a run's events: those after it wait as well.
    if (waiting.contains(each.io) ||
        (ended != nullptr && !each.io->check_inputs(*ended, each.inputs))) {
      waiting.insert(each.io);
      group_.push_back(std::move(each));
      continue;
    }
    // append() only buffers: what can fail is the commit, and it keeps the events until it
    // succeeds.
    static_cast<void>(store_.append(each.io->id(), std::move(each.event)));
  }
}

bool Hub::has_unwritten(const RunIo& io) const {
  return std::ranges::find(group_, &io, &Journalled::io) != group_.end();
}

void Hub::record(RunIo& io, Event event, std::uint64_t receipt) {
  apply(event);
  journal(io, std::move(event), receipt);
}

bool Hub::add_memory_note(const RunIo& io, AttemptReport& report) const {
  if (report.cause != FailureCause::out_of_memory) return false;
  const TaskId task = report.key.task;
  std::string note = view(io).after_memory(task);
  const bool failed = view(io).state(task) == engine::TaskState::failed;
  if (failed && !io.application().at(task).resources(task).learn_memory)
    note = "with 'resources: {memory: learn}' it is given what it needs";
  if (note.empty()) return false;
  report.detail += (report.detail.empty() ? "" : "; ") + note;
  return true;
}

void Hub::record_end(RunIo& io, AttemptEnded ended, std::uint64_t receipt) {
  const TaskId task = ended.report.key.task;
  ended.expected = view(io).expected(ended.report.key);
  Event event = std::move(ended);
  apply(event);
  const auto state = view(io).state(task);
  const bool noted = add_memory_note(io, std::get<AttemptEnded>(event).report);
  // It waits for its retry, or its twin still runs.
  const bool again = state != engine::TaskState::done && state != engine::TaskState::failed &&
                     state != engine::TaskState::cancelled;
  const AfterEnd after = !again ? AfterEnd::over : noted ? AfterEnd::again_noted : AfterEnd::again;
  if (observer_.ended) observer_.ended(std::get<AttemptEnded>(event), after);
  journal(io, std::move(event), receipt);
}

Result<> Hub::commit(bool last) {
  if (!dirty_ && !last) return {};
  write_group(last);
  for (const auto& io : ios_) {
    if (io->is_closed && !last) continue;
    const auto& c = view(*io).counts();
    io->is_closed = last || (ios_.size() > 1 && view(*io).finished() && !has_unwritten(*io));
    const bool complete = io->is_closed && c.done + c.failed == c.total;
    if (io->is_closed && !leaves_attempts(*io)) store_.release_all(io->id());
    TRY(store_.update_run(io->id(), complete ? store::RunState::finished : store::RunState::open,
                          counts(*io), view(*io).eta(now_), io->is_closed ? 0 : ::getpid(), now_));
  }
  const auto deadline = clock_.now() + kJournalPatience;
  for (;;) {
    committed_at_ = now_;
    auto committed = store_.commit();
    if (committed) break;
    if (committed.error().code == ErrorCode::gone) return abandon(std::move(committed).error());
    const bool give_up = stuck_since_ != kNever && now_ - stuck_since_ > kJournalPatience;
    if (give_up || (last && clock_.now() > deadline)) {
      Error error = std::move(committed).error();
      std::uint32_t cut = 0;
      for (const auto& io : ios_) cut += io->cut;
      error.hint = "how tasks ended is not lost: the agent keeps it. " +
                   (cut == 0 ? ""
                             : fmt::format("Of the output of {} only the end was kept. ",
                                           cut == 1 ? "1 task" : fmt::format("{} tasks", cut))) +
                   (error.hint.empty() ? "Mend this and run the same command again" : error.hint);
      return tl::unexpected<Error>(std::move(error));
    }
    if (stuck_since_ == kNever) hold_tasks(committed.error());
    if (!last) return {};
    ::usleep(200'000);
  }
  stuck_since_ = kNever;
  dirty_ = !group_.empty();
  const std::uint64_t receipt = safe_receipt();
  if (receipt > acknowledged_) actuators_.acknowledge(receipt);
  acknowledged_ = std::max(receipt, acknowledged_);
  return {};
}

void Hub::hold_tasks(const Error& why) {
  stuck_since_ = now_;
  for (const auto& [host, name] : host_names_) {
    unpark(host, {});
    actuators_.recall(host, {});
  }
  if (observer_.notice) observer_.notice(why.message + "; starting nothing, trying again");
}

tl::unexpected<Error> Hub::abandon(Error error) {
  for (const auto& io : ios_) engine_.apply(CancelRequested{io->id(), true, {}, now_});
  carry_out(engine_.decide(now_));
  close_actuators();
  error.hint =
      "the tasks that still ran were ended. If the state directory was moved, what it held is "
      "where "
      "it is now: move it back and run the same command again to go on. Otherwise run the same "
      "command again to start over";
  return tl::unexpected<Error>(std::move(error));
}

// What a person sees.
// ----------------------------------------------------------------------------------

void Hub::tell_outdated(RunIo& io) {
  for (auto& [reason, outdated] : io.run.outdated) {
    tell(fmt::format("{}: {}",
                     outdated.tasks == 1
                         ? "1 finished task runs again"
                         : fmt::format("{} finished tasks run again", outdated.tasks),
                     outdated_text(reason, outdated)));
    outdated.told = outdated.tasks;
  }
}

store::Counts Hub::counts(const RunIo& io) const {
  const auto& c = view(io).counts();
  return {c.total, c.done, c.reused, c.failed, c.cancelled, c.running};
}

void Hub::show_progress() {
  shown_at_ = now_;
  pace_.emplace_back(now_, ended_);
  while (pace_.size() > 2 && now_ - pace_.front().first > kPaceWindow) pace_.pop_front();
  if (observer_.progress) observer_.progress(progress());
}

Progress Hub::progress(const RunIo& io) const {
  Progress progress;
  progress.run = io.id();
  progress.counts = counts(io);
  progress.retrying = view(io).counts().waiting;
  progress.elapsed = now_ - began_;
  progress.eta = view(io).eta(now_);
  const double span = pace_.empty() ? 0 : seconds(pace_.back().first - pace_.front().first);
  if (span > 0) progress.tasks_per_second = (pace_.back().second - pace_.front().second) / span;
  progress.draining_why = view(io).draining();
  progress.draining = !progress.draining_why.empty();
  return progress;
}

Progress Hub::progress() const {
  Progress all = progress(*ios_.front());
  if (ios_.size() == 1) return all;
  all.counts = {};
  all.retrying = 0;
  for (const auto& io : ios_) {
    const Progress one = progress(*io);
    all.counts += one.counts;
    all.retrying += one.retrying;
    all.eta = latest(all.eta, one.eta);
    if (one.draining) {
      all.draining = true;
      all.draining_why = one.draining_why;
    }
    all.runs.push_back({one.run, io->application().name(), one.counts, one.eta});
  }
  return all;
}

RunIo& Hub::shown_run() {
  for (const auto& io : ios_)
    if (!view(*io).finished()) return *io;
  return *ios_.back();
}

LiveFacts Hub::live_facts(const RunIo& io, const Progress& progress) {
  Glance glance;
  actuators_.glance(glance);
  return {engine_,       view(io), std::move(glance), names_,   options_,
          sites_.grid(), leaving_, progress,          ended_on_};
}

Summary Hub::summary(const RunIo& io) const {
  Summary s;
  s.run = io.id();
  s.counts = counts(io);
  // Others may go on for long.
  const bool ended_first = ios_.size() > 1 && view(io).finished() && io.changed_at != kNever;
  s.elapsed = (ended_first ? io.changed_at : clock_.now()) - began_;
  s.executed = io.executed;
  s.unchanged = io.run.unchanged;
  s.outdated = io.run.outdated;
  s.changed = io.changed;
  s.cut = io.cut;
  s.why = view(io).draining();
  const auto& c = view(io).counts();
  s.interrupted = stops_ > 0 || (!s.why.empty() && c.done + c.failed < c.total);
  return s;
}

}  // namespace gantry::driver
