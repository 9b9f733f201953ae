#include "driver/session.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>

#include "base/overloaded.hpp"
#include "driver/kept_model.hpp"
#include "driver/kept_waits.hpp"

namespace gantry::driver {

namespace {

using namespace std::chrono_literals;

constexpr Duration kCommitInterval =
    100ms;  ///< how long an end may wait for others to share a sync with
constexpr Duration kNewsInterval = 5s;  ///< how old the ETA in the store may become
constexpr Duration kShowInterval = 100ms;
constexpr Duration kKeepInterval = 60s;  ///< so much of what was learnt a killed gantry may lose

}  // namespace

Session::Session(const Sweep& sweep, const Options& options, const Observer& observer,
                 store::Store& store, ContentCache& contents, GridLaunch& sites,
                 const SharedInputs& shared, UndrivenRuns& others, const Clock& clock,
                 PreparedRun run, TimePoint began)
    : sweep_(sweep),
      options_(options),
      observer_(observer),
      store_(store),
      contents_(contents),
      sites_(sites),
      launcher_(sites.launcher()),
      shared_(shared),
      clock_(clock),
      run_(std::move(run)),
      board_(options.state_dir),
      others_(others),
      began_(began),
      now_(clock.now()),
      committed_at_(now_),
      kept_at_(now_) {}

Result<> Session::keep_learned() {
  TRY(keep_models(store_, sweep_, run_.view(), now_));
  return sites_.grid() != nullptr ? keep_waits(store_, *sites_.grid(), run_.engine, now_)
                                  : Result<>{};
}

void Session::recall_queues() {
  const Grid* grid = sites_.grid();
  for (; grid != nullptr && recalled_ < grid->sites.size(); ++recalled_) {
    const auto why =
        recall_waits(store_, grid->sites[recalled_], SiteId(recalled_), run_.engine, now_);
    if (!why.empty()) tell(why);
  }
}

Result<Summary> Session::run(Opened opened) {
  recall_queues();
  TRY(take_in(std::move(opened)));
  if (const auto why = run_.view().unplaceable(); !why.empty() && !launcher_.expects_hosts({})) {
    launcher_.close();
    if (run_.is_new) TRY(store_.remove_run(run_.id));  // as if it had never been asked for
    return refuse(why);
  }
  run_.engine.apply(HostsUnheard{run_.id, !run_.unheard.empty()});
  TRY(store_.mark_driven(run_.id));
  tell_outdated();
  for (const auto& notice : run_.notices) tell(notice);
  TRY_ASSIGN(auto signals, StopSignals::watch());
  signals_.emplace(std::move(signals));
  while (!run_.view().finished() && stops_ < 3) {
    if (stuck_since_ == kNever) TRY(start_tasks());
    end_if_stranded();
    if (run_.view().finished() || gives_up_placing()) break;
    launcher_.want(run_.view().waiting_cores());
    TRY(step());
    on_stop_signals();
    const bool waits = was_drained_ || launcher_.expects_hosts({});
    if (host_names_.empty() && !waits) break;  // none ever came
    if (run_.engine.hosts().empty() && launcher_.has_given_up() && run_.view().draining().empty())
      record(DrainRequested{run_.id, "no host is left, and none will come"});
  }
  TRY(keep_learned());
  const bool knows = run_.view().accuracy().scored() > 0 || run_.view().learned().known() ||
                     run_.view().learned_memory().used().observations() > 0 ||
                     run_.view().learned_outputs().used().observations() > 0;
  if (knows && executed_ > 0)  // or else what is kept of this run says more
    TRY(store_.learn(std::string(store::kForecastsKind),
                     {std::to_string(run_.id.value()), now_,
                      store::live_text(board_.state_of(live_facts(progress()), now_))},
                     store::kMostForecasts));
  TRY(commit(true));
  show_progress();
  launcher_.close();
  for (const auto& text : launcher_.last_words())
    if (observer_.notice) observer_.notice(text);
  if (const auto why = run_.view().unplaceable();
      host_names_.empty() && !why.empty() && !run_.view().finished() && stops_ == 0)
    return refuse(why);
  return summary();
}

void Session::end_if_stranded() {
  const auto needs = run_.view().stranded();
  const auto will_run = [&](const Resources& each) { return launcher_.expects_hosts(each); };
  if (needs.empty() || std::ranges::any_of(needs, will_run)) return;
  record(DrainRequested{run_.id, run_.view().unplaceable()});
}

tl::unexpected<Error> Session::refuse(const std::string& why) const {
  return sweep_.fail_at_resources(
      why, host_names_.empty() ? "none of the grid's hosts could be reached; 'home: {hosts: 1}' "
                                 "in the grid file uses this machine"
                               : "ask for less in 'resources:'; for cores, -j may allow more");
}

Result<> Session::take_in(Opened opened) {
  dirty_ = true;
  receipt_ = opened.receipt;
  now_ = clock_.now();
  opening_ = true;
  for (auto& news : opened.news) TRY(on_news(std::move(news)));
  opening_ = false;
  return commit(false);
}

/// One turn: take in the news (wait for it if there is none yet) and do what is due.
Result<> Session::step() {
  TRY_ASSIGN(const bool news, poll_launcher());
  if (!news) {
    TRY(wait());
    TRY(poll_launcher());
  }
  if (place_at_ != kNever && now_ >= place_at_) TRY(place_again());
  if (now_ >= committed_at_ + kNewsInterval) dirty_ = true;
  if (now_ >= committed_at_ + kCommitInterval) {
    TRY(commit(false));
    TRY(take_requests());
  }
  if (now_ >= kept_at_ + kKeepInterval) {
    kept_at_ = now_;
    TRY(keep_learned());
  }
  if (now_ >= shown_at_ + kShowInterval) show_progress();
  if (board_.is_due(now_)) {
    board_.show(live_facts(progress()), now_);
    probe_links();
  }
  return leaving_.empty() ? Result<>{} : let_go_of_idle_sites();
}

Result<> Session::wait() {
  TimePoint next = std::max(shown_at_, now_) + kShowInterval;
  if (dirty_) next = std::min(next, committed_at_ + kCommitInterval);
  if (const auto wakeup = run_.engine.next_wakeup(); wakeup != kNever)
    next = std::min(next, wakeup);
  const short want = launcher_.wants_to_send() ? POLLIN | POLLOUT : POLLIN;
  pollfd fds[] = {{launcher_.wait_fd(), want, 0}, {signals_->fd(), POLLIN, 0}};
  const TimePoint now = clock_.now();
  probes_.on_look(now);
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - now);
  if (::poll(fds, 2, static_cast<int>(std::max<std::int64_t>(0, left.count()))) < 0 &&
      errno != EINTR) {
    return fail_errno("poll");
  }
  probes_.on_waited(clock_.now());
  return {};
}

