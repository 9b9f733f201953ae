#include "driver/hub.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <iterator>
#include <span>

#include "base/overloaded.hpp"
#include "driver/kept_model.hpp"
#include "driver/kept_waits.hpp"
#include "driver/recovery.hpp"

namespace gantry::driver {

namespace {

using namespace std::chrono_literals;

constexpr Duration kCommitInterval =
    100ms;  ///< how long an end may wait for others to share a sync with
constexpr Duration kNewsInterval = 5s;  ///< how old the ETA in the store may become
constexpr Duration kShowInterval = 100ms;
constexpr Duration kKeepInterval = 60s;  ///< how often learnt models are stored

/// Which tasks of which run a person has asked for is not theirs.
Options for_guests(Options options) {
  options.fresh = options.only_failed = false;
  options.continue_run = {};
  options.only.clear();
  return options;
}

}  // namespace

Hub::Hub(const Options& options, const Observer& observer, store::Store& store,
         ContentCache& contents, GridLaunch& sites, UndrivenRuns& others, const Clock& clock)
    : options_(options),
      observer_(observer),
      store_(store),
      contents_(contents),
      sites_(sites),
      actuators_(sites.sites()),
      clock_(clock),
      guest_options_(for_guests(options)),
      engine_(sites.map()),
      board_(options.state_dir),
      others_(others),
      began_(clock.now()),
      now_(began_),
      committed_at_(now_),
      kept_at_(now_) {}

Result<> Hub::add(const Job& job, const std::optional<ContinuedRun>& ours, const Options& options,
                  std::unique_ptr<GuestStudy> guest) {
  auto files = std::make_unique<RunFiles>();
  if (sites_.travels()) files->shared = TaskFiles(job.application, names_);
  files->study = study_of(job.application);
  files->guest = std::move(guest);
  const ContentCache::As as(contents_, files->study);
  auto run =
      prepare_run(store_, engine_, job, ours, options, contents_, clock_.now(), files->shared);
  if (!run && ours) engine_.remove_run(ours->record.id);
  if (!run) return tl::unexpected(std::move(run).error());
  const auto& io = ios_.emplace_back(
      std::make_unique<RunIo>(job, options, store_, contents_, std::move(files), names_,
                              std::move(*run), [this] { return stop_waits(); }));
  runs_[io->id()] = io.get();
  return {};
}

RunIo* Hub::owner(const TaskKey& key) {
  const auto run = runs_.find(key.run);
  return run != runs_.end() && run->second->has(key) ? run->second : nullptr;
}

bool Hub::all_finished() const {
  return std::ranges::all_of(ios_, [&](const auto& io) { return view(*io).finished(); });
}

Result<> Hub::keep_learned() {
  for (const auto& io : ios_) TRY(keep_models(store_, io->application(), view(*io), now_));
  return sites_.grid() != nullptr ? keep_waits(store_, *sites_.grid(), engine_, now_) : Result<>{};
}

void Hub::recall_queues() {
  const Grid* grid = sites_.grid();
  for (; grid != nullptr && recalled_ < grid->sites.size(); ++recalled_) {
    const auto why = recall_waits(store_, grid->sites[recalled_], SiteId(recalled_), engine_, now_);
    if (!why.empty()) tell(why);
  }
}

Result<> Hub::check_placeable() {
  if (actuators_.expects_hosts({})) return {};
  for (const auto& io : ios_) {
    const auto why = view(*io).unplaceable();
    if (why.empty()) continue;
    close_actuators();
    for (const auto& each : ios_)  // as if they had never been asked for
      if (each->run.is_new) TRY(store_.remove_run(each->id()));
    return refuse(*io, why);
  }
  return {};
}

Result<std::vector<Summary>> Hub::run(Opened opened) {
  recall_queues();
  TRY(take_in(std::move(opened)));
  TRY(check_placeable());
  for (const auto& io : ios_) TRY(begin(*io));
  asked_for_ = ios_.size();
  TRY_ASSIGN(auto signals, StopSignals::watch());
  signals_.emplace(std::move(signals));
  show_progress();  // whoever watches learns which runs these are before anything ends
  while (!all_finished() && stops_ < 3) {
    if (stuck_since_ == kNever) TRY(start_tasks());
    end_if_stranded();
    if (all_finished() || gives_up_placing()) break;
    std::uint64_t cores = 0;
    for (const auto& io : ios_) cores += view(*io).waiting_cores();
    actuators_.want(cores);
    TRY(step());
    on_stop_signals();
    const bool waits = was_drained_ || actuators_.expects_hosts({});
    if (host_names_.empty() && !waits) break;  // none ever came
    if (engine_.hosts().empty() && actuators_.has_given_up())
      drain_all("no host is left, and none will come");
  }
  TRY(keep_learned());
  for (const auto& io : ios_) TRY(keep_forecasts(*io));
  TRY(commit(true));
  show_progress();
  close_actuators();
  std::vector<DrivenRun> long_ones;
  for (const auto& io : ios_)
    if (io->executed >= kWorthASnapshot) long_ones.push_back({io->id(), &io->application()});
  // One that is not kept costs the next call time, and nothing else.
  static_cast<void>(keep_snapshots(store_, long_ones));
  std::vector<Summary> summaries;
  for (const auto& io : std::span(ios_).first(asked_for_)) {
    const auto why = view(*io).unplaceable();
    if (host_names_.empty() && !why.empty() && !view(*io).finished() && stops_ == 0)
      return refuse(*io, why);
    summaries.push_back(summary(*io));
  }
  return summaries;
}

void Hub::close_actuators() {
  std::vector<News> last;
  actuators_.close(last);
  for (const auto& news : last)
    if (const auto* notice = find_in<Notice>(news)) tell(notice->text);
}

Result<> Hub::keep_forecasts(RunIo& io) {
  const forecast::Bookkeeper& book = view(io).book();
  const bool knows = book.accuracy().scored() > 0 || book.times().learned().known() ||
                     book.memory().learned().used().observations() > 0 ||
                     book.outputs().used().observations() > 0;
  if (!knows || io.executed == 0) return {};  // what is kept of this run says more
  return store_.learn(std::string(store::kForecastsKind),
                      {std::to_string(io.id().value()), now_,
                       store::live_text(board_.state_of(live_facts(io, progress(io)), now_))},
                      store::kMostForecasts);
}

void Hub::drain_all(const std::string& why) {
  for (const auto& io : ios_)
    if (view(*io).draining().empty()) record(*io, DrainRequested{io->id(), why});
}

void Hub::end_if_stranded() {
  for (const auto& io : ios_) {
    const auto needs = view(*io).stranded();
    const auto will_run = [&](const Resources& each) { return actuators_.expects_hosts(each); };
    if (needs.empty() || std::ranges::any_of(needs, will_run)) continue;
    record(*io, DrainRequested{io->id(), view(*io).unplaceable()});
  }
}

tl::unexpected<Error> Hub::refuse(const RunIo& io, const std::string& why) const {
  return io.application().fail_at_resources(
      why, host_names_.empty() ? "none of the grid's hosts could be reached; 'home: {hosts: 1}' "
                                 "in the grid file uses this machine"
                               : "ask for less in 'resources:'; for cores, -j may allow more");
}

Result<> Hub::take_in(Opened opened) {
  dirty_ = true;
  receipt_ = opened.receipt;
  now_ = clock_.now();
  for (auto& news : opened.news) TRY(on_news(std::move(news)));
  return commit(false);
}

/// One turn: take in the news (wait for it if there is none yet) and do what is due.
Result<> Hub::step() {
  TRY_ASSIGN(const bool news, poll_actuators());
  if (!news) {
    TRY(wait());
    TRY(poll_actuators());
  }
  if (place_at_ != kNever && now_ >= place_at_) TRY(place_again());
  if (now_ >= committed_at_ + kNewsInterval) dirty_ = true;
  if (now_ >= committed_at_ + kCommitInterval) {
    TRY(commit(false));
    TRY(let_guests_go());
    TRY(take_requests());
  }
  if (now_ >= kept_at_ + kKeepInterval) {
    kept_at_ = now_;
    TRY(keep_learned());
  }
  if (now_ >= shown_at_ + kShowInterval) show_progress();
  if (board_.is_due(now_)) {
    board_.show(live_facts(shown_run(), progress()), now_);
    probe_links();
  }
  return leaving_.empty() ? Result<>{} : let_go_of_idle_sites();
}

Result<> Hub::wait() {
  TimePoint next = std::max(shown_at_, now_) + kShowInterval;
  if (dirty_) next = std::min(next, committed_at_ + kCommitInterval);
  if (const auto wakeup = engine_.next_wakeup(); wakeup != kNever) next = std::min(next, wakeup);
  const auto [wait_fd, to_send] = actuators_.waits_for();
  const short want = to_send ? POLLIN | POLLOUT : POLLIN;
  pollfd fds[] = {
      {wait_fd, want, 0}, {signals_->fd(), POLLIN, 0}, {contents_.read_fd(), POLLIN, 0}};
  const TimePoint now = clock_.now();
  probes_.on_look(now);
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - now);
  if (::poll(fds, 3, static_cast<int>(std::max<std::int64_t>(0, left.count()))) < 0 &&
      errno != EINTR) {
    return fail_errno("poll");
  }
  probes_.on_waited(clock_.now());
  return {};
}

