#include "agent/agent.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "agent/agent_impl.hpp"
#include "agent/agent_process.hpp"
#include "agent/causes.hpp"
#include "agent/process_tree.hpp"
#include "agent/slot_log.hpp"
#include "agent/unix_socket.hpp"
#include "base/child_process.hpp"
#include "base/time.hpp"

namespace gantry::agent {

namespace {

using namespace std::chrono_literals;

/// How long reports wait for company before they are sent, while the queue still holds enough work:
/// gantry then wakes once for many of them.
constexpr auto kBatch = 20ms;
constexpr std::size_t kFlushSize = std::size_t{256} << 10;
/// Between two tries of what the machine has no room for.
constexpr auto kBreath = 20ms;
/// For what makes no event: a stopped slot, and nobody there any more.
constexpr auto kLookEvery = 1000ms;
/// How long the first gantry may take to connect.
constexpr auto kPatience = 30s;

}  // namespace

// Start and end of an agent's life.
// -------------------------------------------------------------------

Result<> Agent::recover() {
  // Holding the lock proves that every shepherd of an earlier agent is gone; what they could not
  // kill is found by the mark in its environment.
  kill_processes_marked(config_.mark);
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
  if (config_.heeds_signals) TRY(watch_signals());
  TRY_ASSIGN(listener_, listen_on(config_.dir, kSocketName));
  return poller_.add(listener_.get(), kListenToken);
}

Result<> Agent::loop() {
  std::vector<std::uint64_t> tokens;
  for (;;) {
    const auto now = SteadyClock::now();
    if (may_leave(now)) break;
    TRY(poller_.wait(time_to_wait(now), tokens));
    for (const auto token : tokens) on_event(token);
    if (now - looked_for_stopped_ >= kLookEvery) {
      looked_for_stopped_ = now;
      wake_stopped_slots();
    }
    heed_end(now);
    dispatch();
    tell_load(now);
    flush();
  }
  clean_up();
  return {};
}

/// Idle and alone: the slot logs hold what gantry does not know yet. Reports that the disk had no
/// room for are kept here until it has, or until somebody takes them.
bool Agent::may_leave(SteadyClock::time_point now) {
  if (is_stopping()) return may_stop(now);
  if (gantry_ || queue_.running() > 0) {
    busy_at_ = now;
    return false;
  }
  if (std::any_of(newcomers_.begin(), newcomers_.end(),
                  [](const auto& stream) { return !!stream; }))
    return false;
  if (!was_served_ && now - born_ < kPatience) return false;
  if (now - busy_at_ < config_.lingers) return false;
  if (book_.in_memory_only() == 0 || book_.save(unsaved_path())) return true;
  return ::access(config_.dir.c_str(), F_OK) != 0;  // somebody removed it: nobody will ask for them
}

std::chrono::milliseconds Agent::time_to_wait(SteadyClock::time_point now) const {
  const auto due = std::min(flush_at_, load_at_);
  const bool waits_for_gantry = gantry_ && !is_stopping() && queue_.running() == 0;
  if (due == kNotNow) return waits_for_gantry && ends_at_ == kNotNow ? -1ms : kLookEvery;
  const auto wait = std::chrono::ceil<std::chrono::milliseconds>(due - now);
  return std::clamp<std::chrono::milliseconds>(wait, 0ms, kLookEvery);
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
    accept_newcomer();
  } else if (token == kGantryToken) {
    serve_gantry();
  } else if (token == kStopToken) {
    on_stop_signal();
  } else if (token >= kNewcomerToken) {
    serve_newcomer(static_cast<std::size_t>(token - kNewcomerToken));
  } else {
    serve_slot(static_cast<std::size_t>(token));
  }
}

void Agent::accept_newcomer() {
  UniqueFd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
  if (!connection) {
    // Still there to be accepted: come back to it when others have closed something.
    if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) std::this_thread::sleep_for(kBreath);
    return;
  }
  if (!peer_is_own_user(connection.get())) return;
  const std::size_t index = next_newcomer_++ % kNewcomers;
  newcomers_[index] = FrameStream(std::move(connection));
  // On failure it will try again.
  if (!poller_.add(newcomers_[index].fd(), kNewcomerToken + index)) newcomers_[index].close();
}

