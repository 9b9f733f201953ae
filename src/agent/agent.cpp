#include "agent/agent.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <memory>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "agent/causes.hpp"
#include "agent/process_tree.hpp"
#include "agent/protocol.hpp"
#include "agent/shepherd.hpp"
#include "agent/slot_log.hpp"
#include "agent/unix_socket.hpp"
#include "base/time.hpp"

namespace gantry::agent {

namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

constexpr auto kNotNow = SteadyClock::time_point::max();
constexpr auto kNoSlot = ~std::size_t{0};

/// How long reports wait for company before they are sent, while the queue still holds enough work:
/// gantry then wakes once for many of them.
constexpr auto kBatch = 20ms;
constexpr std::size_t kFlushSize = std::size_t{256} << 10;
/// How deep to look past a task that does not fit, and how often it may be overtaken.
constexpr std::size_t kLookPast = 64;
constexpr unsigned kMaxOvertaken = 256;

struct QueuedTask {
  Start start;
  unsigned overtaken = 0;
};

struct Slot {
  pid_t pid = -1;
  UniqueFd socket;
  FrameReader reader;
  std::string outbox;
  bool busy = false;
  bool announced = false;  ///< gantry knows that it runs
  Started current;
  std::uint32_t cores = 0;
  std::uint64_t memory = 0;
  unsigned unacked = 0;  ///< its reports that gantry has not acknowledged
};

struct Report {
  std::uint64_t receipt = 0;
  std::size_t slot = 0;
  std::string body;     ///< of an Ended frame
  bool on_disk = true;  ///< in a slot log, or not worth keeping there
};

/// The body of an Ended frame for an attempt that no shepherd can speak for.
std::string unrun_report(const Started& started, Cause cause, const std::string& detail) {
  Ended ended;
  ended.key = started.key;
  ended.cause = static_cast<std::uint8_t>(cause);
  ended.detail = detail;
  ended.ended_ns = to_ns(RealClock{}.now());
  ended.started_ns = started.started_ns != 0 ? started.started_ns : ended.ended_ns;
  std::string frame;
  encode(frame, 1, ended);
  return frame.substr(sizeof(std::uint32_t) + 1);
}

class Agent {
 public:
  Agent(AgentConfig config, UniqueFd lock) : config_(std::move(config)), lock_(std::move(lock)) {}

  Result<> recover();
  Result<> listen();
  Result<> loop();

 private:
  // Connections.
  void watch(int fd, std::uint64_t token);
  void on_readable(std::uint64_t token);
  void accept_gantry();
  void read_gantry();
  void drop_gantry();
  void note_news();
  void flush();
  // Messages from gantry.
  void on_message(const Frame& frame);
  void on_hello(const Frame& frame);
  void on_start(const Frame& frame);
  void on_cancel(const AttemptKey& key);
  void on_recall();
  void on_ack(std::uint64_t receipt);
  // Tasks.
  void dispatch();
  [[nodiscard]] bool fits(const Start& start) const;
  void begin(Start start);
  std::size_t idle_slot();
  void read_slot(std::size_t index);
  void release(std::size_t index);
  void on_slot_died(std::size_t index);
  void add_report(std::size_t slot, std::string body);
  void configure_slot(Slot& slot);
  void kill_strays();

  static constexpr std::uint64_t kListenToken = ~std::uint64_t{0};
  static constexpr std::uint64_t kGantryToken = ~std::uint64_t{0} - 1;

  AgentConfig config_;
  UniqueFd lock_;
  UniqueFd epoll_;
  UniqueFd listener_;
  UniqueFd gantry_;
  FrameReader reader_;
  std::string outbox_;
  SteadyClock::time_point flush_at_ = kNotNow;
  bool greeted_ = false;
  bool was_served_ = false;

