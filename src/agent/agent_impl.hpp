#pragma once
/// The agent's one object, for agent*.cpp only: connections and messages drive it, the parts it
/// owns know nothing of each other.

#include <array>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "agent/agent.hpp"
#include "agent/frame_stream.hpp"
#include "agent/load_report.hpp"
#include "agent/poller.hpp"
#include "agent/processor_share.hpp"
#include "agent/protocol.hpp"
#include "agent/report_book.hpp"
#include "agent/slot_pool.hpp"
#include "agent/task_queue.hpp"
#include "base/fd.hpp"
#include "base/result.hpp"

namespace gantry::agent {

class Agent {
 public:
  Agent(AgentConfig config, UniqueFd lock, Poller poller)
      : config_(std::move(config)),
        lock_(std::move(lock)),
        poller_(std::move(poller)),
        slots_({config_.dir, config_.output_dir, config_.mark, 0, config_.keeper, lock_.get()}) {}

  Result<> recover();
  Result<> listen();
  Result<> loop();

 private:
  using SteadyClock = std::chrono::steady_clock;
  using Kept = ReportBook::Kept;
  static constexpr auto kNotNow = SteadyClock::time_point::max();
  static constexpr std::uint64_t kListenToken = ~std::uint64_t{0};
  static constexpr std::uint64_t kGantryToken = ~std::uint64_t{0} - 1;
  static constexpr std::size_t kNewcomers = 8;  ///< at once; one more takes the oldest one's place
  static constexpr std::uint64_t kNewcomerToken = kGantryToken - kNewcomers;
  static constexpr std::uint64_t kStopToken = kNewcomerToken - 1;

  [[nodiscard]] bool may_leave(SteadyClock::time_point now);
  [[nodiscard]] std::chrono::milliseconds time_to_wait(SteadyClock::time_point now) const;
  [[nodiscard]] Welcome introduction() const;
  [[nodiscard]] std::filesystem::path unsaved_path() const { return config_.dir / "unsaved.log"; }
  void clean_up();
  // Connections.
  void on_event(std::uint64_t token);
  void accept_newcomer();
  void serve_newcomer(std::size_t index);
  void serve_gantry();
  void take_messages();
  void drop_gantry();
  void note_news();
  void flush();
  void tell_load(SteadyClock::time_point now);
  std::uint32_t look_at_share(SteadyClock::time_point now);
  // Messages from gantry.
  void on_message(const Frame& frame);
  void on_hello(Hello hello);
  void on_start(const Frame& frame);
  void on_cancel(const AttemptKey& key);
  void on_tell(const Tell& tell);
  void on_recall(const std::vector<AttemptKey>& keys);
  // The end, when a signal asks for it.
  Result<> watch_signals();
  void on_stop_signal();
  /// What has not begun goes back, what runs ends.
  void begin_to_stop(const char* why);
  /// The host is lent until then: tells tasks that want to be told, and stops when it is time.
  void heed_end(SteadyClock::time_point now);
  [[nodiscard]] bool has_time_for(const PackedStart& start) const;
  [[nodiscard]] std::string unless_stopped(const Slot& slot, std::string body);
  [[nodiscard]] bool is_stopping() const { return stop_at_ != kNotNow; }
  [[nodiscard]] bool may_stop(SteadyClock::time_point now);
  // Tasks.
  void dispatch();
  void begin(const PackedStart& start);
  void on_no_slot(const PackedStart& start, const Error& why);
  void encode_start(std::size_t index, const PackedStart& start);
  void give_successors(std::size_t index);
  void recall_successors(std::size_t index, Successor::Recalled why);
  void on_returned(std::size_t index, const AttemptKey& key);
  void share_out_successors();
  void serve_slot(std::size_t index);
  void wake_stopped_slots();
  void end_task(std::size_t index, std::string body, Kept kept);
  void on_slot_died(std::size_t index);
  void add_report(std::size_t slot, std::string body, Kept kept);

  AgentConfig config_;
  UniqueFd lock_;
  Poller poller_;
  UniqueFd listener_;
  UniqueFd signals_;
  std::array<FrameStream, kNewcomers> newcomers_;  ///< have not said hello yet
  std::size_t next_newcomer_ = 0;
  FrameStream gantry_;
  SteadyClock::time_point born_ = SteadyClock::now();
  SteadyClock::time_point flush_at_ = kNotNow;  ///< when the news must be sent
  SteadyClock::time_point looked_for_stopped_ = born_;
  SteadyClock::time_point load_at_ = kNotNow;  ///< when gantry is told what the host has left
  SteadyClock::time_point busy_at_ = born_;    ///< when there last was a gantry or a running task
  SteadyClock::time_point stop_at_ = kNotNow;  ///< at the latest, while it ends
  SteadyClock::time_point ends_at_ =           ///< of the time for which the host is lent
      config_.time.count() > 0 ? born_ + config_.time : kNotNow;
  LoadReporter load_;
  ProcessorShare share_;
  bool was_served_ = false;
  bool crowded_ = false;  ///< no more slots can be made; until one is free
  bool said_crowded_ = false;

  Hello hello_;
  TaskQueue queue_;
  SlotPool slots_;
  ReportBook book_;
};

}  // namespace gantry::agent
