#include "driver/session.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <system_error>

#include "driver/attempt_outputs.hpp"
#include "driver/attempt_results.hpp"
#include "driver/kept_model.hpp"
#include "model/fingerprint.hpp"

namespace gantry::driver {

namespace {

using namespace std::chrono_literals;

constexpr Duration kCommitInterval =
    100ms;  ///< how long an end may wait for others to share a sync with
constexpr Duration kNewsInterval = 5s;  ///< how old the ETA in the store may become
constexpr Duration kShowInterval = 100ms;
constexpr Duration kKeepInterval = 60s;  ///< so much of what was learnt a killed gantry may lose
constexpr Duration kPlaceInterval = 1s;
/// For a person to make room for what tasks have made.
constexpr Duration kPlacePatience = 10min;
/// For what another run's task has made: this one must not wait for it without end.
constexpr std::uint32_t kMostPlacings = 60;

template <class... Fs>
struct Overloaded : Fs... {
  using Fs::operator()...;
};
template <class... Fs>
Overloaded(Fs...) -> Overloaded<Fs...>;

}  // namespace

Session::Session(const Sweep& sweep, const Options& options, const Observer& observer,
                 store::Store& store, ContentCache& contents, GridLaunch& sites,
                 const SharedInputs& shared, UndrivenRuns& others, const Clock& clock,
                 PreparedRun run)
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
      began_(clock.now()),
      now_(began_),
      committed_at_(began_),
      kept_at_(began_) {}

Result<Summary> Session::run(Opened opened) {
  TRY(take_in(std::move(opened)));
  if (const auto why = run_.engine.unplaceable(); !why.empty() && !launcher_.expects_hosts({})) {
    launcher_.close();
    if (run_.is_new) TRY(store_.remove_run(run_.id));  // as if it had never been asked for
    return refuse(why);
  }
  TRY(store_.mark_driven(run_.id));
  tell_outdated();
  if (!run_.notice.empty()) tell(run_.notice);
  TRY_ASSIGN(auto signals, StopSignals::watch());
  signals_.emplace(std::move(signals));
  while (!run_.engine.finished() && stops_ < 3) {
    if (stuck_since_ == kNever) start_tasks();
    end_if_stranded();
    if (run_.engine.finished() || gives_up_placing()) break;
    launcher_.want(run_.engine.waiting_cores());
    TRY(step());
    on_stop_signals();
    const bool waits = was_drained_ || launcher_.expects_hosts({});
    if (host_names_.empty() && !waits) break;  // none ever came
    if (run_.engine.hosts().empty() && launcher_.has_given_up() && run_.engine.draining().empty())
      record(DrainRequested{"no host is left, and none will come"});
  }
  TRY(keep_model(store_, sweep_, run_.engine, now_));
  if (run_.engine.accuracy().scored() > 0 || run_.engine.learned().known())
    TRY(store_.learn(std::string(kForecastsKind),
                     {"last", now_, live_text(board_.state_of(live_facts(progress()), now_))}));
  TRY(commit(true));
  show_progress();
  launcher_.close();
  for (const auto& text : launcher_.last_words())
    if (observer_.notice) observer_.notice(text);
  if (const auto why = run_.engine.unplaceable();
      host_names_.empty() && !why.empty() && !run_.engine.finished() && stops_ == 0)
    return refuse(why);
  return summary();
}

void Session::end_if_stranded() {
  const auto needs = run_.engine.stranded();
  const auto will_run = [&](const Resources& each) { return launcher_.expects_hosts(each); };
  if (needs.empty() || std::ranges::any_of(needs, will_run)) return;
  record(DrainRequested{run_.engine.unplaceable()});
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
  for (auto& event : opened.events) TRY(on_event(std::move(event)));
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
    TRY(keep_model(store_, sweep_, run_.engine, now_));
  }
  if (now_ >= shown_at_ + kShowInterval) show_progress();
  if (board_.is_due(now_)) board_.show(live_facts(progress()), now_);
  return leaving_.empty() ? Result<>{} : let_go_of_idle_sites();
}

Result<> Session::wait() {
  TimePoint next = std::max(shown_at_, now_) + kShowInterval;
  if (dirty_) next = std::min(next, committed_at_ + kCommitInterval);
  if (const auto wakeup = run_.engine.next_wakeup(); wakeup != kNever)
    next = std::min(next, wakeup);
  const short want = launcher_.wants_to_send() ? POLLIN | POLLOUT : POLLIN;
  pollfd fds[] = {{launcher_.wait_fd(), want, 0}, {signals_->fd(), POLLIN, 0}};
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - clock_.now());
  if (::poll(fds, 2, static_cast<int>(std::max<std::int64_t>(0, left.count()))) < 0 &&
      errno != EINTR) {
    return fail_errno("poll");
  }
  return {};
}

