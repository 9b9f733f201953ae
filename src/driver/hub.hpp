#pragma once
/// The loop of a state directory: events in, journal, engine, actions out, for any number of runs.
/// What only one run knows is in its RunIo. Owns nothing that outlives a call of drive(). One
/// thread.

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "actuate/sites.hpp"
#include "driver/content_cache.hpp"
#include "driver/driver.hpp"
#include "driver/grid_launch.hpp"
#include "driver/link_probes.hpp"
#include "driver/live_board.hpp"
#include "driver/outdated.hpp"
#include "driver/run_io.hpp"
#include "driver/signals.hpp"
#include "driver/take_over.hpp"
#include "driver/undriven_runs.hpp"
#include "engine/engine.hpp"
#include "model/sweep_files.hpp"

namespace gantry::driver {

class Hub {
 public:
  /// All references must outlive the hub.
  Hub(const Options& options, const Observer& observer, store::Store& store, ContentCache& contents,
      GridLaunch& sites, UndrivenRuns& others, const Clock& clock);

  /// Goes on with `ours`, or makes a run of the study. `options` must outlive the hub.
  Result<> add(const Job& job, const std::optional<ContinuedRun>& ours, const Options& options);
  /// Takes in what is really there, and loops until all runs have finished. From then on, SIGINT
  /// and SIGTERM are requests to stop. A summary for each run that was added before, in the order
  /// of add(). REQUIRES: the sites are open.
  Result<std::vector<Summary>> run(Opened opened);

 private:
  using Inputs = RunIo::Inputs;
  [[nodiscard]] engine::RunView view(const RunIo& io) const { return engine_.run(io.id()); }
  /// The run that has this task; nullptr when none of ours has.
  [[nodiscard]] RunIo* owner(const TaskKey& key);
  [[nodiscard]] RunIo& io_of(RunId run) { return *runs_.at(run); }
  [[nodiscard]] bool all_finished() const;
  /// Why no host can take some task of a run, or an empty text.
  Result<> check_placeable();
  [[nodiscard]] tl::unexpected<Error> refuse(const RunIo& io, const std::string& why) const;
  /// What is left of a run fits no host, nor any that may still come.
  void end_if_stranded();
  Result<> take_in(Opened opened);
  Result<> step();
  Result<> wait();
  Result<> start_tasks();
  void carry_out(const std::vector<Action>& actions);
  void start(const StartAttempt& action);
  void bring(const MoveFile& move);
  // hub_reading.cpp: actions that wait until files have been read.
  void park(const Action& action);
  Result<> carry_out_read();
  /// Attempts that wait go back to the engine, unstarted. No keys: all of the host. False when
  /// there was none.
  bool unpark(HostId host, std::span<const TaskKey> keys);
  Result<bool> poll_actuators();
  /// Lets them go, and tells what a person should know of that.
  void close_actuators();
  // hub_events.cpp: what actuators tell.
  Result<> on_news(News news);
  void on_event(Event& event);
  /// Whether the engine is told: other runs' attempts are not its affair.
  bool is_to_know(const AttemptStarted& started);
  void show(const Event& event);
  void expect_staged(SiteId site);
  /// `adopted`: it was not started by us.
  Result<> on_report(RunIo& io, ReportReceived received, bool adopted);
  /// The end of another run's task. `tries`: so often what it made could not be put in its place.
  Result<> take_others(ReportReceived received, std::uint32_t tries);
  /// Outputs that could not be put in their place: this machine's fault, and not their tasks'.
  Result<> place_again();
  /// Up to which reports' ends may be forgotten elsewhere.
  [[nodiscard]] std::uint64_t safe_receipt() const;
  [[nodiscard]] std::string site_name(SiteId site) const;
  /// For people: what its loss means. Empty when it had nothing to do, or nobody else is there.
  [[nodiscard]] std::string what_is_lost_with(HostId host) const;
  /// Its end was taken in and is not in the journal yet.
  [[nodiscard]] bool waits_for_commit(const TaskKey& key) const;
  Result<> take_requests();
  // hub_join.cpp: studies that other processes ask for.
  Result<> on_study(const store::Request& request);
  Result<RunId> join_study(const store::StudyRequest& request);
  /// None of its tasks may run beside a twin.
  Result<> check_joinable(const Job& job);
  /// A run that has joined and ended, so that its study can go on. Error busy when it has not.
  Result<> forget_closed(RunId run);
  /// Undoes add() of a run that nothing has been started of.
  Result<> take_back(const RunIo& io);
  /// What a run begins with, once its journal is known.
  Result<> begin(RunIo& io);
  // hub_sites.cpp: sites and hosts that come and go.
  /// The host is there, and tells what runs there.
  void hear_of(const Host& host);
  /// Writes down the hosts at sites that get their first attempts of a run by these actions: the
  /// next gantry must know of them if this one is killed.
  Result<> note_given(const std::vector<Action>& actions);
  /// The host goes. Each run whose attempts there have all ended forgets it.
  void release_if_free(HostId host);
  /// Attempts of the run may still go on at sites.
  [[nodiscard]] bool leaves_attempts(const RunIo& io) const;
  void change_sites(const store::Request& request);
  void join(const std::string& file, const std::string& name);
  void begin_to_leave(const std::string& name);
  Result<> let_go_of_idle_sites();
  void forget_files_at(SiteId site);
  void probe_links();
  void tell(const std::string& text) const {
    if (observer_.notice) observer_.notice(text);
  }
  /// A person has asked to stop, and on_stop_signals() does not know it yet.
  [[nodiscard]] bool stop_waits() const { return signals_ && signals_->waiting(); }
  void on_stop_signals();
  void apply(Event& event);
  void journal(RunIo& io, Event event);
  /// Applies and journals; journal errors wait for the next commit.
  void record(RunIo& io, Event event);
  /// Shows it as well, with what the engine makes of it.
  void record_end(RunIo& io, AttemptEnded ended);
  /// Starts nothing more of any run.
  void drain_all(const std::string& why);
  /// Adds to the detail what comes of an attempt that died of memory. False when there is nothing
  /// to say.
  bool add_memory_note(const RunIo& io, AttemptReport& report) const;
  Result<> commit(bool last);
  /// For the next runs. Joins the open group.
  Result<> keep_learned();
  /// What earlier runs have seen of the queues of sites that the engine was not told of yet.
  void recall_queues();
  /// The journal cannot be written: takes back what has not begun.
  void hold_tasks(const Error& why);
  /// Hands what waits to the store, up to the first end whose inputs are being read. `last`: waits
  /// for them.
  void write_group(bool last);
  /// Nobody could record any more how tasks end: ends those that run.
  tl::unexpected<Error> abandon(Error error);
  /// Why finished tasks run again.
  void tell_outdated(RunIo& io);
  /// What was learnt of the run's tasks, for `gantry forecast`.
  Result<> keep_forecasts(RunIo& io);
  void show_progress();
  [[nodiscard]] Progress progress() const;
  [[nodiscard]] Progress progress(const RunIo& io) const;
  [[nodiscard]] LiveFacts live_facts(const RunIo& io, const Progress& progress);
  /// The first run that has not finished, or the last one.
  [[nodiscard]] RunIo& shown_run();
  [[nodiscard]] store::Counts counts(const RunIo& io) const;
  [[nodiscard]] Summary summary(const RunIo& io) const;