/// Whoever says hello in our language replaces the gantry that is there: only the holder of the run
/// lock does, so the old one is dead.
void Agent::serve_newcomer(std::size_t index) {
  FrameStream& stream = newcomers_[index];
  if (!stream) return;
  if (stream.receive(std::size_t{256} << 10) == FrameStream::Received::end) return stream.close();
  const auto frame = stream.next();
  if (!frame && !stream.broken()) return;
  auto hello =
      frame && frame->type == MessageType::hello ? decode<Hello>(frame->body) : std::nullopt;
  if (hello && hello->version != kProtocolVersion) {
    encode(stream.outbox(), introduction());
    stream.send();
    hello.reset();
  }
  if (!hello) return stream.close();
  drop_gantry();
  gantry_ = std::exchange(stream, {});
  was_served_ = true;
  if (!poller_.rename(gantry_.fd(), kGantryToken)) return drop_gantry();  // it will try again
  on_hello(std::move(*hello));
  take_messages();
}

void Agent::drop_gantry() {
  gantry_.close();
  flush_at_ = load_at_ = kNotNow;
  queue_.clear();  // nobody waits for these; the next gantry hands them over again
  for (auto& slot : slots_) slot->announced = false;
}

void Agent::serve_gantry() {
  if (!gantry_) return;
  if (gantry_.send_watched) poller_.send(gantry_, kGantryToken);
  const auto received = gantry_.receive(std::size_t{256} << 10);
  if (received == FrameStream::Received::end) return drop_gantry();
  take_messages();
}

void Agent::take_messages() {
  while (gantry_) {
    const auto frame = gantry_.next();
    if (!frame) break;
    on_message(*frame);
  }
  if (gantry_.broken()) drop_gantry();
}

void Agent::tell_load(SteadyClock::time_point now) {
  if (!gantry_ || now < load_at_) return;
  load_at_ = now + std::chrono::nanoseconds(hello_.load_every_ns);
  Load load = load_.look(config_.dir);
  load.share = look_at_share(now);
  encode(gantry_.outbox(), load);
  poller_.send(gantry_, kGantryToken);
}

std::uint32_t Agent::look_at_share(SteadyClock::time_point now) {
  const TimePoint today = RealClock{}.now();
  std::vector<ProcessorShare::Watched> tasks;
  for (const auto& slot : slots_)
    if (slot->busy && slot->pid > 0)
      tasks.push_back({slot->pid, today - from_ns(slot->current.started_ns)});
  return share_.look(tasks, now).value_or(Load::kNoShare);
}

void Agent::note_news() {
  if (flush_at_ == kNotNow) flush_at_ = SteadyClock::now() + kBatch;
}

/// Sends the news when its time has come, or at once while gantry could be waiting to give us more
/// to do.
void Agent::flush() {
  if (flush_at_ == kNotNow || !gantry_) return;
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

namespace {

/// Whoever reads what is written to this pipe has closed it.
bool is_deserted(int pipe) {
  pollfd fd{pipe, 0, 0};
  return ::poll(&fd, 1, 0) > 0 && (fd.revents & POLLERR) != 0;
}

/// One agent a directory: waits a while for the shepherds of one that was killed to finish their
/// killing, as long as a gantry waits for us at the other end of `ready`.
Result<UniqueFd> lock_agent(const std::filesystem::path& dir, int ready) {
  auto lock = take_lock(dir, 30s, [ready] { return is_deserted(ready); });
  if (lock || lock.error().code != ErrorCode::busy) return lock;
  return fail(
      ErrorCode::busy, "another agent serves " + dir.string(),
      "wait until its tasks have ended, or end the process named in " + (dir / "pid").string());
}

/// What the processes of this directory's tasks carry in their environment, to be found by should
/// everything else fail. In the directory, not made of its name: that may be used again.
Result<std::string> read_or_make_mark(const std::filesystem::path& dir) {
  const auto path = dir / "mark";
  if (const auto known = read_file(path, 100); known && known->size() == 32) return *known;
  TRY_ASSIGN(const Digest mark, random_digest());
  TRY(write_file_atomic(path, mark.hex()));
  return mark.hex();
}

Result<Agent> prepare(AgentConfig config, int ready) {
  TRY_ASSIGN(UniqueFd lock, lock_agent(config.dir, ready));
  TRY_ASSIGN(const std::string mark, read_or_make_mark(config.dir));
  config.mark = "GANTRY_AGENT_MARK=" + mark;
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
  auto agent = prepare(config, ready.get());
  if (!agent) {
    static_cast<void>(write_all(ready.get(), "error: " + agent.error().message));  // may be gone
    return tl::unexpected<Error>(agent.error());
  }
  static_cast<void>(write_all(ready.get(), "ok"));  // another gantry may come, if this one is gone
  ready.reset();
  return agent->loop();
}

}  // namespace gantry::agent