// Out.
// -----------------------------------------------------------------------------------------------

void Session::start_tasks() {
  for (;;) {
    const auto actions = run_.engine.decide(now_);
    if (actions.empty()) return;
    carry_out(actions);
    on_stop_signals();
  }
}

void Session::carry_out(const std::vector<Action>& actions) {
  for (const auto& action : actions) {
    std::visit(Overloaded{[&](const StartAttempt& a) { start(a); },
                          [&](const CancelAttempt& a) {
                            launcher_.cancel({run_.id, a.task, a.attempt}, a.host);
                          },
                          [&](const RecallQueued& a) { launcher_.recall(a.host); },
                          [&](const MoveFile& a) { bring(a); },
                          [&](const DropFile& a) { launcher_.drop(a.file, a.site); }},
               action);
  }
}

void Session::bring(const MoveFile& move) {
  const auto files = contents_.files(shared_.path(move.file), [this] { return stop_waits(); });
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
  const TaskKey key{run_.id, action.task, action.attempt};
  Task task = sweep_.task(action.task);
  task.resources = run_.engine.resources(action.task);
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
  if (stop_waits()) return run_.engine.apply(AttemptReturned{key, action.host});
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
  std::vector<LauncherEvent> events;
  TRY(launcher_.poll(events));
  now_ = clock_.now();
  for (auto& event : events) TRY(on_event(std::move(event)));
  return !events.empty();
}

Result<> Session::on_event(LauncherEvent event) {
  const auto ours = [&](const TaskKey& key) { return is_ours(key); };
  return std::visit(
      Overloaded{[&](HostAppeared& e) -> Result<> {
                   host_names_[e.host.id] = e.host.name;
                   run_.engine.apply(HostUp{e.host});
                   if (leaving_.contains(e.host.site)) run_.engine.apply(HostDraining{e.host.id});
                   expect_staged(e.host.site);
                   return {};
                 },
                 [&](HostVanished& e) -> Result<> {
                   if (observer_.notice && !e.why.empty()) observer_.notice(e.why);
                   board_.on_vanished(e.host);
                   run_.engine.apply(HostDown{e.host});
                   return {};
                 },
                 [&](HostResting& e) -> Result<> {
                   if (rested_.insert(e.host).second) tell(e.why);
                   run_.engine.apply(HostDraining{e.host, true});
                   return {};
                 },
                 [&](HostShared& e) -> Result<> {
                   run_.engine.apply(HostLoaded{e.host, e.share, std::min(e.at, now_), now_});
                   return {};
                 },
                 [&](TaskRunning& e) -> Result<> {
                   if (!ours(e.key)) {
                     others_.started(e.key, e.host);
                     return {};
                   }
                   if (opening_) adopted_.insert(e.key);
                   run_.engine.apply(AttemptStarted{e.key, e.host, std::min(e.at, now_)});
                   return {};
                 },
                 [&](TaskReturned& e) -> Result<> {
                   if (ours(e.key)) run_.engine.apply(AttemptReturned{e.key, e.host});
                   return {};
                 },
                 [&](TaskComputed& e) -> Result<> {
                   if (!ours(e.key)) return {};
                   board_.on_computed(e.key, e.host, now_);
                   run_.engine.apply(AttemptComputed{e.key, e.host});
                   return {};
                 },
                 [&](FileBrought& e) -> Result<> {
                   unsent_.erase({e.file, e.site});
                   run_.engine.apply(FileArrived{e.file, e.site, now_, e.found});
                   return {};
                 },
                 [&](BringFailed& e) -> Result<> {
                   // It is tried again and again.
                   if (observer_.notice && !e.why.empty() && unsent_.emplace(e.file, e.site).second)
                     observer_.notice(fmt::format("{} could not be sent to site {}: {}",
                                                  shared_.path(e.file), site_name(e.site), e.why));
                   run_.engine.apply(MoveFailed{e.file, e.site, std::move(e.why), now_});
                   return {};
                 },
                 [&](FileLost& e) -> Result<> {
                   run_.engine.apply(FileGone{e.file, e.site});
                   return {};
                 },
                 [&](WayFailed& e) -> Result<> {
                   if (observer_.notice) observer_.notice(e.why);
                   run_.engine.apply(WayClosed{e.from, e.to});
                   return {};
                 },
                 [&](ReportReceived& e) -> Result<> {
                   receipt_ = std::max(receipt_, e.receipt);
                   dirty_ = true;
                   if (ours(e.report.key)) {
                     const bool adopted = adopted_.erase(e.report.key) > 0 || opening_;
                     return on_report(std::move(e), adopted);
                   }
                   board_.on_ended(e.report.key);
                   return take_others(std::move(e), 0);
                 },
                 [&](LauncherNotice& e) -> Result<> {
                   if (observer_.notice) observer_.notice(e.text);
                   return {};
                 }},
      event);
}

