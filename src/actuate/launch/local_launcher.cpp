#include "actuate/launch/local_launcher.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sched.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "actuate/launch/agent_process.hpp"
#include "agent/causes.hpp"
#include "agent/frame_stream.hpp"
#include "agent/protocol.hpp"
#include "agent/slot_log.hpp"

extern char** environ;

namespace gantry {

namespace {

using agent::AttemptKey;
using agent::MessageType;

constexpr HostId kLocalHost{1};
/// For a sign of life while the agent tells what is there.
constexpr auto kAgentPatience = std::chrono::seconds(30);
/// Of the agent, without a task's end in between, before we believe that something is wrong.
constexpr int kMaxRestarts = 10;

#define SAME(a, b) \
  static_assert(static_cast<int>(agent::Cause::a) == static_cast<int>(FailureCause::b))
SAME(none, none);
SAME(exit_code, exit_code);
SAME(signal, signal);
SAME(timeout, timeout);
SAME(out_of_memory, out_of_memory);
SAME(missing_output, missing_output);
SAME(start_failed, start_failed);
SAME(cancelled, cancelled);
SAME(lost, lost);
#undef SAME

AttemptKey to_wire(const TaskKey& key) {
  return {key.run.value(), key.task.value(), key.attempt.value()};
}
TaskKey from_wire(const AttemptKey& key) {
  return {RunId(key.run), TaskId(key.task), AttemptId(key.attempt)};
}

CapturedOutput from_wire(agent::Captured&& c) {
  return {c.size, std::move(c.text), std::move(c.pack), c.offset, c.truncated};
}

AttemptReport from_wire(agent::Ended&& m) {
  AttemptReport report;
  report.key = from_wire(m.key);
  report.cause = static_cast<FailureCause>(m.cause);
  report.code = m.code;
  report.detail = std::move(m.detail);
  report.started = from_ns(m.started_ns);
  report.ended = from_ns(m.ended_ns);
  report.usage = {Duration(m.user_ns), Duration(m.system_ns), m.max_rss};
  report.out = from_wire(std::move(m.out));
  report.err = from_wire(std::move(m.err));
  report.collected = std::move(m.collected);
  return report;
}

std::string to_tag(const Fingerprint& f) {
  std::string tag;
  Encoder e(tag);
  for (const Digest& d : {f.command, f.environment, f.inputs}) e.u64(d.high).u64(d.low);
  return tag;
}

Fingerprint from_tag(std::string_view tag) {
  Decoder d(tag);
  Fingerprint f;
  for (Digest* part : {&f.command, &f.environment, &f.inputs}) {
    part->high = d.u64();
    part->low = d.u64();
  }
  return d.ok() ? f : Fingerprint{};
}

/// Ours, without what a surrounding gantry task has put there.
std::vector<std::string> inherited_environment() {
  std::vector<std::string> out;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto name = text.substr(0, text.find('='));
    if (name == "GANTRY_RUN" || name == "GANTRY_TASK" || name == "GANTRY_ATTEMPT" ||
        name == "GANTRY_AGENT_MARK" || name.starts_with("GANTRY_PARAM_")) {
      continue;
    }
    out.emplace_back(text);
  }
  return out;
}

agent::Start to_wire(const TaskKey& key, const Task& task) {
  agent::Start start;
  start.key = to_wire(key);
  start.cores = task.resources.cores;
  start.memory = task.resources.memory;
  start.timeout_ns = task.timeout.count();
  start.argv = task.argv;
  start.environment.reserve(task.environment.size() + task.parameters.size() + 3);
  for (const auto& [name, value] : task.environment)
    start.environment.push_back(name + "=" + value);
  start.environment.push_back(fmt::format("GANTRY_RUN={}", key.run.value()));
  start.environment.push_back(fmt::format("GANTRY_TASK={}", key.task.value()));
  start.environment.push_back(fmt::format("GANTRY_ATTEMPT={}", key.attempt.value()));
  for (const auto& [name, value] : task.parameters) {
    start.environment.push_back("GANTRY_PARAM_" + name + "=" + value);
  }
  start.workdir = task.workdir;
  start.make_workdir = task.make_workdir;
  start.outputs = task.outputs;
  start.collect = task.collect;
  return start;
}

class LocalLauncher final : public Launcher {
 public:
  explicit LocalLauncher(LocalSite site) : site_(std::move(site)) {}

  Result<> open() override {
    TRY(connect());
    char name[256] = "localhost";
    ::gethostname(name, sizeof name - 1);
    events_.insert(events_.begin(), HostAppeared{{kLocalHost, name, site_.cores, site_.memory}});
    return {};
  }

  void start(const TaskKey& key, HostId, const Task& task,
             const Fingerprint& fingerprint) override {
    agent::Start message = to_wire(key, task);
    message.tag = to_tag(fingerprint);
    const std::size_t before = stream_.outbox().size();
    encode(stream_.outbox(), message);
    if (stream_.outbox().size() - before > agent::kMaxFrame) {
      stream_.outbox().resize(before);
      return refuse(key, fingerprint);
    }
    outstanding_[key] = kNever;
  }