// Out.
// -----------------------------------------------------------------------------------------------

Result<> Hub::start_tasks() {
  for (;;) {
    const auto actions = engine_.decide(now_);
    if (actions.empty()) return {};
    TRY(note_given(actions));
    carry_out(actions);
    on_stop_signals();
    if (stuck_since_ != kNever) return {};
  }
}

void Hub::carry_out(const std::vector<Action>& actions) {
  for (const auto& action : actions) {
    std::visit(
        Overloaded{[&](const StartAttempt& a) { start(a); },
                   [&](const CancelAttempt& a) {
                     if (!unpark(a.host, {&a.key, 1})) actuators_.cancel(a.key, a.host);
                   },
                   [&](const SignalAttempt& a) { actuators_.signal(a.key, a.host, a.signal); },
                   [&](const CheckpointAttempt& a) {
                     actuators_.signal(a.key, a.host, Launcher::kCheckpointSignal);
                   },
                   [&](const RecallQueued& a) {
                     unpark(a.host, a.keys);
                     actuators_.recall(a.host, a.keys);
                   },
                   [&](const MoveFile& a) { bring(a); },
                   [&](const DropFile& a) { actuators_.drop(a.file, a.site); }},
        action);
  }
}

/// Of a folder, whatever any run's tasks read there.
Result<std::vector<TaskFile>> Hub::files_of(FileId file) {
  const std::string& path = names_.path(file);
  std::error_code error;
  std::vector<TaskFile> all;
  if (std::filesystem::is_directory(path, error)) {
    for (const auto& io : ios_) {
      TRY_ASSIGN(auto some, io->shared_folder(file));
      std::ranges::move(some, std::back_inserter(all));
    }
  }
  if (all.empty()) return contents_.files(path, [this] { return stop_waits(); });
  std::ranges::sort(all, {}, &TaskFile::path);
  const auto is_same = [](const TaskFile& a, const TaskFile& b) { return a.path == b.path; };
  all.erase(std::unique(all.begin(), all.end(), is_same), all.end());
  return all;
}

