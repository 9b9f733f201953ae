#pragma once
/// The main loop of a state directory, for any number of runs: events go to the journal and the
/// engine, the engine's actions to the sites. What concerns only one run is in its RunIo. Owns
/// nothing that outlives a call of drive(). One thread.

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

  /// Continues `ours`, or makes a new run of the study. `options` must outlive the hub, and so must
  /// the job's study unless it is `guest`.
  Result<> add(const Job& job, const std::optional<ContinuedRun>& ours, const Options& options,
               std::unique_ptr<GuestStudy> guest = {});
  /// Takes in what the sites reported when they were opened, and loops until all runs have
  /// finished. SIGINT and SIGTERM are requests to stop from here on. Returns a summary for each run
  /// that was added before, in the order of add(). REQUIRES: the sites are open.
  Result<std::vector<Summary>> run(Opened opened);

 private:
  using Inputs = RunIo::Inputs;
  [[nodiscard]] engine::RunView view(const RunIo& io) const { return engine_.run(io.id()); }
  /// The run of this task; nullptr if it is not one of ours.
  [[nodiscard]] RunIo* owner(const TaskKey& key);
  [[nodiscard]] RunIo& io_of(RunId run) { return *runs_.at(run); }
  [[nodiscard]] bool all_finished() const;
  /// An error if some task fits no host and no other host is expected.
  Result<> check_placeable();
  [[nodiscard]] tl::unexpected<Error> refuse(const RunIo& io, const std::string& why) const;
  /// Drains runs whose remaining tasks fit no host, nor any that may still come.
  void end_if_stranded();
  Result<> take_in(Opened opened);
  Result<> step();
  Result<> wait();
  Result<> start_tasks();
  void carry_out(const std::vector<Action>& actions);
  void start(const StartAttempt& action);
  void bring(const MoveFile& move);
  Result<std::vector<TaskFile>> files_of(FileId file);
  // hub_reading.cpp: actions that wait until their files have been read.
  void park(const Action& action);
  /// True if large inputs of the study have to be read first; begins to read them.
  bool must_read_inputs(const Application& application);
  Result<> carry_out_read();
  /// Gives waiting attempts back to the engine, unstarted; without keys, all of the host. False if
  /// there were none.
  bool unpark(HostId host, std::span<const TaskKey> keys);
  Result<bool> poll_actuators();
  /// Closes the sites, and tells the person what they report at the end.
  void close_actuators();
  // hub_events.cpp: news from the sites.
  Result<> on_news(News news);
  void on_event(Event& event);
  /// Whether the engine should hear of it: not of other runs' attempts.
  bool is_to_know(const AttemptStarted& started);
  void show(const Event& event);
  void expect_staged(SiteId site);
  Result<> on_report(RunIo& io, ReportReceived received);
  /// Its task's present inputs are being read: they tell whether the report counts.
  void check_later(ReportReceived received);
  /// Takes in the end of another run's task. `tries`: how often its outputs could not be moved to
  /// their place.
  Result<> take_others(ReportReceived received, std::uint32_t tries);
  /// Tries again to move outputs to their place. That it failed is this machine's fault, not the
  /// tasks'.
  Result<> place_again();
  /// Agents may forget reports up to this receipt: they and all before them are committed.
  [[nodiscard]] std::uint64_t safe_receipt() const;
  [[nodiscard]] std::string site_name(SiteId site) const;
  /// What the loss of the host means, for a person. Empty if it had no tasks, or no other host is
  /// up.
  [[nodiscard]] std::string what_is_lost_with(HostId host) const;
  /// The attempt's end was taken in, but is not in the journal yet.
  [[nodiscard]] bool waits_for_commit(const TaskKey& key) const;
  Result<> take_requests();
  // hub_join.cpp: studies that other processes add (`gantry run --join`).
  Result<> on_study(const store::Request& request);
  /// Nothing while large inputs of the study are read in the background.
  Result<std::optional<RunId>> join_study(const store::StudyRequest& request);
  /// None of its tasks may run beside a twin.
  Result<> check_joinable(const Job& job);
  /// Forgets guests that have ended, once the store has all that is known of them.
  Result<> let_guests_go();
  /// REQUIRES: none of its events or actions wait.
  void forget(RunId run);
  /// Begins a run whose journal has been replayed.
  Result<> begin(RunIo& io);
  // hub_sites.cpp: sites and hosts that come and go.
  /// A host has come up: it is no longer among the unheard ones of any run.
  void hear_of(const Host& host);
  /// Stores the hosts to which these actions give their first attempt of a run. If this gantry is
  /// killed, the next one asks them.
  Result<> note_given(const std::vector<Action>& actions);
  /// The host has gone. Each run whose attempts there have all ended forgets it.
  void release_if_free(HostId host);
  /// Whether attempts of the run may still be at sites.
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
  /// A person has asked to stop, but on_stop_signals() has not run yet.
  [[nodiscard]] bool stop_waits() const { return signals_ && signals_->waiting(); }
  void on_stop_signals();
  void apply(Event& event);
  /// `receipt`: of the report that tells the event; 0 = none does.
  void journal(RunIo& io, Event event, std::uint64_t receipt);
  /// Applies and journals; journal errors wait for the next commit.
  void record(RunIo& io, Event event, std::uint64_t receipt = 0);
  /// The same for an end; also shows it, with what happens to the task.
  void record_end(RunIo& io, AttemptEnded ended, std::uint64_t receipt = 0);
  /// Starts nothing more of any run.
  void drain_all(const std::string& why);
  /// After an attempt ran out of memory, adds to the report's detail what happens next. False if
  /// there is nothing to say.
  bool add_memory_note(const RunIo& io, AttemptReport& report) const;
  Result<> commit(bool last);
  /// Stores what was learnt, for later runs, in the store's open group.
  Result<> keep_learned();
  /// Tells the engine the queue waits of earlier runs, for sites that it has not heard about yet.
  void recall_queues();
  /// The journal cannot be written: recalls attempts that have not begun.
  void hold_tasks(const Error& why);
  /// Hands the waiting events to the store; of each run, up to the first end whose inputs are being
  /// read. `last`: waits for those.
  void write_group(bool last);
  /// Whether events of the run wait to be written.
  [[nodiscard]] bool has_unwritten(const RunIo& io) const;
  /// The ends of tasks can no longer be recorded: ends those that run.
  tl::unexpected<Error> abandon(Error error);
  /// Tells the person why finished tasks run again.
  void tell_outdated(RunIo& io);
  /// Stores the run's forecasts, for `gantry forecast`.
  Result<> keep_forecasts(RunIo& io);
  void show_progress();
  [[nodiscard]] Progress progress() const;
  [[nodiscard]] Progress progress(const RunIo& io) const;
  [[nodiscard]] LiveFacts live_facts(const RunIo& io, const Progress& progress);
  /// The first run that has not finished, or else the last one.
  [[nodiscard]] RunIo& shown_run();
  [[nodiscard]] store::Counts counts(const RunIo& io) const;
  [[nodiscard]] Summary summary(const RunIo& io) const;

  const Options& options_;
  const Observer& observer_;
  store::Store& store_;
  ContentCache& contents_;
  GridLaunch& sites_;
  Sites& actuators_;  ///< of sites_
  const Clock& clock_;
  FileNames names_;                          ///< of shared files
  std::size_t asked_for_ = 0;                ///< how many of ios_ were named on the command line
  const Options guest_options_;              ///< for studies that join
  std::vector<std::unique_ptr<RunIo>> ios_;  ///< in the order of add()
  std::map<RunId, RunIo*> runs_;             ///< of ios_
  engine::Engine engine_;                    ///< refers to the files of ios_
  std::optional<StopSignals> signals_;

  struct Journalled {
    RunIo* io;
    Event event;
    Inputs inputs;
    std::uint64_t receipt;  ///< see journal()
  };
  std::vector<Journalled> group_;  ///< events for the next commit
  struct Parked {
    Action action;
    std::uint64_t files;  ///< it waits until ContentCache::has_read() reaches this
  };
  std::vector<Parked> parked_;
  struct Joining {
    store::Request request;
    std::uint64_t files;  ///< as of Parked
  };
  std::vector<Joining> joining_;
  struct Unchecked {
    ReportReceived received;
    std::uint64_t files;  ///< as of Parked
  };
  std::vector<Unchecked> unchecked_;  ///< reports whose task's present inputs are being read

  std::map<HostId, std::string> host_names_;
  struct FarHost {
    SiteId site;
    store::SiteHost name;
  };
  std::map<HostId, FarHost> far_hosts_;       ///< all hosts that were ever up at sites
  std::map<HostId, std::uint32_t> ended_on_;  ///< how many attempts
  LiveBoard board_;
  LinkProbes probes_;
  std::set<HostId> rested_;    ///< hosts whose rest a person was told about
  std::set<SiteId> leaving_;   ///< sites that leave when nothing runs there any more
  bool was_drained_ = false;   ///< a person has drained sites
  std::set<SiteId> expected_;  ///< sites whose staged files the engine knows
  std::set<std::pair<FileId, SiteId>> unsent_;  ///< failed moves that a person was told about
  UndrivenRuns& others_;
  struct Unplaced {
    ReportReceived received;
    std::uint32_t tries = 0;  ///< for a report of another run
  };
  void place_later(Unplaced unplaced, const std::string& why);
  /// True if only outputs that cannot be moved to their place are left, and they were tried for
  /// long enough or a person wants to stop. The site keeps them until the run continues.
  [[nodiscard]] bool gives_up_placing();
  std::deque<Unplaced> unplaced_;
  TimePoint unplaced_since_ = kNever;  ///< since when outputs cannot be moved to their place
  std::string why_unplaced_;           ///< reason for one of them
  TimePoint place_at_ = kNever;
  bool told_unplaced_ = false;

  TimePoint began_;  ///< before the wait for hosts and for an earlier gantry's attempts
  TimePoint now_;
  TimePoint committed_at_;
  TimePoint kept_at_;           ///< when learnt models were last stored
  std::uint32_t recalled_ = 0;  ///< sites whose queue waits the engine knows
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