  Hello hello_;
  std::deque<QueuedTask> queue_;
  std::vector<std::unique_ptr<Slot>> slots_;
  std::vector<std::size_t> idle_;
  std::uint32_t used_cores_ = 0;
  std::uint64_t used_memory_ = 0;
  unsigned busy_ = 0;
  std::deque<Report> unacked_;
  std::uint64_t next_receipt_ = 1;
  unsigned only_memory_ = 0;  ///< unacknowledged reports that are not on disk
};

// Start and end of an agent's life.
// -------------------------------------------------------------------

Result<> Agent::recover() {
  // Holding the lock proves that every shepherd of an earlier agent is gone; what they could not
  // kill is found by the mark in its environment.
  kill_processes_marked("GANTRY_AGENT_DIR=" + config_.dir.string());
  std::error_code error;
  for (unsigned i = 0; std::filesystem::exists(slot_log_path(config_.dir, i), error); ++i) {
    TRY_ASSIGN(SlotHistory history, recover_slot_log(slot_log_path(config_.dir, i)));
    slots_.push_back(std::make_unique<Slot>());
    idle_.push_back(i);
    for (auto& body : history.ended) add_report(i, std::move(body));
    for (const auto& started : history.unfinished) {
      add_report(i, unrun_report(started, Cause::lost, "its agent died"));
    }
  }
  return {};
}

Result<> Agent::listen() {
  epoll_.reset(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll_) return fail_errno("epoll");
  TRY_ASSIGN(listener_, listen_on(config_.dir, kSocketName));
  watch(listener_.get(), kListenToken);
  return {};
}

Result<> Agent::loop() {
  const auto started = SteadyClock::now();
  for (;;) {
    const auto now = SteadyClock::now();
    // Idle and alone: the slot logs hold what gantry does not know yet. The first gantry gets time
    // to connect, and reports that the disk had no room for are kept here until somebody takes
    // them.
    if (!gantry_ && busy_ == 0 && (was_served_ || now - started > 30s) && only_memory_ == 0) break;
    int timeout = gantry_ ? -1 : 1000;
    if (flush_at_ != kNotNow) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(flush_at_ - now);
      timeout = std::clamp(static_cast<int>(left.count()), 0, 1000);
    }
    epoll_event events[64];
    const int n = ::epoll_wait(epoll_.get(), events, 64, timeout);
    if (n < 0 && errno != EINTR) return fail_errno("epoll_wait");
    for (int i = 0; i < n; ++i) on_readable(events[i].data.u64);
    dispatch();
    flush();
  }
  if (unacked_.empty()) {
    for (unsigned i = 0; i < slots_.size(); ++i) ::unlink(slot_log_path(config_.dir, i).c_str());
  }
  ::unlink((config_.dir / kSocketName).c_str());
  ::unlink((config_.dir / "pid").c_str());
  return {};
}

// Connections.
// ---------------------------------------------------------------------------------------

void Agent::watch(int fd, std::uint64_t token) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = token;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event);
}

void Agent::on_readable(std::uint64_t token) {
  if (token == kListenToken) {
    accept_gantry();
  } else if (token == kGantryToken) {
    read_gantry();
  } else {
    read_slot(static_cast<std::size_t>(token));
  }
}

void Agent::accept_gantry() {
  UniqueFd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!connection || !peer_is_own_user(connection.get())) return;
  // A new gantry replaces the old one: only the holder of the run lock connects, so the old one is
  // dead.
  drop_gantry();
  gantry_ = std::move(connection);
  reader_ = {};
  was_served_ = true;
  watch(gantry_.get(), kGantryToken);
}

void Agent::drop_gantry() {
  gantry_.reset();
  greeted_ = false;
  outbox_.clear();
  flush_at_ = kNotNow;
  queue_.clear();  // nobody waits for these; the next gantry hands them over again
  for (auto& slot : slots_) slot->announced = false;
}

void Agent::read_gantry() {
  const auto [at, room] = reader_.space(std::size_t{256} << 10);
  const ssize_t n = ::recv(gantry_.get(), at, room, MSG_DONTWAIT);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (n <= 0) return drop_gantry();
  reader_.filled(static_cast<std::size_t>(n));
  while (gantry_) {
    const auto frame = reader_.next();
    if (!frame) break;
    on_message(*frame);
  }
  if (reader_.broken()) drop_gantry();
}

void Agent::note_news() {
  if (flush_at_ == kNotNow) flush_at_ = SteadyClock::now() + kBatch;
}

/// Sends the news when its time has come, or at once while gantry could be waiting to give us more
/// to do.
void Agent::flush() {
  if (flush_at_ == kNotNow || !greeted_) return;
  const bool hungry = !outbox_.empty() && queue_.size() < slots_.size();
  if (!hungry && outbox_.size() < kFlushSize && SteadyClock::now() < flush_at_) return;
  flush_at_ = kNotNow;
  // Only now: a short task has ended by this time and needs no announcement.
  for (auto& slot : slots_) {
    if (!slot->busy || slot->announced) continue;
    slot->announced = true;
    encode(outbox_, slot->current);
  }
  if (!write_all(gantry_.get(), outbox_)) return drop_gantry();
  outbox_.clear();
}

// Messages from gantry.
// --------------------------------------------------------------------------------

void Agent::on_message(const Frame& frame) {
  if (frame.type == MessageType::hello) return on_hello(frame);
  if (!greeted_) return drop_gantry();
  switch (frame.type) {
    case MessageType::start:
      return on_start(frame);
    case MessageType::cancel:
      if (const auto key = decode_key(frame.body)) return on_cancel(*key);
      break;
    case MessageType::recall:
      return on_recall();
    case MessageType::ack:
      if (const auto ack = decode_ack(frame.body)) return on_ack(ack->receipt);
      break;
    default:
      break;
  }
  drop_gantry();  // it does not speak our language
}