/// Plans count on them at once. The site looks meanwhile whether they are what they should be; what
/// is not is sent.
void Session::expect_staged(SiteId site) {
  if (sites_.grid() == nullptr || !expected_.insert(site).second) return;
  const GridSite& described = sites_.grid()->sites[site.value()];
  for (std::uint32_t i = 0; i < shared_.size(); ++i) {
    if (!is_staged(described, shared_.path(FileId(i)))) continue;
    run_.engine.apply(FileArrived{FileId(i), site, now_});
    bring({FileId(i), kHome, site});
  }
}

Result<> Session::on_report(ReportReceived received, bool adopted) {
  const TaskKey key = received.report.key;
  if (!run_.engine.awaits(key, received.host)) {
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
  read_results(options_.state_dir, sweep_, ended);
  if (settle_remote_files(store_, sweep_.task(key.task), ended)) launcher_.refuse(received.receipt);
  // One that was cancelled in the agent's queue has not been tried.
  const bool tried = ended.report.cause != FailureCause::cancelled || was_started(ended.report);
  if (tried) ++executed_;
  ++ended_;
  ++ended_on_[ended.host];
  if (ended.report.out.truncated || ended.report.err.truncated) ++cut_;
  std::string stale = adopted ? why_stale(ended) : "";
  if (stale.empty()) {
    record_end(std::move(ended));
  } else {
    record(std::move(ended));
    add_outdated(run_.outdated, stale);
    record(TaskInvalidated{key.task, std::move(stale), now_});
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
  const auto& c = run_.engine.counts();
  const bool starts_more = run_.engine.draining().empty() && c.pending + c.waiting > 0;
  if (ours == 0 || starts_more || c.staging + c.handed_over > 0 || c.running > ours) return false;
  tell(fmt::format("what {} made is kept at {} site: {}. Mend this and run the same command again",
                   ours == 1 ? "1 task" : fmt::format("{} tasks", ours),
                   ours == 1 ? "its" : "their", why_unplaced_));
  record(DrainRequested{"outputs could not be put where they belong"});
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

std::string Session::site_name(SiteId site) const {
  const Grid* grid = sites_.grid();
  const bool known = grid != nullptr && site.value() < grid->sites.size();
  return known ? grid->sites[site.value()].name : std::to_string(site.value());
}

/// Run numbers begin anew when somebody moves the database away, and the agent may still hold
/// reports of an older run with our number. Those of attempts that we started need no look.
bool Session::is_of_another_study(const ReportReceived& received) const {
  if (received.fingerprint.empty()) return false;
  return received.fingerprint.command != command_digest(sweep_.task(received.report.key.task));
}

/// Its inputs may have changed since an earlier session started it. Empty when the end counts.
std::string Session::why_stale(const AttemptEnded& ended) {
  const auto cause = ended.report.cause;
  if (cause == FailureCause::lost || cause == FailureCause::cancelled) return {};
  const Task task = sweep_.task(ended.report.key.task);
  const auto print = contents_.fingerprint(task, [this] { return stop_waits(); });
  if (stop_waits()) return {};  // whoever goes on with the run looks again
  if (!print) return "an input is missing: " + print.error().message;
  const auto holds = contents_.holds(
      ended.fingerprint, ended.report.started, task, *print, [this] { return stop_waits(); },
      ended.report.ended);
  if (stop_waits() || (holds && *holds)) return {};
  return what_changed({ended.fingerprint, ended.report.started}, *print, task);
}

Result<> Session::take_requests() {
  TRY_ASSIGN(auto requests, store_.take_requests());
  for (auto& request : requests) {
    if (!request.join.empty() || !request.leave.empty()) {
      if (request.run == run_.id) change_sites(request);
    } else if (request.run == run_.id) {
      record(CancelRequested{request.all, std::move(request.tasks), now_});
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

}  // namespace gantry::driver