  const Options& options_;
  const Observer& observer_;
  store::Store& store_;
  ContentCache& contents_;
  GridLaunch& sites_;
  Sites& actuators_;  ///< of them all
  const Clock& clock_;
  FileNames names_;  ///< of files that several tasks read
  std::deque<TaskFiles> files_;
  struct Joined {
    Sweep sweep;
    SpecSource source;
  };
  std::deque<Joined> joined_;
  std::size_t asked_for_ = 0;    ///< the first so many of ios_ have not joined
  const Options guest_options_;  ///< of those that join
  engine::Engine engine_;
  std::vector<std::unique_ptr<RunIo>> ios_;  ///< in the order of add()
  std::map<RunId, RunIo*> runs_;             ///< of them
  std::optional<StopSignals> signals_;

  struct Journalled {
    RunIo* io;
    Event event;
    Inputs inputs;
  };
  std::vector<Journalled> group_;  ///< by the next commit
  struct Parked {
    Action action;
    std::uint64_t files;  ///< so many of the ContentCache have to be read first
  };
  std::vector<Parked> parked_;

  std::map<HostId, std::string> host_names_;
  struct FarHost {
    SiteId site;
    store::SiteHost name;
  };
  std::map<HostId, FarHost> far_hosts_;       ///< all that were ever up at sites
  std::map<HostId, std::uint32_t> ended_on_;  ///< attempts
  LiveBoard board_;
  LinkProbes probes_;
  std::set<HostId> rested_;                     ///< of which a person was told
  std::set<SiteId> leaving_;                    ///< as soon as nothing runs there any more
  bool was_drained_ = false;                    ///< a person has made sites leave
  std::set<SiteId> expected_;                   ///< whose staged files the engine knows of
  std::set<std::pair<FileId, SiteId>> unsent_;  ///< of which a person was told
  UndrivenRuns& others_;
  bool opening_ = false;
  struct Unplaced {
    ReportReceived received;
    bool adopted = false;
    std::uint32_t tries = 0;  ///< of another run's
  };
  void place_later(Unplaced unplaced, const std::string& why);
  /// What cannot be put into its place is all that is left, and it was waited for long enough, or
  /// a person wants to stop. The site keeps it for whoever goes on with the run.
  [[nodiscard]] bool gives_up_placing();
  std::deque<Unplaced> unplaced_;
  TimePoint unplaced_since_ = kNever;  ///< nothing could be put into its place
  std::string why_unplaced_;           ///< of one of them
  TimePoint place_at_ = kNever;
  bool told_unplaced_ = false;

  TimePoint began_;  ///< also the wait for hosts and for what an earlier gantry left
  TimePoint now_;
  TimePoint committed_at_;
  TimePoint kept_at_;           ///< what was learnt
  std::uint32_t recalled_ = 0;  ///< sites
  TimePoint shown_at_;
  TimePoint stuck_since_ = kNever;  ///< since when the journal cannot be written
  bool dirty_ = false;              ///< something waits for a commit
  std::uint64_t receipt_ = 0;       ///< latest report taken in
  std::uint64_t acknowledged_ = 0;
  std::uint32_t ended_ = 0;
  std::deque<std::pair<TimePoint, std::uint32_t>>
      pace_;  ///< (when, ended so far), over the last seconds
  int stops_ = 0;
};

}  // namespace gantry::driver