// Out.
// -----------------------------------------------------------------------------------------------

Result<> Session::start_tasks() {
  for (;;) {
    const auto actions = run_.engine.decide(now_);
    if (actions.empty()) return {};
    TRY(note_given(actions));
    carry_out(actions);
    on_stop_signals();
    if (stuck_since_ != kNever) return {};
  }
}

void Session::carry_out(const std::vector<Action>& actions) {
  for (const auto& action : actions) {
    std::visit(Overloaded{[&](const StartAttempt& a) { start(a); },
                          [&](const CancelAttempt& a) { launcher_.cancel(a.key, a.host); },
                          [&](const RecallQueued& a) { launcher_.recall(a.host); },
                          [&](const MoveFile& a) { bring(a); },
                          [&](const DropFile& a) { launcher_.drop(a.file, a.site); }},
               action);
  }
}

void Session::bring(const MoveFile& move) {
  const auto files = contents_.files(shared_.path(move.file), [this] { return stop_waits(); });
  probes_.on_file();
  if (files) return launcher_.bring(move, *files);
  run_.engine.apply(MoveFailed{move.file, move.to, files.error().message, now_});
}

Result<std::vector<TaskFile>> Session::travelling(const Inputs& inputs) {
  std::vector<TaskFile> files;
  for (const auto& input : inputs) {
    TRY_ASSIGN(auto some, contents_.files(*input.path, [this] { return stop_waits(); }));
    std::ranges::move(some, std::back_inserter(files));
  }
  return files;
}

void Session::start(const StartAttempt& action) {
  const TaskKey& key = action.key;
  Task task = sweep_.task(key.task);
  task.resources = action.resources;
  auto& inputs = inputs_[key];
  inputs.clear();
  auto print = contents_.fingerprint(
      task, [this] { return stop_waits(); }, &inputs);
  std::vector<TaskFile> files;
  if (print && launcher_.files_travel(action.host)) {
    auto found = travelling(inputs);
    if (found)
      files = std::move(*found);
    else
      print = tl::unexpected<Error>(std::move(found).error());
  }
  if (stop_waits() || stuck_since_ != kNever)
    return run_.engine.apply(AttemptReturned{key, action.host});
  if (print) {
    dirty_ = true;  // for those who ask `gantry status` while long tasks run
    return launcher_.start(key, action.host, task, *print, files);
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
  std::vector<News> news;
  probes_.on_look(clock_.now());
  TRY(launcher_.poll(news));
  now_ = clock_.now();
  for (auto& each : news) TRY(on_news(std::move(each)));
  return !news.empty();
}

Result<> Session::take_requests() {
  TRY_ASSIGN(auto requests, store_.take_requests());
  for (auto& request : requests) {
    if (!request.join.empty() || !request.leave.empty()) {
      if (request.run == run_.id) change_sites(request);
    } else if (request.run == run_.id) {
      record(CancelRequested{run_.id, request.all, std::move(request.tasks), now_});
    } else {
      TRY(others_.cancel(request, launcher_, now_));
      dirty_ = true;
    }
  }
  return {};
}

void Session::on_stop_signals() {
  const int count = signals_->take();
  for (int i = 0; i < count; ++i) {
    ++stops_;
    if (stops_ == 1) {
      record(DrainRequested{run_.id, "interrupted"});
      if (observer_.notice) {
        observer_.notice(
            "finishing what runs; Ctrl-C again cancels it. Run the same command again to go on");
      }
    } else if (stops_ == 2) {
      if (observer_.notice) observer_.notice("cancelling");
      record(CancelRequested{run_.id, true, {}, now_});
    }
  }
  if (count > 0) show_progress();
}

}  // namespace gantry::driver
