// Hub: studies that other processes ask for while it runs others.
#include <fmt/format.h>

#include <algorithm>

#include "driver/hub.hpp"

namespace gantry::driver {

Result<> Hub::begin(RunIo& io) {
  engine_.apply(HostsUnheard{io.id(), !io.run.unheard.empty()});
  TRY(store_.mark_driven(io.id()));
  tell_outdated(io);
  for (const auto& notice : io.run.notices) tell(notice);
  return {};
}

Result<> Hub::on_study(const store::Request& request) {
  // Results up to now can be reused, and whoever asks learns that the request is taken.
  dirty_ = true;
  TRY(commit(false));
  const auto run = join_study(*request.study);
  // Whoever asks looks at the run as soon as there is an answer: it must be there as it is now.
  dirty_ = true;
  TRY(commit(false));
  // One that cannot be written is not worth the other runs: the run goes on, and the person who
  // waits for the answer can watch it by its number.
  if (const auto answered = store_.answer(request.id, run); !answered)
    tell("a study that joins could not be answered: " + answered.error().message);
  return {};
}

Result<RunId> Hub::join_study(const store::StudyRequest& request) {
  const auto is_stopping = [&](const auto& io) { return !view(*io).draining().empty(); };
  if (!options_.load || stops_ > 0 || std::ranges::all_of(ios_, is_stopping))
    return fail(ErrorCode::busy, "the gantry that runs here is stopping",
                "run the same command again when it has ended");
  if (stuck_since_ != kNever)
    return fail(ErrorCode::busy, "the gantry that runs here cannot write its journal",
                "run the same command again when that is mended");
  TRY_ASSIGN(Application application, options_.load(request.source));
  const auto same = std::ranges::find_if(
      ios_, [&](const auto& io) { return io->application().digest() == application.digest(); });
  if (same != ios_.end() && !(*same)->is_closed) return (*same)->id();  // it can be watched
  // Tasks, files and runs refer to it from here on: it stays, even if it is refused.
  joined_.push_back({std::move(application), request.source});
  Joined& joined = joined_.back();
  const Job job{joined.application, joined.source, request.weight};
  TRY(check_joinable(job));
  TRY_ASSIGN(const auto ours, run_to_continue(store_, joined.application, guest_options_));
  if (ours && runs_.contains(ours->record.id)) TRY(forget_closed(ours->record.id));
  if (auto added = add(job, ours, guest_options_); !added) {
    if (ours && engine_.has_run(ours->record.id)) engine_.remove_run(ours->record.id);
    return tl::unexpected(std::move(added).error());
  }
  RunIo& io = *ios_.back();
  if (const auto why = view(io).unplaceable(); !why.empty() && !actuators_.expects_hosts({})) {
    auto refused = refuse(io, why);
    TRY(take_back(io));
    return refused;
  }
  tell(fmt::format("{} joins as run {}", joined.application.name(), io.id().value()));
  TRY(begin(io));
  return io.id();
}

Result<> Hub::check_joinable(const Job& job) {
  TRY_ASSIGN(const auto twins, twins_of(std::span(&job, 1), others_));
  if (!twins.empty())
    return fail(ErrorCode::busy,
                fmt::format("{} of run {}, which a gantry that was killed has started, still run",
                            twins.size() == 1 ? "a task" : "tasks", twins.begin()->run.value()),
                "wait for them, or end them with 'gantry cancel'");
  std::vector<Job> all;
  for (const auto& io : ios_)
    if (!io->is_closed) all.push_back(io->job());
  all.push_back(job);
  return check_apart(all);
}

Result<> Hub::forget_closed(RunId run) {
  const auto io = std::ranges::find_if(ios_, [&](const auto& each) { return each->id() == run; });
  const bool is_guest = static_cast<std::size_t>(io - ios_.begin()) >= asked_for_;
  if (!(*io)->is_closed || !group_.empty())
    return fail(
        ErrorCode::busy,
        fmt::format("run {} goes on with the study as it was before it was edited", run.value()),
        "run the same command again when that has ended");
  if (!is_guest)
    return fail(ErrorCode::busy,
                fmt::format("run {} of this study has ended, and its gantry has not", run.value()),
                "run the same command again when it has");
  engine_.remove_run(run);
  runs_.erase(run);
  ios_.erase(io);
  return {};
}

Result<> Hub::take_back(const RunIo& io) {
  const RunId run = io.id();
  const bool is_new = io.run.is_new;
  engine_.remove_run(run);
  runs_.erase(run);
  ios_.pop_back();
  return is_new ? store_.remove_run(run) : Result<>{};
}

}  // namespace gantry::driver
