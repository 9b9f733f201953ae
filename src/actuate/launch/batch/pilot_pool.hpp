#pragma once
/// The jobs of a batch site, each of which runs an agent on a node: submits as many as there is
/// work for, looks after all of them with one command every few seconds, submits again those that
/// ended while there is work, and cancels those that nobody needs. Jobs of an earlier gantry are
/// found by their names. Never waits. Owned by the site's launcher.

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "actuate/launch/batch/batch_system.hpp"
#include "actuate/launch/batch/pilot_need.hpp"
#include "actuate/launch/ssh/remote_shell.hpp"
#include "actuate/launch/ssh/remote_site.hpp"
#include "actuate/launcher.hpp"

namespace gantry {

class PilotPool {
 public:
  using Clock = std::chrono::steady_clock;

  struct Patience {
    Clock::duration look_every = std::chrono::seconds(2);
    Clock::duration first_retry = std::chrono::seconds(2);
    /// A job that is in no answer: answers may be old, or lack something now and then.
    Clock::duration missing = std::chrono::seconds(60);
    /// The same before it was ever seen, and when answers are empty.
    Clock::duration unseen = std::chrono::minutes(2);
  };

  /// Both must outlive this. REQUIRES: site.batch.
  PilotPool(const RemoteSite& site, const AgentBinary& binary, Patience patience);

  /// Goes on as far as it can. Appends notices.
  void poll(Clock::time_point now, std::vector<News>& events);

  /// The job of the site's host number `index` runs, as far as we know.
  [[nodiscard]] bool lends(std::size_t index) const {
    return pilots_[index].state == State::running;
  }
  /// It has been found out which jobs there are, or nobody could be asked.
  [[nodiscard]] bool has_looked() const { return looked_; }
  /// It may run one day.
  [[nodiscard]] bool expects(std::size_t index) const {
    return pilots_[index].state != State::given_up;
  }
  /// It waits in the queue, or is on its way there.
  [[nodiscard]] bool is_queued(std::size_t index) const {
    return pilots_[index].state == State::queued;
  }
  /// The batch system has stopped it for the time being.
  [[nodiscard]] bool is_suspended(std::size_t index) const {
    return pilots_[index].state == State::suspended;
  }
  /// The agent of that host has answered, and `free` slots of it have nothing to do.
  void on_use(std::size_t index, std::uint32_t free, Clock::time_point now);
  /// Tasks with so many cores wait for a host.
  void want(std::uint64_t cores) { wanted_ = cores; }
  /// It was given back because nobody needed it.
  [[nodiscard]] bool gave_back(std::size_t index) const {
    return !pilots_[index].given_back.empty();
  }

  /// From now on no job is submitted; those for which `idle` is true, and those that have not been
  /// started, are cancelled. Done when is_released().
  void release(const std::vector<bool>& idle);
  [[nodiscard]] bool is_released() const {
    const bool waits = asked_ == Asked::submit || asked_ == Asked::cancel;
    return releasing_ && surplus_.empty() && !waits;
  }

  /// It is not connected to.
  void on_down(std::size_t index) {
    pilots_[index].up = false;
    pilots_[index].free_since.reset();
  }

  void add_wanted(std::vector<ReadySet::Wanted>& wanted) const { shell_.add_wanted(wanted); }
  /// Appends what may be left in the queue, and how to cancel it.
  void close(std::vector<News>& events);

