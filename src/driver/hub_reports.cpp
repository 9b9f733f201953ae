// Hub: ends of attempts, and what they made.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "driver/attempt_outputs.hpp"
#include "driver/hub.hpp"

namespace gantry::driver {

namespace {

using namespace std::chrono_literals;

constexpr Duration kPlaceInterval = 1s;
/// For a person to make room for what tasks have made.
constexpr Duration kPlacePatience = 10min;
/// For what another run's task has made: this one must not wait for it without end.
constexpr std::uint32_t kMostPlacings = 60;

}  // namespace

Result<> Hub::on_report(RunIo& io, ReportReceived received) {
  const TaskKey key = received.report.key;
  if (!view(io).awaits(key, received.host)) {
    // Journalled before, since a report may come twice; or of a task that is done, by its twin or
    // by another run: the journal's last end is a task's result.
    AttemptEnded known;
    known.report = std::move(received.report);
    known.host = received.host;
    engine_.apply(known);
    io.forget(key);
    board_.on_ended(key);
    discard_outputs(received);
    if (!waits_for_commit(key) && is_unknown(store_, known.report))
      actuators_.refuse(received.receipt);
    return {};
  }
  const Task task = io.application().task(key.task);
  const auto take_as_lost = [&](const std::string& why) {
    discard_outputs(received);
    received.report.cause = FailureCause::lost;
    received.report.detail = why;
  };
  const bool adopted = !io.has_started(key);
  std::optional<OutdatedReason> stale;
  if (adopted && io.is_of_another_study(received)) {
    take_as_lost("what ran under this number belonged to another study");
  } else {
    Result<std::optional<OutdatedReason>> checked;
    if (adopted) checked = io.why_stale(received);
    if (!checked && stops_ == 0) {
      check_later(std::move(received));
      return {};
    }
    if (checked) stale = std::move(*checked);  // else whoever goes on with the run looks again
    if (stale && io.has_started(key.task)) {
      take_as_lost(reason_text(*stale));  // the attempt that has the present inputs goes on
    } else if (const auto why = place_outputs(received, task, store_); !why.empty()) {
      place_later({std::move(received)}, why);
      return {};
    }
  }
  board_.on_ended(key);
  const std::uint64_t receipt = received.receipt;
  const std::string& host_name = host_names_[received.host];
  AttemptEnded ended = io.end_of(std::move(received), host_name);
  if (settle_remote_files(store_, task, ended)) actuators_.refuse(receipt);
  ended.output_bytes = bytes_at_home(task, ended.report);
  ++ended_;
  ++ended_on_[ended.host];
  if (!stale) {
    record_end(io, std::move(ended), receipt);
    return {};
  }
  const bool is_lost = ended.report.cause == FailureCause::lost;
  record(io, std::move(ended), receipt);
  add_outdated(io.run.outdated, *stale);
  if (!is_lost) record(io, TaskInvalidated{io.id(), key.task, reason_text(*stale), now_});
  return {};
}

void Hub::check_later(ReportReceived received) {
  // The engine may never have heard of the attempt, and would start another one.
  const TaskKey key = received.report.key;
  const HostId host = received.host;
  const TimePoint started = received.report.started;
  engine_.apply(AttemptStarted{key, host, started == kNever ? now_ : started});
  engine_.apply(AttemptComputed{key, host});
  unchecked_.push_back({std::move(received), contents_.asked_for()});
}

Result<> Hub::take_others(ReportReceived received, std::uint32_t tries) {
  TRY_ASSIGN(const std::string why,
             others_.take(received, host_names_[received.host], now_, tries >= kMostPlacings));
  if (!why.empty()) place_later({std::move(received), tries}, why);
  return {};
}

bool Hub::gives_up_placing() {
  if (unplaced_.empty() || (stops_ == 0 && now_ < unplaced_since_ + kPlacePatience)) return false;
  const auto ours = std::ranges::count_if(
      unplaced_, [&](const Unplaced& each) { return owner(each.received.report.key) != nullptr; });
  std::uint32_t running = 0;
  for (const auto& io : ios_) {
    const auto& c = view(*io).counts();
    const bool starts_more = view(*io).draining().empty() && c.pending + c.waiting > 0;
    if (starts_more || c.staging + c.handed_over > 0) return false;
    running += c.running;
  }
  if (ours == 0 || running > ours) return false;
  tell(fmt::format("outputs of {} stay at {} site: {}. Mend this and run the same command again",
                   ours == 1 ? "1 task" : fmt::format("{} tasks", ours),
                   ours == 1 ? "its" : "their", why_unplaced_));
  drain_all("outputs could not be put where they belong");
  return true;
}

void Hub::place_later(Unplaced unplaced, const std::string& why) {
  if (unplaced_since_ == kNever) unplaced_since_ = now_;
  why_unplaced_ = why;
  if (const TaskKey& key = unplaced.received.report.key; owner(key) != nullptr) {
    board_.on_computed(key, unplaced.received.host, now_);
    engine_.apply(AttemptComputed{key, unplaced.received.host});
  }
  if (!std::exchange(told_unplaced_, true)) tell(why + "; trying again");
  if (place_at_ == kNever) place_at_ = now_ + kPlaceInterval;
  unplaced_.push_back(std::move(unplaced));
}

Result<> Hub::place_again() {
  place_at_ = kNever;
  const std::size_t before = unplaced_.size();
  for (auto& [received, tries] : std::exchange(unplaced_, {})) {
    if (RunIo* io = owner(received.report.key))
      TRY(on_report(*io, std::move(received)));
    else
      TRY(take_others(std::move(received), tries + 1));
  }
  if (unplaced_.size() < before) unplaced_since_ = unplaced_.empty() ? kNever : now_;
  if (unplaced_.empty()) told_unplaced_ = false;
  return {};
}

std::uint64_t Hub::safe_receipt() const {
  std::uint64_t safe = receipt_;
  for (const Unplaced& each : unplaced_) safe = std::min(safe, each.received.receipt - 1);
  for (const Unchecked& each : unchecked_) safe = std::min(safe, each.received.receipt - 1);
  for (const Journalled& waiting : group_)
    if (waiting.receipt != 0) safe = std::min(safe, waiting.receipt - 1);
  return safe;
}

bool Hub::waits_for_commit(const TaskKey& key) const {
  return std::ranges::any_of(group_, [&](const auto& entry) {
    const auto* ended = std::get_if<AttemptEnded>(&entry.event);
    return ended != nullptr && ended->report.key == key;
  });
}

}  // namespace gantry::driver
