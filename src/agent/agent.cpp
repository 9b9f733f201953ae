#include "agent/agent.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "agent/causes.hpp"
#include "agent/frame_stream.hpp"
#include "agent/poller.hpp"
#include "agent/process_tree.hpp"
#include "agent/protocol.hpp"
#include "agent/report_book.hpp"
#include "agent/slot_log.hpp"
#include "agent/slot_pool.hpp"
#include "agent/task_queue.hpp"
#include "agent/unix_socket.hpp"
#include "base/time.hpp"

namespace gantry::agent {

namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;
using Kept = ReportBook::Kept;

constexpr auto kNotNow = SteadyClock::time_point::max();
/// How long reports wait for company before they are sent, while the queue still holds enough work:
/// gantry then wakes once for many of them.
constexpr auto kBatch = 20ms;
constexpr std::size_t kFlushSize = std::size_t{256} << 10;
/// How long the first gantry may take to connect.
constexpr auto kPatience = 30s;

class Agent {
 public:
  Agent(AgentConfig config, UniqueFd lock, Poller poller)
      : config_(std::move(config)),
        lock_(std::move(lock)),
        poller_(std::move(poller)),
        slots_(config_.dir, config_.output_dir, lock_.get()) {}

  Result<> recover();
  Result<> listen();
  Result<> loop();

 private:
  static constexpr std::uint64_t kListenToken = ~std::uint64_t{0};
  static constexpr std::uint64_t kGantryToken = ~std::uint64_t{0} - 1;

  [[nodiscard]] bool may_leave(SteadyClock::time_point now);
  [[nodiscard]] std::chrono::milliseconds time_to_wait(SteadyClock::time_point now) const;
  [[nodiscard]] std::filesystem::path unsaved_path() const { return config_.dir / "unsaved.log"; }
  void clean_up();
  // Connections.
  void on_event(std::uint64_t token);
  void accept_gantry();
  void serve_gantry();
  void drop_gantry();
  void note_news();
  void flush();
  // Messages from gantry.
  void on_message(const Frame& frame);
  void on_hello(const Frame& frame);
  void on_start(const Frame& frame);
  void on_cancel(const AttemptKey& key);
  void on_recall();
  // Tasks.
  void dispatch();
  void begin(Start start);
  void serve_slot(std::size_t index);
  void end_task(std::size_t index, std::string body, Kept kept);
  void on_slot_died(std::size_t index);
  void add_report(std::size_t slot, std::string body, Kept kept);

  AgentConfig config_;
  UniqueFd lock_;
  Poller poller_;
  UniqueFd listener_;
  FrameStream gantry_;
  SteadyClock::time_point born_ = SteadyClock::now();
  SteadyClock::time_point flush_at_ = kNotNow;
  bool greeted_ = false;
  bool was_served_ = false;

