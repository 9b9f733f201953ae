#pragma once
/// The loop of one call of drive(): events in, journal, engine, actions out. Owns nothing that
/// outlives it. One thread.

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "actuate/launcher.hpp"
#include "driver/content_cache.hpp"
#include "driver/driver.hpp"
#include "driver/grid_launch.hpp"
#include "driver/link_probes.hpp"
#include "driver/live_board.hpp"
#include "driver/outdated.hpp"
#include "driver/run_setup.hpp"
#include "driver/shared_inputs.hpp"
#include "driver/signals.hpp"
#include "driver/take_over.hpp"
#include "driver/undriven_runs.hpp"
#include "engine/engine.hpp"

namespace gantry::driver {

class Session {
 public:
  /// All references must outlive the session.
  Session(const Sweep& sweep, const Options& options, const Observer& observer, store::Store& store,
          ContentCache& contents, GridLaunch& sites, const SharedInputs& shared,
          UndrivenRuns& others, const Clock& clock, PreparedRun run, TimePoint began);

  /// Takes in what is really there, and loops until the engine has finished. From then on, SIGINT
  /// and SIGTERM are requests to stop. REQUIRES: the launcher is open.
  Result<Summary> run(Opened opened);

 private:
  using Inputs = std::vector<ContentCache::Used>;
  /// No host can take some task.
  [[nodiscard]] tl::unexpected<Error> refuse(const std::string& why) const;
  /// It is there, and tells what runs there.
  void hear_of(const Host& host);
  /// It goes: is all that it was given known to have ended?
  void release_if_free(HostId host);
  /// Writes down the hosts at sites that are given their first attempts by these actions: whoever
  /// goes on with the run after a kill must know of them.
  Result<> note_given(const std::vector<Action>& actions);
  /// Attempts of this run may go on at sites when this session has ended.
  [[nodiscard]] bool leaves_attempts() const;
  /// What is left fits no host, nor any that may still come.
  void end_if_stranded();
  Result<> take_in(Opened opened);
  Result<> step();
  Result<> wait();
  Result<> start_tasks();
  void carry_out(const std::vector<Action>& actions);
  void start(const StartAttempt& action);
  /// What the task reads, for a host that does not see it here.
  Result<std::vector<TaskFile>> travelling(const Inputs& inputs);
  void bring(const MoveFile& move);
  Result<bool> poll_launcher();
  // session_events.cpp: what actuators tell.
  Result<> on_news(News news);
  void on_event(Event& event);
  /// Whether the engine is told: other runs' attempts are not its affair.
  bool is_to_know(const AttemptStarted& started);
  void show(const Event& event);
  [[nodiscard]] bool is_ours(const TaskKey& key) const {
    return key.run == run_.id && key.task.value() <= sweep_.size();
  }
  void expect_staged(SiteId site);
  /// `adopted`: it was not started by us.
  Result<> on_report(ReportReceived received, bool adopted);
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
  [[nodiscard]] bool is_of_another_study(const ReportReceived& received) const;
  [[nodiscard]] Reason why_stale(const AttemptEnded& ended);
  Result<> take_requests();
  // session_sites.cpp: sites that come and go.
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
  void journal(Event event);
  /// Applies and journals; journal errors wait for the next commit.
  void record(Event event);
  /// Shows it as well, with what the engine makes of it.
  void record_end(AttemptEnded ended);
  /// What comes of an attempt that died of memory.
  void add_memory_note(AttemptReport& report) const;
  Result<> commit(bool last);
  /// For the next runs. Joins the open group.
  Result<> keep_learned();
  /// What earlier runs have seen of the queues of sites that the engine was not told of yet.
  void recall_queues();
  /// The journal cannot be written: takes back what has not begun.
  void hold_tasks(const Error& why);
  /// Hands what waits to the store.
  void write_group();
  /// A result counts for later runs only if its inputs are what they were when it was started.
  void check_inputs(AttemptEnded& ended, const Inputs& inputs);
  /// A file that the task itself has written is no input.
  [[nodiscard]] bool is_own_work(const AttemptEnded& ended, const ContentCache::Used& used) const;
  /// Nobody could record any more how tasks end: ends those that run.
  tl::unexpected<Error> abandon(Error error);
  /// Why finished tasks run again.
  void tell_outdated();
  void show_progress();
  [[nodiscard]] Progress progress() const;
  [[nodiscard]] LiveFacts live_facts(const Progress& progress);
  [[nodiscard]] store::Counts counts() const;
  [[nodiscard]] Summary summary() const;

  const Sweep& sweep_;
  const Options& options_;
  const Observer& observer_;
  store::Store& store_;
  ContentCache& contents_;
  GridLaunch& sites_;
  Launcher& launcher_;  ///< of them all
  const SharedInputs& shared_;
  const Clock& clock_;
  PreparedRun run_;
  std::optional<StopSignals> signals_;

  std::map<TaskKey, Inputs> inputs_;              ///< of attempts that we have started
  std::vector<std::pair<Event, Inputs>> group_;   ///< journalled by the next commit
  std::map<std::string, std::uint32_t> changed_;  ///< Summary::changed

  std::map<HostId, std::string> host_names_;
  struct FarHost {
    SiteId site;
    store::SiteHost name;
    bool given = false;  ///< the store has been told
  };
  std::map<HostId, FarHost> far_hosts_;       ///< at sites
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
  std::set<TaskKey> adopted_;  ///< run, as the launcher says, and were not started by us
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
  std::uint32_t executed_ = 0;
  std::uint32_t ended_ = 0;
  std::uint32_t cut_ = 0;  ///< Summary::cut
  std::deque<std::pair<TimePoint, std::uint32_t>>
      pace_;  ///< (when, ended so far), over the last seconds
  int stops_ = 0;
};

}  // namespace gantry::driver