  void cancel(const TaskKey& key, HostId) override {
    encode(stream_.outbox(), agent::Cancel{to_wire(key)});
  }

  void recall(HostId) override { encode(stream_.outbox(), agent::Recall{}); }

  void acknowledge(std::uint64_t receipt) override {
    // Receipts of an agent that has died mean nothing to its successor, which reports anew.
    if (receipt >> kEpochShift == epoch_)
      encode(stream_.outbox(), agent::Ack{receipt & kReceiptMask});
  }

  Result<> poll(std::vector<LauncherEvent>& events) override {
    stream_.send();
    if (!receive()) TRY(reconnect());
    std::move(events_.begin(), events_.end(), std::back_inserter(events));
    events_.clear();
    return {};
  }

  [[nodiscard]] int wait_fd() const override { return stream_.fd(); }
  [[nodiscard]] bool wants_to_send() const override { return stream_.wants_to_send(); }

  void close() override {
    stream_.send();
    // Bounded: whoever closes may be about to end because a person asked for it.
    for (int i = 0; i < 100 && stream_.wants_to_send(); ++i) {
      wait_for(POLLOUT, std::chrono::milliseconds(100));
      stream_.send();
    }
    stream_.close();
  }

 private:
  static constexpr int kEpochShift = 48;
  static constexpr std::uint64_t kReceiptMask = (std::uint64_t{1} << kEpochShift) - 1;

  /// Says hello and takes in the agent's inventory: what runs, and the reports that nobody has
  /// acknowledged.
  Result<> connect() {
    for (int attempt = 0; attempt < 4; ++attempt) {
      TRY_ASSIGN(UniqueFd socket, connect_agent(site_.state_dir));
      stream_ = agent::FrameStream(std::move(socket));
      welcomed_ = false;
      reports_expected_ = 0;
      ++epoch_;
      encode(stream_.outbox(), agent::Hello{agent::kProtocolVersion, site_.cores, site_.memory,
                                            site_.grace.count(), inherited_environment()});
      if (await_inventory()) return {};
      if (problem_) return tl::unexpected<Error>(*problem_);
      // An agent that was just about to exit may have accepted: the next one will answer.
    }
    return fail(ErrorCode::peer, "the agent breaks off in " + site_.state_dir.string());
  }

  /// False when the agent is gone, or alive and silent (`problem_` says so).
  bool await_inventory() {
    while (!welcomed_ || reports_expected_ > 0) {
      stream_.send();
      const short what = stream_.wants_to_send() ? POLLIN | POLLOUT : POLLIN;
      const int ready = wait_for(what, kAgentPatience);
      if (ready == 0) {
        problem_ =
            Error{ErrorCode::peer,
                  "the agent in " + (site_.state_dir / "agent").string() + " does not answer",
                  "is it stopped? its process is named in the file \"pid\" there"};
        return false;
      }
      if (!receive()) return false;
    }
    return true;
  }

  /// No agent could be told of this task.
  void refuse(const TaskKey& key, const Fingerprint& fingerprint) {
    AttemptReport report;
    report.key = key;
    report.cause = FailureCause::start_failed;
    report.code = E2BIG;
    report.detail = "its arguments and environment are too long";
    report.started = report.ended = RealClock{}.now();
    events_.emplace_back(ReportReceived{std::move(report), fingerprint, kLocalHost, last_receipt_});
  }

  /// Nobody can say what became of this attempt.
  void give_up(const TaskKey& key, TimePoint started) {
    AttemptReport report;
    report.key = key;
    report.cause = FailureCause::lost;
    report.detail = "its agent died and left no record of it";
    report.started = started;
    report.ended = RealClock{}.now();
    events_.emplace_back(ReportReceived{std::move(report), {}, kLocalHost, last_receipt_});
  }

  Result<> reconnect() {
    if (problem_) return tl::unexpected<Error>(*problem_);
    if (++restarts_ > kMaxRestarts) {
      return fail(ErrorCode::peer, fmt::format("the agent died {} times in a row", restarts_),
                  "see " + (site_.state_dir / "agent/agent.log").string());
    }
    events_.emplace_back(LauncherNotice{"the agent died; starting another one"});
    running_now_.clear();
    TRY(connect());
    // What we handed over and the new agent neither runs nor reports: lost if it had been started.
    for (const auto& [key, started] : std::exchange(outstanding_, {})) {
      if (running_now_.contains(key)) {
        outstanding_[key] = started;
      } else if (started == kNever) {
        events_.emplace_back(TaskReturned{key, kLocalHost});
      } else {
        give_up(key, started);
      }
    }
    return {};
  }