  Hello hello_;
  TaskQueue queue_;
  SlotPool slots_;
  ReportBook book_;
};

// Start and end of an agent's life.
// -------------------------------------------------------------------

Result<> Agent::recover() {
  // Holding the lock proves that every shepherd of an earlier agent is gone; what they could not
  // kill is found by the mark in its environment.
  kill_processes_marked("GANTRY_AGENT_DIR=" + config_.dir.string());
  TRY_ASSIGN(SlotHistory unsaved, recover_slot_log(unsaved_path()));
  std::set<AttemptKey> known;  // ended, although their slot's log had no room to say so
  for (auto& body : unsaved.ended) {
    if (const auto key = peek_ended_key(body)) known.insert(*key);
    add_report(ReportBook::kNoSlot, std::move(body), Kept::in_own_file);
  }
  for (const unsigned slot : logged_slots(config_.dir)) {
    TRY_ASSIGN(SlotHistory history, recover_slot_log(slot_log_path(config_.dir, slot)));
    for (auto& body : history.ended) add_report(slot, std::move(body), Kept::in_slot_log);
    for (const auto& started : history.unfinished) {
      if (known.contains(started.key)) continue;
      add_report(slot, unrun_report(started, Cause::lost, "its agent died"), Kept::in_slot_log);
    }
  }
  return {};
}

Result<> Agent::listen() {
  TRY_ASSIGN(listener_, listen_on(config_.dir, kSocketName));
  poller_.add(listener_.get(), kListenToken);
  return {};
}

Result<> Agent::loop() {
  std::vector<std::uint64_t> tokens;
  for (;;) {
    const auto now = SteadyClock::now();
    if (may_leave(now)) break;
    TRY(poller_.wait(time_to_wait(now), tokens));
    for (const auto token : tokens) on_event(token);
    dispatch();
    flush();
  }
  clean_up();
  return {};
}

/// Idle and alone: the slot logs hold what gantry does not know yet. Reports that the disk had no
/// room for are kept here until it has, or until somebody takes them.
bool Agent::may_leave(SteadyClock::time_point now) {
  if (gantry_ || queue_.running() > 0) return false;
  if (!was_served_ && now - born_ < kPatience) return false;
  return book_.in_memory_only() == 0 || book_.save(unsaved_path());
}

std::chrono::milliseconds Agent::time_to_wait(SteadyClock::time_point now) const {
  if (flush_at_ == kNotNow) return gantry_ ? -1ms : 1000ms;
  return std::clamp(std::chrono::ceil<std::chrono::milliseconds>(flush_at_ - now), 0ms, 1000ms);
}

void Agent::clean_up() {
  if (book_.unacknowledged().empty()) {
    for (const unsigned slot : logged_slots(config_.dir))
      remove_slot_log(slot_log_path(config_.dir, slot));
    remove_slot_log(unsaved_path());
  }
  ::unlink((config_.dir / kSocketName).c_str());
  ::unlink((config_.dir / "pid").c_str());
}

// Connections.
// ---------------------------------------------------------------------------------------

void Agent::on_event(std::uint64_t token) {
  if (token == kListenToken) {
    accept_gantry();
  } else if (token == kGantryToken) {
    serve_gantry();
  } else {
    serve_slot(static_cast<std::size_t>(token));
  }
}

void Agent::accept_gantry() {
  UniqueFd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!connection || !peer_is_own_user(connection.get())) return;
  // A new gantry replaces the old one: only the holder of the run lock connects, so the old one is
  // dead.
  drop_gantry();
  gantry_ = FrameStream(std::move(connection));
  was_served_ = true;
  poller_.add(gantry_.fd(), kGantryToken);
}

void Agent::drop_gantry() {
  gantry_.close();
  greeted_ = false;
  flush_at_ = kNotNow;
  queue_.clear();  // nobody waits for these; the next gantry hands them over again
  for (auto& slot : slots_) slot->announced = false;
}

void Agent::serve_gantry() {
  if (!gantry_) return;
  if (gantry_.send_watched) poller_.send(gantry_, kGantryToken);
  const auto received = gantry_.receive(std::size_t{256} << 10);
  if (received == FrameStream::Received::end) return drop_gantry();
  while (gantry_) {
    const auto frame = gantry_.next();
    if (!frame) break;
    on_message(*frame);
  }
  if (gantry_.broken()) drop_gantry();
}

void Agent::note_news() {
  if (flush_at_ == kNotNow) flush_at_ = SteadyClock::now() + kBatch;
}

/// Sends the news when its time has come, or at once while gantry could be waiting to give us more
/// to do.
void Agent::flush() {
  if (flush_at_ == kNotNow || !greeted_) return;
  const auto& news = gantry_.outbox();
  const bool hungry = !news.empty() && queue_.waiting() < slots_.size();
  if (!hungry && news.size() < kFlushSize && SteadyClock::now() < flush_at_) return;
  flush_at_ = kNotNow;
  // Only now: a short task has ended by this time and needs no announcement.
  for (auto& slot : slots_) {
    if (!slot->busy || slot->announced) continue;
    slot->announced = true;
    encode(gantry_.outbox(), slot->current);
  }
  poller_.send(gantry_, kGantryToken);
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
      if (const auto ack = decode_ack(frame.body)) return book_.acknowledge(ack->receipt);
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
  const auto& reports = book_.unacknowledged();
  welcome.reports = static_cast<std::uint32_t>(reports.size());
  encode(gantry_.outbox(), welcome);
  if (same_version) {
    for (const auto& report : reports) encode_ended(gantry_.outbox(), report.receipt, report.body);
  }
  poller_.send(gantry_, kGantryToken);
  if (!same_version) return drop_gantry();
  hello_ = std::move(*hello);
  greeted_ = true;
  queue_.set_capacity(hello_.cores, hello_.memory);
  for (auto& slot : slots_) slot->has_hello = false;
}

void Agent::on_start(const Frame& frame) {
  auto start = decode_start(frame.body);
  if (!start) return drop_gantry();
  queue_.push(std::move(*start));
}