 private:
  enum class State { unknown, absent, queued, running, suspended, ending, given_up };
  enum class Asked { nothing, queue, submit, cancel };
  struct Pilot {
    std::string job_name;
    State state = State::unknown;
    std::string job{};
    Clock::time_point submit_at = Clock::time_point::min();
    std::uint32_t refused = 0;   ///< times in a row that it could not be submitted
    std::uint32_t failures = 0;  ///< jobs in a row that ended without having answered
    std::uint32_t missed = 0;    ///< looks at the queue that did not show it
    std::optional<Clock::time_point> missing_since{};  ///< or submitted, and not seen yet
    bool submitted = false;                            ///< perhaps: by this gantry
    bool seen = false;        ///< its job is, or was, in the queue, as an answer or its agent says
    bool answered = false;    ///< its job's agent has been connected to
    std::uint32_t unfit = 0;  ///< looks in which no node was large enough for it
    bool up = false;
    bool used = false;                               ///< something was given to it
    std::uint32_t free = 0;                          ///< slots, while it is up
    std::optional<Clock::time_point> free_since{};   ///< all of them
    std::optional<Clock::time_point> spare_since{};  ///< what waits does not need it
    std::string given_back{};  ///< the job, while it may still be in the queue
    /// By this gantry, and it was neither answered nor suspended since.
    std::optional<Clock::time_point> submitted_at{};
    bool told_awaited = false;
  };

  void ask_next(Clock::time_point now);
  /// Which jobs wait, and how long those waited that have come.
  void tell_waits(Clock::time_point now, std::vector<News>& events);
  /// Jobs that nobody has needed for a while are to be cancelled.
  void give_back_spare(Clock::time_point now);
  [[nodiscard]] std::vector<PilotUse> uses(Clock::time_point now) const;
  void ask_to_submit(std::size_t index);
  void on_answer(const RemoteShell::Answer& answer, Clock::time_point now,
                 std::vector<News>& events);
  void on_queue(const RemoteShell::Answer& answer, Clock::time_point now,
                std::vector<News>& events);
  /// Which of these the pilot is; nullptr: none. What it is not is cancelled.
  const BatchJob* find_job(const Pilot& pilot, const std::vector<BatchJob>& jobs,
                           Clock::time_point now);
  void on_job(Pilot& pilot, const BatchJob& job, Clock::time_point now, std::vector<News>& events);
  /// `whole`: the answer that it is not in.
  void on_missing(Pilot& pilot, bool whole, Clock::time_point now, std::vector<News>& events);
  [[nodiscard]] bool is_gone(const Pilot& pilot, bool whole, Clock::time_point now) const;
  void on_gone(Pilot& pilot, Clock::time_point now, std::vector<News>& events);
  void on_submitted(const RemoteShell::Answer& answer, Clock::time_point now,
                    std::vector<News>& events);
  void on_unfit(Pilot& pilot, const BatchJob& job, Clock::time_point now,
                std::vector<News>& events);
  /// The job is cancelled, and never taken for the pilot again.
  void drop(const std::string& job, Clock::time_point now);
  void give_up(Pilot& pilot, const std::string& why, std::vector<News>& events);
  [[nodiscard]] Clock::duration wait_after(std::uint32_t failures) const;
  [[nodiscard]] std::string_view cancel_program() const;
  void tell(const std::string& text, std::vector<News>& events);
  void on_cancelled(const RemoteShell::Answer& answer, std::vector<News>& events);
  void tell_not_cancelled(const std::string& why, std::vector<News>& events);
  [[nodiscard]] std::uint32_t slots_of(std::size_t index) const;
  [[nodiscard]] std::string folder_of(const Pilot& pilot) const;

  const RemoteSite& site_;
  const AgentBinary& binary_;
  Patience patience_;
  RemoteShell shell_;
  std::vector<Pilot> pilots_;  ///< as the site's hosts
  std::vector<std::string> names_;
  std::vector<std::string> surplus_;                  ///< jobs to be cancelled
  std::map<std::string, Clock::time_point> dropped_;  ///< jobs that were, when last
  Asked asked_ = Asked::nothing;
  std::size_t submitting_ = 0;
  Clock::time_point asked_at_;
  Clock::time_point look_at_ = Clock::time_point::min();
  std::uint32_t silences_ = 0;  ///< looks in a row that failed
  bool looked_ = false;
  bool releasing_ = false;
  std::uint64_t wanted_ = 0;
  std::uint32_t in_vain_ =
      0;  ///< jobs in a row that were given back unused, though something waited
  Clock::time_point submit_after_ = Clock::time_point::min();
  std::string told_;
};

}  // namespace gantry
