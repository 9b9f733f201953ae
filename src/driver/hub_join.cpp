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
  const auto run = join_study(*request.study);
  dirty_ = true;
  return store_.answer(request.id, run);
}

Result<RunId> Hub::join_study(const store::StudyRequest& request) {
  const auto is_stopping = [&](const auto& io) { return !view(*io).draining().empty(); };
  if (!options_.load || stops_ > 0 || std::ranges::all_of(ios_, is_stopping))
    return fail(ErrorCode::busy, "the gantry that runs here is stopping",
                "run the same command again when it has ended");
  TRY_ASSIGN(Sweep sweep, options_.load(request.source));
  const auto same = std::ranges::find_if(
      ios_, [&](const auto& io) { return io->sweep().digest() == sweep.digest(); });
  if (same != ios_.end()) return (*same)->id();  // whoever asks can watch it
  TRY(commit(false));                            // so that results up to now can be reused
  Joined& joined = joined_.emplace_back(std::move(sweep), request.source);
  const Job job{joined.sweep, joined.source, request.weight};
  if (const auto twins = twins_of(std::span(&job, 1), others_); !twins || !twins->empty()) {
    joined_.pop_back();
    if (!twins) return tl::unexpected(twins.error());
    return fail(ErrorCode::busy,
                fmt::format("{} of run {}, which a gantry that was killed has started, still run",
                            twins->size() == 1 ? "a task" : "tasks", twins->begin()->run.value()),
                "wait for them, or end them with 'gantry cancel'");
  }
  TRY_ASSIGN(const auto ours, run_to_continue(store_, joined.sweep, guest_options_));
  if (ours && runs_.contains(ours->record.id)) {
    joined_.pop_back();
    return fail(ErrorCode::busy,
                fmt::format("run {} goes on with the study as it was before it was edited",
                            ours->record.id.value()),
                "run the same command again when that has ended");
  }
  TRY(add(job, ours, guest_options_));
  RunIo& io = *ios_.back();
  if (const auto why = view(io).unplaceable(); !why.empty() && !actuators_.expects_hosts({})) {
    auto refused = refuse(io, why);
    TRY(take_back(io));
    return refused;
  }
  tell(fmt::format("{} joins as run {}", joined.sweep.name(), io.id().value()));
  TRY(begin(io));
  return io.id();
}

Result<> Hub::take_back(const RunIo& io) {
  const RunId run = io.id();
  const bool is_new = io.run.is_new;
  engine_.remove_run(run);
  runs_.erase(run);
  ios_.pop_back();
  files_.pop_back();
  joined_.pop_back();
  return is_new ? store_.remove_run(run) : Result<>{};
}

}  // namespace gantry::driver