void Agent::on_cancel(const AttemptKey& key) {
  if (queue_.remove(key)) {
    return add_report(ReportBook::kNoSlot, unrun_report({key, 0}, Cause::cancelled, ""),
                      Kept::not_needed);
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (!slot.busy || slot.current.key != key) continue;
    encode(slot.stream.outbox(), Cancel{key});
    poller_.send(slot.stream, i);
  }
}

void Agent::on_recall() {
  for (const auto& key : queue_.clear()) encode(gantry_.outbox(), Returned{key});
  note_news();
}

// Tasks.
// -----------------------------------------------------------------------------------------------

void Agent::dispatch() {
  while (auto start = queue_.take()) begin(std::move(*start));
}

void Agent::begin(Start start) {
  bool fresh = false;
  const auto index = slots_.acquire(fresh);
  if (!index) {
    queue_.release(claim_of(start));
    return add_report(
        ReportBook::kNoSlot,
        unrun_report({start.key, 0}, Cause::start_failed, "cannot make a process for a slot"),
        Kept::not_needed);
  }
  Slot& slot = slots_[*index];
  if (fresh) poller_.add(slot.stream.fd(), *index);
  if (!std::exchange(slot.has_hello, true)) encode(slot.stream.outbox(), hello_);
  slot.busy = true;
  slot.announced = false;
  slot.current = {start.key, to_ns(RealClock{}.now())};
  slot.claim = claim_of(start);
  const auto count = book_.count(*index);
  start.log_serial = count.reports + 1;
  start.log_safe = count.safe;
  encode(slot.stream.outbox(), start);
  poller_.send(slot.stream, *index);
  note_news();
}

void Agent::serve_slot(std::size_t index) {
  Slot& slot = slots_[index];
  if (!slot.stream) return;
  if (slot.stream.send_watched) poller_.send(slot.stream, index);
  const auto received = slot.stream.receive(std::size_t{16} << 10);
  if (received == FrameStream::Received::end) return on_slot_died(index);
  while (const auto frame = slot.stream.next()) {
    if (frame->type != MessageType::ended || !slot.busy) continue;
    const bool logged = Decoder(frame->body).u64() != 0;
    end_task(index, std::string(frame->body), logged ? Kept::in_slot_log : Kept::nowhere);
  }
  if (slot.stream.broken()) on_slot_died(index);
}

void Agent::end_task(std::size_t index, std::string body, Kept kept) {
  add_report(index, std::move(body), kept);
  queue_.release(slots_[index].claim);
  slots_.release(index);
}

/// Somebody killed a shepherd: say what became of its task.
void Agent::on_slot_died(std::size_t index) {
  slots_.bury(index);
  const Slot& slot = slots_[index];
  if (!slot.busy) return;
  std::string body = unrun_report(slot.current, Cause::lost, "its slot process died");
  // It may have written the report without having sent it.
  const auto history = recover_slot_log(slot_log_path(config_.dir, static_cast<unsigned>(index)));
  if (history) {
    for (const auto& ended : history->ended) {
      if (peek_ended_key(ended) == slot.current.key) body = ended;
    }
  }
  end_task(index, std::move(body), Kept::in_slot_log);
}

void Agent::add_report(std::size_t slot, std::string body, Kept kept) {
  const auto& report = book_.add(slot, std::move(body), kept);
  if (!greeted_) return;
  encode_ended(gantry_.outbox(), report.receipt, report.body);
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

Result<Agent> prepare(const AgentConfig& config) {
  TRY_ASSIGN(UniqueFd lock, take_lock(config.dir));
  TRY_ASSIGN(Poller poller, Poller::create());
  Agent agent(config, std::move(lock), std::move(poller));
  TRY(agent.recover());
  TRY(write_file_atomic(config.dir / "pid", std::to_string(::getpid()) + "\n"));
  TRY(agent.listen());
  return agent;
}

}  // namespace

Result<> serve(const AgentConfig& config, UniqueFd ready) {
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);  // a limit on file sizes is to us what a full disk is
  ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  auto agent = prepare(config);
  if (!agent) {
    static_cast<void>(write_all(ready.get(), "error: " + agent.error().message));  // may be gone
    return tl::unexpected<Error>(agent.error());
  }
  static_cast<void>(write_all(ready.get(), "ok"));  // another gantry may come, if this one is gone
  ready.reset();
  return agent->loop();
}

}  // namespace gantry::agent