void Agent::on_hello(const Frame& frame) {
  auto hello = decode_hello(frame.body);
  if (!hello) return drop_gantry();
  const bool same_version = hello->version == kProtocolVersion;
  Welcome welcome;
  welcome.pid = ::getpid();
  char name[256] = "";
  ::gethostname(name, sizeof name - 1);
  welcome.host = name;
  for (auto& slot : slots_) {
    if (!slot->busy) continue;
    welcome.running.push_back({slot->current.key, slot->current.started_ns});
    slot->announced = true;
  }
  welcome.reports = static_cast<std::uint32_t>(unacked_.size());
  encode(outbox_, welcome);
  if (same_version) {
    for (const auto& report : unacked_) encode_ended(outbox_, report.receipt, report.body);
  }
  if (!write_all(gantry_.get(), outbox_) || !same_version) return drop_gantry();
  outbox_.clear();
  hello_ = std::move(*hello);
  greeted_ = true;
  for (auto& slot : slots_) configure_slot(*slot);
}

void Agent::on_start(const Frame& frame) {
  auto start = decode_start(frame.body);
  if (!start) return drop_gantry();
  queue_.push_back({std::move(*start)});
}

void Agent::on_cancel(const AttemptKey& key) {
  const auto queued = std::find_if(queue_.begin(), queue_.end(),
                                   [&](const QueuedTask& q) { return q.start.key == key; });
  if (queued != queue_.end()) {
    queue_.erase(queued);
    return add_report(kNoSlot, unrun_report({key, 0}, Cause::cancelled, ""));
  }
  for (auto& slot : slots_) {
    if (!slot->busy || slot->current.key != key) continue;
    std::string message;
    encode(message, Cancel{key});
    static_cast<void>(
        write_all(slot->socket.get(), message));  // a dead shepherd is noticed when it is read
  }
}

void Agent::on_recall() {
  for (const auto& queued : queue_) encode(outbox_, Returned{queued.start.key});
  queue_.clear();
  note_news();
}

void Agent::on_ack(std::uint64_t receipt) {
  while (!unacked_.empty() && unacked_.front().receipt <= receipt) {
    if (unacked_.front().slot != kNoSlot) --slots_[unacked_.front().slot]->unacked;
    if (!unacked_.front().on_disk) --only_memory_;
    unacked_.pop_front();
  }
}

// Tasks.
// -----------------------------------------------------------------------------------------------

void Agent::dispatch() {
  std::size_t i = 0;
  while (i < std::min(queue_.size(), kLookPast)) {
    if (busy_ > 0 && used_cores_ >= hello_.cores) return;
    if (!fits(queue_[i].start)) {
      if (queue_[i].overtaken > kMaxOvertaken) return;  // its turn comes when enough has ended
      ++i;
      continue;
    }
    for (std::size_t before = 0; before < i; ++before) ++queue_[before].overtaken;
    Start start = std::move(queue_[i].start);
    queue_.erase(queue_.begin() + static_cast<std::ptrdiff_t>(i));
    begin(std::move(start));
  }
}

bool Agent::fits(const Start& start) const {
  if (busy_ == 0) return true;  // more than the whole host: alone is the best we can do
  if (used_cores_ + start.cores > hello_.cores) return false;
  return start.memory == 0 || used_memory_ + start.memory <= hello_.memory;
}

void Agent::begin(Start start) {
  const std::size_t index = idle_slot();
  if (index == kNoSlot) {
    const std::string why = "cannot make a slot process";
    return add_report(kNoSlot, unrun_report({start.key, 0}, Cause::start_failed, why));
  }
  Slot& slot = *slots_[index];
  slot.busy = true;
  slot.announced = false;
  slot.current = {start.key, to_ns(RealClock{}.now())};
  slot.cores = start.cores;
  slot.memory = start.memory;
  used_cores_ += slot.cores;
  used_memory_ += slot.memory;
  ++busy_;
  start.reset_log = slot.unacked == 0;
  std::string message;
  encode(message, start);
  note_news();
  // The shepherd is idle and reads at once, so this does not block. A dead one is noticed when it
  // is read.
  static_cast<void>(write_all(slot.socket.get(), message));
}

/// A slot that is free, made anew if need be.
std::size_t Agent::idle_slot() {
  if (idle_.empty()) {
    idle_.push_back(slots_.size());
    slots_.push_back(std::make_unique<Slot>());
  }
  const std::size_t index = idle_.back();
  Slot& slot = *slots_[index];
  if (!slot.socket) {
    auto handle = start_shepherd(
        {config_.dir, config_.output_dir, static_cast<unsigned>(index), lock_.get()});
    if (!handle) return kNoSlot;
    slot.pid = handle->pid;
    slot.socket = std::move(handle->socket);
    slot.reader = {};
    watch(slot.socket.get(), index);
    configure_slot(slot);
  }
  idle_.pop_back();
  return index;
}

