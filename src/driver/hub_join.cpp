// Hub: studies that other processes ask for while it runs others.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "driver/hub.hpp"
#include "driver/kept_model.hpp"

namespace gantry::driver {

namespace {

/// Why a study whose run is driven here, but is not the same any more or has ended, cannot join.
tl::unexpected<Error> fail_driven(const RunIo& io) {
  const auto run = io.id().value();
  if (io.is_closed)
    return fail(ErrorCode::busy,
                fmt::format("run {} has ended, but its gantry still runs other studies", run),
                "run the same command again when that gantry has ended");
  return fail(ErrorCode::busy,
              fmt::format("run {} still runs the study as it was before your edit", run),
              "run the same command again when that has ended");
}

}  // namespace

Result<> Hub::begin(RunIo& io) {
  // A guest's hosts may have come up long ago.
  std::vector<Host> up;
  for (const schedule::HostLoad& load : engine_.hosts()) up.push_back(*load.host);
  for (const Host& host : up) hear_of(host);
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
  TRY(let_guests_go());
  const auto joined = join_study(*request.study);
  if (joined && !*joined) {
    joining_.push_back({request, contents_.asked_for()});
    return {};
  }
  const auto run = joined.map([](const auto& id) { return *id; });
  // Whoever asks looks at the run as soon as there is an answer: it must be there as it is now.
  dirty_ = true;
  TRY(commit(false));
  // One that cannot be written is not worth the other runs: the run goes on, and the person who
  // waits for the answer can watch it by its number.
  if (const auto answered = store_.answer(request.id, run); !answered)
    tell("a study that joins could not be answered: " + answered.error().message);
  return {};
}

Result<std::optional<RunId>> Hub::join_study(const store::StudyRequest& request) {
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
  auto guest = std::make_unique<GuestStudy>(GuestStudy{std::move(application), request.source});
  const Job job{guest->application, guest->source, request.weight};
  TRY_ASSIGN(const auto ours, run_to_continue(store_, guest->application, guest_options_));
  if (ours && runs_.contains(ours->record.id)) return fail_driven(io_of(ours->record.id));
  TRY(check_joinable(job));
  if (must_read_inputs(guest->application)) return std::nullopt;
  TRY(add(job, ours, guest_options_, std::move(guest)));
  RunIo& io = *ios_.back();
  if (const auto why = view(io).unplaceable(); !why.empty() && !actuators_.expects_hosts({})) {
    auto refused = refuse(io, why);
    const auto [run, is_new] = std::pair(io.id(), io.run.is_new);
    forget(run);
    if (is_new) TRY(store_.remove_run(run));
    return refused;
  }
  tell(fmt::format("{} joins as run {}", io.application().name(), io.id().value()));
  TRY(begin(io));
  return io.id();
}

Result<> Hub::check_joinable(const Job& job) {
  TRY_ASSIGN(const auto twins, twins_of(std::span(&job, 1), others_));
  if (!twins.empty()) {
    const RunId run = twins.begin()->run;
    const auto count = std::ranges::count(twins, run, &TaskKey::run);
    return fail(ErrorCode::busy,
                fmt::format("run {} still has {}, left by a gantry that was killed", run.value(),
                            count == 1 ? "1 running task" : fmt::format("{} running tasks", count)),
                fmt::format("wait for {0}, or end {0} with 'gantry cancel --run {1}'",
                            count == 1 ? "it" : "them", run.value()));
  }
  std::vector<Job> all;
  for (const auto& io : ios_)
    if (!io->is_closed) all.push_back(io->job());
  all.push_back(job);
  return check_apart(all);
}

Result<> Hub::let_guests_go() {
  if (stuck_since_ != kNever) return {};  // nothing is committed
  for (std::size_t i = ios_.size(); i-- > asked_for_;) {
    RunIo& io = *ios_[i];
    if (!io.is_closed || has_unwritten(io)) continue;
    TRY(keep_models(store_, io.application(), view(io), now_));
    TRY(keep_forecasts(io));
    dirty_ = true;
    forget(io.id());
  }
  return {};
}

void Hub::forget(RunId run) {
  engine_.remove_run(run);
  runs_.erase(run);
  std::erase_if(ios_, [&](const auto& io) { return io->id() == run; });
  others_.forget(run);
}

}  // namespace gantry::driver
