// Session: ends of attempts, and what they made.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "driver/attempt_outputs.hpp"
#include "driver/attempt_results.hpp"
#include "driver/session.hpp"
#include "model/fingerprint.hpp"

namespace gantry::driver {

namespace {

using namespace std::chrono_literals;

constexpr Duration kPlaceInterval = 1s;
/// For a person to make room for what tasks have made.
constexpr Duration kPlacePatience = 10min;
/// For what another run's task has made: this one must not wait for it without end.
constexpr std::uint32_t kMostPlacings = 60;

}  // namespace

Result<> Session::on_report(ReportReceived received, bool adopted) {
  const TaskKey key = received.report.key;
  if (!run_.view().awaits(key, received.host)) {
    // Journalled before, since a report may come twice; or of a task that is done, by its twin or
    // by another run: the journal's last end is a task's result.
    AttemptEnded known;
    known.report = std::move(received.report);
    known.host = received.host;
    run_.engine.apply(known);
    inputs_.erase(key);
    board_.on_ended(key);
    discard_outputs(received);
    if (!waits_for_commit(key) && is_unknown(store_, known.report))
      launcher_.refuse(received.receipt);
    return {};
  }
  if (adopted && is_of_another_study(received)) {
    discard_outputs(received);
    received.report.cause = FailureCause::lost;
    received.report.detail = "what ran under this number belonged to another study";
  } else if (const auto why = place_outputs(received, sweep_.task(key.task), store_);
             !why.empty()) {
    place_later({std::move(received), adopted}, why);
    return {};
  }
  board_.on_ended(key);
  AttemptEnded ended;
  ended.report = std::move(received.report);
  ended.host = received.host;
  ended.host_name = host_names_[received.host];
  ended.parameters = sweep_.parameters(key.task);
  ended.fingerprint = received.fingerprint;
  ended.besides = received.besides;
  read_results(options_.state_dir, sweep_, ended);
  const Task task = sweep_.task(key.task);
  if (settle_remote_files(store_, task, ended)) launcher_.refuse(received.receipt);
  ended.output_bytes = bytes_at_home(task, ended.report);
  // One that was cancelled in the agent's queue has not been tried.
  const bool tried = ended.report.cause != FailureCause::cancelled || was_started(ended.report);
  if (tried) ++executed_;
  ++ended_;
  ++ended_on_[ended.host];
  if (ended.report.out.truncated || ended.report.err.truncated) ++cut_;
  const Reason stale = adopted ? why_stale(ended) : Reason{};
  if (stale.empty()) {
    record_end(std::move(ended));
  } else {
    record(std::move(ended));
    add_outdated(run_.outdated, stale);
    record(TaskInvalidated{run_.id, key.task, stale.text(), now_});
  }
  return {};
}

Result<> Session::take_others(ReportReceived received, std::uint32_t tries) {
  TRY_ASSIGN(const std::string why,
             others_.take(received, host_names_[received.host], now_, tries >= kMostPlacings));
  if (!why.empty()) place_later({std::move(received), false, tries}, why);
  return {};
}

bool Session::gives_up_placing() {
  if (unplaced_.empty() || (stops_ == 0 && now_ < unplaced_since_ + kPlacePatience)) return false;
  const auto ours = std::ranges::count_if(
      unplaced_, [&](const Unplaced& each) { return is_ours(each.received.report.key); });
  const auto& c = run_.view().counts();
  const bool starts_more = run_.view().draining().empty() && c.pending + c.waiting > 0;
  if (ours == 0 || starts_more || c.staging + c.handed_over > 0 || c.running > ours) return false;
  tell(fmt::format("what {} made is kept at {} site: {}. Mend this and run the same command again",
                   ours == 1 ? "1 task" : fmt::format("{} tasks", ours),
                   ours == 1 ? "its" : "their", why_unplaced_));
  record(DrainRequested{run_.id, "outputs could not be put where they belong"});
  return true;
}

void Session::place_later(Unplaced unplaced, const std::string& why) {
  if (unplaced_since_ == kNever) unplaced_since_ = now_;
  why_unplaced_ = why;
  if (const TaskKey& key = unplaced.received.report.key; is_ours(key)) {
    board_.on_computed(key, unplaced.received.host, now_);
    run_.engine.apply(AttemptComputed{key, unplaced.received.host});
  }
  if (!std::exchange(told_unplaced_, true)) tell(why + "; trying again");
  if (place_at_ == kNever) place_at_ = now_ + kPlaceInterval;
  unplaced_.push_back(std::move(unplaced));
}

Result<> Session::place_again() {
  place_at_ = kNever;
  const std::size_t before = unplaced_.size();
  for (auto& [received, adopted, tries] : std::exchange(unplaced_, {})) {
    if (is_ours(received.report.key))
      TRY(on_report(std::move(received), adopted));
    else
      TRY(take_others(std::move(received), tries + 1));
  }
  if (unplaced_.size() < before) unplaced_since_ = unplaced_.empty() ? kNever : now_;
  if (unplaced_.empty()) told_unplaced_ = false;
  return {};
}

std::uint64_t Session::safe_receipt() const {
  return unplaced_.empty() ? receipt_ : unplaced_.front().received.receipt - 1;
}

bool Session::waits_for_commit(const TaskKey& key) const {
  return std::ranges::any_of(group_, [&](const auto& entry) {
    const auto* ended = std::get_if<AttemptEnded>(&entry.first);
    return ended != nullptr && ended->report.key == key;
  });
}

/// Run numbers begin anew when somebody moves the database away, and the agent may still hold
/// reports of an older run with our number. Those of attempts that we started need no look.
bool Session::is_of_another_study(const ReportReceived& received) const {
  if (received.fingerprint.empty()) return false;
  return received.fingerprint.command != command_digest(sweep_.task(received.report.key.task));
}

/// Its inputs may have changed since an earlier session started it. Empty when the end counts.
Reason Session::why_stale(const AttemptEnded& ended) {
  const auto cause = ended.report.cause;
  if (cause == FailureCause::lost || cause == FailureCause::cancelled) return {};
  const Task task = sweep_.task(ended.report.key.task);
  const auto print = contents_.fingerprint(task, [this] { return stop_waits(); });
  if (stop_waits()) return {};  // whoever goes on with the run looks again
  if (!print) return {"an input is missing", print.error().message};
  const auto holds = contents_.holds(
      ended.fingerprint, ended.report.started, task, *print, [this] { return stop_waits(); },
      ended.report.ended);
  if (stop_waits() || (holds && *holds)) return {};
  return what_changed({ended.fingerprint, ended.report.started}, *print, task);
}

}  // namespace gantry::driver