/// Hands a shepherd the environment that tasks inherit.
void Agent::configure_slot(Slot& slot) {
  if (!slot.socket) return;
  std::string message;
  encode(message, hello_);
  static_cast<void>(write_all(slot.socket.get(), message));
}

void Agent::read_slot(std::size_t index) {
  Slot& slot = *slots_[index];
  if (!slot.socket) return;
  const auto [at, room] = slot.reader.space(std::size_t{16} << 10);
  const ssize_t n = ::recv(slot.socket.get(), at, room, MSG_DONTWAIT);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (n <= 0) return on_slot_died(index);
  slot.reader.filled(static_cast<std::size_t>(n));
  while (const auto frame = slot.reader.next()) {
    if (frame->type != MessageType::ended || !slot.busy) continue;
    add_report(index, std::string(frame->body));
    release(index);
  }
}

void Agent::release(std::size_t index) {
  Slot& slot = *slots_[index];
  slot.busy = false;
  used_cores_ -= slot.cores;
  used_memory_ -= slot.memory;
  --busy_;
  idle_.push_back(index);
}

/// Somebody killed a shepherd. What its task left behind is now ours: end it, and say what became
/// of the task.
void Agent::on_slot_died(std::size_t index) {
  Slot& slot = *slots_[index];
  slot.socket.reset();
  slot.pid = -1;
  kill_strays();
  if (!slot.busy) return;
  std::string body = unrun_report(slot.current, Cause::lost, "its slot process died");
  if (const auto history =
          recover_slot_log(slot_log_path(config_.dir, static_cast<unsigned>(index)))) {
    for (const auto& ended : history->ended) {
      if (peek_ended_key(ended) == slot.current.key) body = ended;
    }
  }
  add_report(index, std::move(body));
  release(index);
}

void Agent::kill_strays() {
  const auto is_shepherd = [&](pid_t pid) {
    return std::any_of(slots_.begin(), slots_.end(),
                       [&](const auto& slot) { return slot->pid == pid; });
  };
  for (int round = 0; round < 1000; ++round) {
    while (::waitpid(-1, nullptr, WNOHANG) > 0) {
    }
    bool clean = true;
    for (const pid_t child : children(::getpid())) {
      if (is_shepherd(child)) continue;
      clean = false;
      for (const pid_t pid : descendants(child)) ::kill(pid, SIGKILL);
      ::kill(child, SIGKILL);
    }
    if (clean) return;
    std::this_thread::sleep_for(1ms);
  }
}

void Agent::add_report(std::size_t slot, std::string body) {
  if (slot != kNoSlot) ++slots_[slot]->unacked;
  const bool on_disk = slot == kNoSlot || Decoder(body).u64() != 0;
  if (!on_disk) ++only_memory_;
  unacked_.push_back({next_receipt_++, slot, std::move(body), on_disk});
  if (!greeted_) return;
  encode_ended(outbox_, unacked_.back().receipt, unacked_.back().body);
  note_news();
}

/// One agent a directory: waits a while for the shepherds of one that was killed to finish their
/// killing.
Result<UniqueFd> take_lock(const std::filesystem::path& dir) {
  TRY_ASSIGN(UniqueFd lock, open_file(dir / "lock", O_RDWR | O_CREAT, 0600));
  for (int tenths = 0; ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0; ++tenths) {
    if (errno != EWOULDBLOCK && errno != EINTR) return fail_errno((dir / "lock").string());
    if (tenths > 300) {
      return fail(
          ErrorCode::busy, "another agent serves " + dir.string(),
          "wait until its tasks have ended, or end the process named in " + (dir / "pid").string());
    }
    std::this_thread::sleep_for(100ms);
  }
  return lock;
}

Result<> prepare(Agent& agent, const AgentConfig& config) {
  TRY(agent.recover());
  TRY(write_file_atomic(config.dir / "pid", std::to_string(::getpid()) + "\n"));
  return agent.listen();
}

}  // namespace

Result<> serve(const AgentConfig& config, UniqueFd ready) {
  ::signal(SIGPIPE, SIG_IGN);
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  const auto tell = [&](Error error) {
    static_cast<void>(write_all(ready.get(), "error: " + error.message));  // gantry may be gone
    return tl::unexpected<Error>(std::move(error));
  };
  auto lock = take_lock(config.dir);
  if (!lock) return tell(lock.error());
  Agent agent(config, std::move(*lock));
  if (auto prepared = prepare(agent, config); !prepared) return tell(prepared.error());
  TRY(write_all(ready.get(), "ok"));
  ready.reset();
  return agent.loop();
}

}  // namespace gantry::agent
