#pragma once
/// The desk's one object, for job_desk*.cpp only.

#include <algorithm>
#include <chrono>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "agent/causes.hpp"
#include "agent/frame_stream.hpp"
#include "agent/job_desk.hpp"
#include "agent/job_folder.hpp"
#include "agent/load_report.hpp"
#include "agent/shell_command.hpp"
#include "agent/task_queue.hpp"

namespace gantry::agent {

class JobDesk {
 public:
  JobDesk(DeskConfig config, UniqueFd gantry, UniqueFd lock)
      : config_(std::move(config)), lock_(std::move(lock)), gantry_(std::move(gantry)) {}

  /// Batches of an earlier desk.
  Result<> recover();
  Result<> serve();

 private:
  using Clock = std::chrono::steady_clock;
  enum class Asked { nothing, submit, queue, cancel };
  struct Element {
    Start start;
    bool begun = false;
    bool ended = false;
    bool told = false;         ///< gantry was told that it runs
    bool cancelled = false;    ///< as gantry wanted
    std::uint32_t missed = 0;  ///< looks at the queue that did not show it
    std::uint32_t unfit = 0;   ///< looks at the queue in which no node was large enough for it
  };
  struct Batch {
    JobFolder folder;
    std::vector<Element> elements;  ///< number i at i - 1
    std::string job{};              ///< empty while nobody knows
    std::size_t unacknowledged = 0;
    bool written = true;  ///< else no job can find its task

    [[nodiscard]] bool is_over() const { return std::ranges::all_of(elements, &Element::ended); }
  };
  using Batches = std::map<std::uint32_t, Batch>;
  struct Report {
    std::uint64_t receipt = 0;
    std::uint32_t batch = 0;  ///< 0: it was in none
    std::string body;         ///< of an Ended frame
  };

  // job_desk.cpp: gantry.
  void on_frames();
  void on_message(const Frame& frame);
  void on_hello(Hello hello);
  void on_cancel(const AttemptKey& key);
  void on_recall(const std::vector<AttemptKey>& keys);
  /// Gives back what waits, in the queue or for it, if it is concerned.
  void take_back(const std::function<bool(const Start&)>& concerns);
  /// No task that needs as much will ever run here.
  void refuse(const Claim& claim, const std::string& why);
  [[nodiscard]] bool is_refused(const Start& start) const;
  void on_ack(std::uint64_t receipt);
  void report(std::uint32_t batch, std::string body);
  void give_back(const AttemptKey& key);
  /// Once, until a job was submitted; numbers in it do not make it another.
  void tell(const std::string& text);
  void rest(Clock::time_point now, const std::string& why);
  void end_rest(Clock::time_point now);
  void tell_load(Clock::time_point now);

  // job_desk_queue.cpp: the batch system.
  [[nodiscard]] std::filesystem::path batch_path(std::uint32_t number) const;
  [[nodiscard]] std::size_t open_elements() const;
  /// Nobody will start it any more: true unless it has been started.
  bool withdraw(Batch& batch, std::uint32_t index);
  void end(std::uint32_t number, std::uint32_t index, std::string body);
  void end_unrun(std::uint32_t number, std::uint32_t index, Cause cause, const std::string& why);
  /// Reports and claims that have appeared.
  void look_at_files(std::uint32_t number, Batch& batch);
  void drop_if_done(std::uint32_t number);
  void ask_next(Clock::time_point now);
  bool ask_to_submit(Clock::time_point now);
  [[nodiscard]] std::string submit_text(std::uint32_t batch, const std::vector<Start>& tasks) const;
  void on_answer(const ShellCommand::Answer& answer, Clock::time_point now);
  void on_submitted(const ShellCommand::Answer& answer, Clock::time_point now);
  void on_queue(const ShellCommand::Answer& answer, Clock::time_point now);
  void on_unfit(Element& element, const std::string& reason);
  void on_unseen(std::uint32_t number, std::uint32_t index);
  void cancel_job(std::uint32_t number, std::uint32_t index);
  /// The batch system's name of it is known now.
  void name_job(std::uint32_t number, const std::string& job);
  /// A job that nobody sees does not have to be cancelled.
  void forget_unnamed();

  DeskConfig config_;
  UniqueFd lock_;
  FrameStream gantry_;
  std::optional<Hello> hello_;
  LoadReporter load_;
  Clock::time_point load_at_ = Clock::time_point::max();
  Clock::time_point files_at_{};

  std::deque<Start> waiting_;
  Clock::time_point waiting_since_{};
  Batches batches_;
  std::uint32_t next_batch_ = 1;
  std::vector<Claim> refused_;
  std::set<std::uint32_t> known_cores_;  ///< of jobs that were submitted
  std::deque<Report> reports_;           ///< not acknowledged
  std::uint64_t receipts_ = 0;

  ShellCommand command_;
  Asked asked_ = Asked::nothing;
  Clock::time_point asked_at_{};
  std::uint32_t submitting_ = 0;
  Clock::time_point submit_at_{};
  Clock::time_point look_at_{};
  std::uint32_t failures_ = 0;  ///< commands in a row
  std::vector<std::string> cancels_;
  /// To cancel once their job is known, and the looks at the queue that did not show it.
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> unnamed_;
  std::set<std::string> told_;
  std::optional<Clock::time_point> refused_since_{};  ///< every job, without one that was taken
  std::optional<Clock::time_point> rests_until_{};
  std::uint32_t rests_ = 0;  ///< without a job that was taken
};

}  // namespace gantry::agent