  int wait_for(short what, Duration timeout) {
    pollfd fd{stream_.fd(), what, 0};
    const auto ms = std::chrono::ceil<std::chrono::milliseconds>(timeout).count();
    return ::poll(&fd, 1, static_cast<int>(std::min<std::int64_t>(ms, 60'000)));
  }

  /// Takes in what has arrived; false when the connection is broken.
  bool receive() {
    for (;;) {
      const auto received = stream_.receive(std::size_t{256} << 10);
      if (received == agent::FrameStream::Received::nothing) return true;
      if (received == agent::FrameStream::Received::end) return false;
      while (const auto frame = stream_.next()) {
        if (!on_frame(*frame)) return false;
      }
      if (stream_.broken()) return false;
    }
  }

  bool on_frame(const agent::Frame& frame) {
    if (frame.type == MessageType::welcome) return on_welcome(frame);
    if (!welcomed_) return false;
    switch (frame.type) {
      case MessageType::ended: {
        auto ended = agent::decode_ended(frame.body);
        if (!ended || ended->second.cause > static_cast<std::uint8_t>(FailureCause::lost))
          return false;
        const Fingerprint fingerprint = from_tag(ended->second.tag);
        const std::uint64_t receipt = epoch_ << kEpochShift | ended->first;
        ReportReceived event{from_wire(std::move(ended->second)), fingerprint, kLocalHost, receipt};
        last_receipt_ = receipt;
        outstanding_.erase(event.report.key);
        if (reports_expected_ > 0)
          --reports_expected_;  // of an earlier agent's time
        else
          restarts_ = 0;
        events_.emplace_back(std::move(event));
        return true;
      }
      case MessageType::started: {
        const auto started = agent::decode_started(frame.body);
        if (!started) return false;
        on_running(from_wire(started->key), from_ns(started->started_ns));
        return true;
      }
      case MessageType::returned: {
        const auto key = agent::decode_key(frame.body);
        if (!key) return false;
        outstanding_.erase(from_wire(*key));
        events_.emplace_back(TaskReturned{from_wire(*key), kLocalHost});
        return true;
      }
      case MessageType::notice: {
        auto notice = agent::decode_notice(frame.body);
        if (notice) events_.emplace_back(LauncherNotice{std::move(notice->text)});
        return notice.has_value();
      }
      default:
        return false;
    }
  }

  bool on_welcome(const agent::Frame& frame) {
    const auto welcome = agent::decode_welcome(frame.body);
    if (!welcome) return false;
    if (welcome->version != agent::kProtocolVersion) {
      problem_ = Error{
          ErrorCode::version,
          fmt::format("the agent here (process {}) is of another version of Gantry", welcome->pid),
          "wait until its tasks have ended, or end that process; then run again"};
      return false;
    }
    welcomed_ = true;
    reports_expected_ = welcome->reports;
    for (const auto& running : welcome->running) {
      const TaskKey key = from_wire(running.key);
      running_now_.insert(key);
      on_running(key, from_ns(running.started_ns));
    }
    return true;
  }

  void on_running(const TaskKey& key, TimePoint started) {
    outstanding_[key] = started;
    events_.emplace_back(TaskRunning{key, kLocalHost, started});
  }

  LocalSite site_;
  agent::FrameStream stream_;
  std::vector<LauncherEvent> events_;
  /// Handed over or adopted, not yet reported or returned: when it started, as far as we know.
  std::map<TaskKey, TimePoint> outstanding_;
  std::set<TaskKey> running_now_;  ///< as the agent's last welcome said
  std::optional<Error> problem_;
  std::uint64_t epoch_ = 0;
  std::uint64_t last_receipt_ = 0;
  std::uint32_t reports_expected_ = 0;
  int restarts_ = 0;
  bool welcomed_ = false;
};

}  // namespace

std::unique_ptr<Launcher> make_local_launcher(LocalSite site) {
  return std::make_unique<LocalLauncher>(std::move(site));
}

std::uint32_t usable_cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return static_cast<std::uint32_t>(std::max(1, CPU_COUNT(&set)));
}

std::uint64_t usable_memory() {
  const auto pages = ::sysconf(_SC_PHYS_PAGES);
  const auto page = ::sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0
             ? static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(page)
             : 0;
}

bool agent_is_running(const std::filesystem::path& state_dir) {
  // The lock tells without disturbing: a connection would take the place of the gantry that is
  // served.
  const auto lock = open_file(state_dir / "agent" / "lock", O_RDONLY);
  return lock && ::flock(lock->get(), LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
}

Result<AgentTasks> tasks_of_agent(const std::filesystem::path& state_dir) {
  AgentTasks tasks;
  const bool alive = agent_is_running(state_dir);
  const auto folder = state_dir / "agent";
  for (const unsigned slot : agent::logged_slots(folder)) {
    TRY_ASSIGN(const auto history, agent::peek_slot_log(agent::slot_log_path(folder, slot)));
    for (const auto& started : history.unfinished)
      if (alive) tasks.running.push_back(from_wire(started.key));
    for (const auto& body : history.ended) {
      auto ended = agent::decode_ended(body);
      if (!ended) continue;
      ended->second.out = ended->second.err = {};
      ended->second.collected.clear();
      tasks.ended.push_back(from_wire(std::move(ended->second)));
    }
  }
  return tasks;
}

}  // namespace gantry