void Hub::bring(const MoveFile& move) {
  const ContentCache::Aside aside(contents_);
  const auto files = files_of(move.file);
  if (!files && files.error().code == ErrorCode::busy) return park(move);
  probes_.on_file();
  if (files) return actuators_.bring(move, *files);
  engine_.apply(MoveFailed{move.file, move.to, files.error().message, now_});
}

void Hub::start(const StartAttempt& action) {
  const TaskKey& key = action.key;
  RunIo& io = io_of(key.run);
  Task task = io.application().task(key.task);
  task.resources = action.resources;
  auto print = io.fingerprint(key, task);
  std::vector<TaskFile> files;
  if (print && actuators_.files_travel(action.host)) {
    auto found = io.files(key);
    if (found)
      files = std::move(*found);
    else
      print = tl::unexpected<Error>(std::move(found).error());
  }
  if (stop_waits() || stuck_since_ != kNever)
    return engine_.apply(AttemptReturned{key, action.host});
  if (!print && print.error().code == ErrorCode::busy) return park(action);
  if (print) {
    dirty_ = true;  // for those who ask `gantry status` while long tasks run
    return actuators_.start(
        {key, action.host, std::move(task), *print, io.base_dir(), std::move(files)});
  }
  AttemptEnded ended;
  ended.report.key = key;
  ended.report.cause = FailureCause::missing_input;
  ended.report.detail = print.error().message;
  ended.report.started = ended.report.ended = now_;
  ended.host = action.host;
  ended.parameters = task.parameters;
  ++io.executed;
  record_end(io, std::move(ended));
}

// In.
// ------------------------------------------------------------------------------------------------

/// True when there was something.
Result<bool> Hub::poll_actuators() {
  std::vector<News> news;
  now_ = clock_.now();
  probes_.on_look(now_);
  TRY(actuators_.poll(now_, news));
  now_ = clock_.now();
  for (auto& each : news) TRY(on_news(std::move(each)));
  TRY(carry_out_read());
  return !news.empty();
}

Result<> Hub::take_requests() {
  TRY_ASSIGN(auto requests, store_.take_requests());
  for (auto& request : requests) {
    if (request.study) {
      TRY(on_study(request));
      continue;
    }
    const auto run = runs_.find(request.run);
    if (!request.join.empty() || !request.leave.empty()) {
      if (run != runs_.end()) change_sites(request);
    } else if (run != runs_.end()) {
      record(*run->second,
             CancelRequested{request.run, request.all, std::move(request.tasks), now_});
    } else {
      TRY(others_.cancel(request, actuators_, now_));
      dirty_ = true;
    }
  }
  return {};
}

void Hub::on_stop_signals() {
  const int count = signals_->take();
  for (int i = 0; i < count; ++i) {
    ++stops_;
    if (stops_ == 1) {
      drain_all("interrupted");
      if (observer_.notice) {
        observer_.notice(
            "finishing what runs; Ctrl-C again cancels it. Run the same command again to go on");
      }
    } else if (stops_ == 2) {
      if (observer_.notice) observer_.notice("cancelling");
      for (const auto& io : ios_) record(*io, CancelRequested{io->id(), true, {}, now_});
    }
  }
  if (count > 0) show_progress();
}

}  // namespace gantry::driver
