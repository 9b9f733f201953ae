#pragma once
/// The shepherd's one object, for shepherd*.cpp only: it listens to the agent between tasks and
/// while one runs.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "agent/limit_watch.hpp"
#include "agent/output_capture.hpp"
#include "agent/protocol.hpp"
#include "agent/shepherd.hpp"
#include "agent/slot_log.hpp"
#include "agent/task_environment.hpp"
#include "agent/task_files.hpp"
#include "base/time.hpp"

namespace gantry::agent {

/// For processes that were killed to go.
inline constexpr int kKillPatienceMs = 20'000;
/// How long a report may wait for others while more tasks are at hand, and how many bytes of them:
/// the agent, when it is woken, takes time from a task.
inline constexpr Duration kReportDelay = std::chrono::milliseconds(5);
inline constexpr std::size_t kMostUnsent = std::size_t{32} << 10;

class Shepherd {
 public:
  Shepherd(ShepherdConfig config, UniqueFd socket)
      : config_(std::move(config)),
        socket_(std::move(socket)),
        out_(config_.output_dir, "out"),
        err_(config_.output_dir, "err"),
        environment_(config_.mark) {}

  [[noreturn]] void run();

 private:
  // shepherd.cpp: the agent.
  bool prepare();
  /// Blocks for bytes from the agent and takes in whole messages. Without an agent there is nothing
  /// to live for.
  void receive();
  [[noreturn]] void leave();
  void on_hello(Hello hello);
  void on_cancel(const AttemptKey& key);
  void on_tell(const Tell& tell);
  /// Gives up what waits here, but for the first `keep`.
  void give_back(std::size_t keep);
  void send_reports();

  // shepherd_task.cpp: one task.
  void run_task(const Start& start);
  bool launch(const Start& start);
  /// Long output is taken away from a site once it is at home, and so has a file of its own there.
  /// At home thousands of tasks share one.
  [[nodiscard]] std::string output_stem(const Start& start) const;
  /// Puts the inputs into the task's sandbox. What the depot lacks is not the task's fault.
  bool stage(const Start& start);
  void lose(Staging staging);
  bool not_started(int error, const std::string& what);
  /// Until the task's first process has ended: output, messages, time and memory limits. When the
  /// task was asked to end, the rest of its tree has as much time for that as the first process.
  void supervise(const Start& start);
  /// How long nothing has to be looked at; nothing when that is for ever.
  [[nodiscard]] std::optional<Duration> until_next_check() const;
  void check_limits(const Start& start);
  static void carry_out(LimitWatch::Do what);
  /// Collects what has ended; true when nothing is left.
  bool reap(const Start& start);
  void judge(const Start& start, int status);
  /// It was asked to, and has ended in time as a task does that did.
  [[nodiscard]] bool saved_its_state(const Start& start, int status) const;
  void check_files(const Start& start);
  void keep_outputs(const Start& start);
  /// Sandboxes from which nothing is to be fetched would only lie about until somebody has the
  /// time.
  void sweep(const Start& start);
  void report();

  ShepherdConfig config_;
  UniqueFd socket_;
  UniqueFd null_;
  UniqueFd child_signals_;  ///< can be read when a child has ended
  std::optional<SlotLog> log_;
  OutputCapture out_;
  OutputCapture err_;
  FrameReader reader_;
  std::deque<Start> queue_;
  TaskEnvironment environment_;
  Duration grace_{0};
  std::string frame_;
  std::string unsent_;  ///< reports to the agent; all are in the log
  SteadyTime unsent_since_;

  Ended current_;
  std::optional<AttemptKey> cancelled_early_;  ///< a waiting task that must not start
  pid_t child_ = -1;
  bool running_ = false;
  OldFiles old_files_;
  bool first_ended_ = false;  ///< the process that was started for the task
  /// Until then its end is a checkpoint, if it says so.
  std::optional<SteadyTime> checkpoint_until_;
  LimitWatch watch_;
  std::uint64_t oom_kills_ = 0;
};

}  // namespace gantry::agent
