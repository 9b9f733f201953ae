#pragma once
/// The conversation with one agent, over whatever connection there is at the time: what was handed
/// over, what runs, what was reported. Never waits. Owned by a launcher.

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "actuate/launcher.hpp"
#include "agent/frame_stream.hpp"
#include "agent/protocol.hpp"

namespace gantry {

/// A report, and what comes back with it that only its launcher understands.
struct AgentReport {
  ReportReceived received;
  std::string tag{};   ///< as it was in the Start
  bool swept = false;  ///< nothing of the attempt is left in its sandbox
};

class AgentChannel {
 public:
  /// `place` is said in messages.
  AgentChannel(HostId host, std::string place, agent::Hello hello)
      : host_(host), place_(std::move(place)), hello_(std::move(hello)) {}

  /// Says hello over a new connection: the agent answers with its inventory.
  void attach(UniqueFd socket);
  void detach() { stream_.close(); }
  [[nodiscard]] bool attached() const { return static_cast<bool>(stream_); }
  /// The agent has told what runs and every report that nobody has acknowledged.
  [[nodiscard]] bool is_open() const { return welcomed_ && reports_expected_ == 0; }
  [[nodiscard]] HostId host() const { return host_; }
  /// Nothing was handed over or runs there that it has not reported.
  [[nodiscard]] bool is_idle() const { return outstanding_.empty(); }
  /// How many were and have not been.
  [[nodiscard]] std::size_t outstanding() const { return outstanding_.size(); }

  /// False, and a report that says so, when no agent could be told of this task.
  bool start(const agent::Start& start);
  void cancel(const TaskKey& key);
  void signal(const TaskKey& key, std::int32_t signal);
  /// No keys: everything.
  void recall(std::span<const TaskKey> keys);
  /// Receipts of earlier connections mean nothing to the agent, which reports anew.
  void acknowledge(std::uint64_t receipt);

  void send() { stream_.send(); }
  /// Takes in some of what has arrived, at least one message if there is one; false when the
  /// connection is broken.
  bool receive();
  /// Why it makes no sense to connect again.
  [[nodiscard]] const std::optional<Error>& problem() const { return problem_; }
  /// How many ends it has told, beside those of its inventory.
  [[nodiscard]] std::uint64_t ends_heard() const { return ends_heard_; }
  /// Messages of any kind: signs of life.
  [[nodiscard]] std::uint64_t frames_heard() const { return frames_heard_; }
  /// What its host has, once it is open.
  [[nodiscard]] std::uint32_t cores() const { return cores_; }
  [[nodiscard]] std::uint64_t memory() const { return memory_; }
  /// Of the time for which tasks may use the host, when it was opened; 0 = no end.
  [[nodiscard]] Duration left() const { return left_; }
  /// What it says that it will never run.
  [[nodiscard]] const std::vector<Refusal>& refusals() const { return refusals_; }
  /// It takes nothing at present, and why: what a person is to be told, if anything.
  [[nodiscard]] const std::optional<std::string>& resting() const { return resting_; }
  /// What the host had left when it was heard of last.
  [[nodiscard]] const std::optional<agent::Load>& load() const { return load_; }

  /// After a new agent's inventory: what was handed over to the one before, and neither runs nor
  /// was reported, is given back, or lost if it had been started.
  void settle();
  /// The host is given up: what was handed over is no longer expected from here.
  void forget() {
    outstanding_.clear();
    cores_given_ = memory_given_ = 0;
    events_.clear();
    reports_.clear();
  }

  /// What has happened, to be taken away: first this, then the reports.
  std::vector<News>& events() { return events_; }
  std::vector<AgentReport>& reports() { return reports_; }
  /// Seconds between hand-over and start of tasks that the host was free for, by our clock; to be
  /// taken away. May be any number.
  std::vector<double>& waits() { return waits_; }

  [[nodiscard]] int fd() const { return stream_.fd(); }
  [[nodiscard]] bool wants_to_send() const { return stream_.wants_to_send(); }

 private:
  using SteadyClock = std::chrono::steady_clock;
  /// Handed over or adopted, not yet reported or returned.
  struct Given {
    TimePoint started = kNever;  ///< as far as we know
    std::uint64_t cores = 0;
    std::uint64_t memory = 0;
    /// When it was handed over, if the host had room for it at once and this connection lasts.
    std::optional<SteadyClock::time_point> handed{};
  };

  static constexpr int kEpochShift = 48;
  static constexpr std::uint64_t kReceiptMask = (std::uint64_t{1} << kEpochShift) - 1;

  bool on_frame(const agent::Frame& frame);
  bool on_welcome(const agent::Frame& frame);
  bool on_ended(const agent::Frame& frame);
  void on_running(const TaskKey& key, TimePoint started);
  void give(const agent::Start& start);
  /// It was reported or returned.
  void take_off(const TaskKey& key);
  void refuse(const agent::Start& start);
  void give_up(const TaskKey& key, TimePoint started);

  HostId host_;
  std::string place_;
  agent::Hello hello_;
  agent::FrameStream stream_;
  std::vector<News> events_;
  std::vector<AgentReport> reports_;
  std::vector<double> waits_;
  std::map<TaskKey, Given> outstanding_;
  std::uint64_t cores_given_ = 0;  ///< of them all
  std::uint64_t memory_given_ = 0;
  std::set<TaskKey> running_now_;  ///< as the agent's last welcome said
  std::optional<Error> problem_;
  std::optional<agent::Load> load_;
  std::vector<Refusal> refusals_;
  std::optional<std::string> resting_;
  std::uint64_t epoch_ = 0;
  std::uint64_t last_receipt_ = 0;
  std::uint64_t ends_heard_ = 0;
  std::uint64_t frames_heard_ = 0;
  std::uint32_t reports_expected_ = 0;
  std::uint32_t cores_ = 0;
  std::uint64_t memory_ = 0;
  Duration left_{0};
  bool welcomed_ = false;
};

}  // namespace gantry
