// What gantry asks for, and the tasks.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <set>
#include <utility>

#include "agent/agent_impl.hpp"
#include "agent/causes.hpp"
#include "agent/slot_log.hpp"
#include "base/machine.hpp"
#include "base/time.hpp"

extern char** environ;

namespace gantry::agent {

namespace {

using namespace std::chrono_literals;

/// A task for which the way to the agent and back counts.
constexpr Duration kShort = 20ms;
/// How many tasks a slot has at hand at most.
constexpr std::size_t kMostSuccessors = 16;

/// As many as take no longer than a short task.
std::size_t successors_wanted(const Slot& slot) {
  if (!slot.last_took || *slot.last_took >= kShort) return 0;
  const auto fit = kShort / std::max(*slot.last_took, Duration(1));
  return std::min(static_cast<std::size_t>(fit), kMostSuccessors);
}

void note_checkpoint(Slot& slot, const PackedStart& start) {
  slot.checkpoint_signal = start.checkpoint_signal;
  slot.checkpoint_before = std::chrono::nanoseconds(start.checkpoint_before_ns);
  slot.told = false;
}

}  // namespace

// Messages from gantry.
// --------------------------------------------------------------------------------

void Agent::on_message(const Frame& frame) {
  switch (frame.type) {
    case MessageType::start:
      return on_start(frame);
    case MessageType::cancel:
      if (const auto key = decode_key(frame.body)) return on_cancel(*key);
      break;
    case MessageType::tell:
      if (const auto tell = decode_tell(frame.body)) return on_tell(*tell);
      break;
    case MessageType::recall:
      if (const auto recall = decode_recall(frame.body)) return on_recall(recall->keys);
      break;
    case MessageType::ack:
      if (const auto ack = decode_ack(frame.body)) return book_.acknowledge(ack->receipt);
      break;
    default:
      break;
  }
  drop_gantry();  // it does not speak our language
}

Welcome Agent::introduction() const {
  Welcome welcome;
  welcome.pid = ::getpid();
  welcome.cores = usable_cores();
  welcome.memory = usable_memory();
  if (ends_at_ != kNotNow) {
    const auto left = std::chrono::nanoseconds(ends_at_ - SteadyClock::now());
    welcome.left_ns = std::max<std::int64_t>(1, left.count());
  }
  return welcome;
}

void Agent::on_hello(Hello hello) {
  Welcome welcome = introduction();
  for (auto& slot : slots_) {
    if (!slot->busy) continue;
    welcome.running.push_back({slot->current.key, slot->current.started_ns});
    slot->announced = true;
    // Nobody can tell from here whether these have begun. They will, and this gantry shall not give
    // them again.
    for (auto& [start, recalled] : slot->next) {
      welcome.running.push_back({start.key, slot->current.started_ns});
      if (recalled == Successor::Recalled::to_gantry) recalled = Successor::Recalled::to_queue;
    }
  }
  const auto& reports = book_.unacknowledged();
  welcome.reports = static_cast<std::uint32_t>(reports.size());
  encode(gantry_.outbox(), welcome);
  for (const auto& report : reports) encode_ended(gantry_.outbox(), report.receipt, report.body);
  poller_.send(gantry_, kGantryToken);
  hello_ = std::move(hello);
  if (hello_.own_environment)
    for (char** entry = environ; *entry != nullptr; ++entry)
      hello_.environment.emplace_back(*entry);
  if (hello_.load_every_ns > 0) load_at_ = SteadyClock::now();
  queue_.set_capacity(hello_.cores != 0 ? hello_.cores : usable_cores(),
                      hello_.memory != 0 ? hello_.memory : usable_memory());
  for (auto& slot : slots_) slot->has_hello = false;
}

void Agent::on_start(const Frame& frame) {
  auto start = pack_start(frame.body);
  if (!start) return drop_gantry();
  if (is_stopping()) {
    encode(gantry_.outbox(), Returned{start->key});
    return note_news();
  }
  queue_.push(std::move(*start));
}

void Agent::on_cancel(const AttemptKey& key) {
  if (queue_.remove(key)) {
    return add_report(ReportBook::kNoSlot, unrun_report({key, 0}, Cause::cancelled, ""),
                      Kept::not_needed);
  }
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    if (!slot.busy) continue;
    for (auto& [start, recalled] : slot.next) {
      if (start.key != key) continue;
      recall_successors(i, Successor::Recalled::to_queue);
      recalled = Successor::Recalled::cancelled;
    }
    if (slot.current.key != key) continue;
    encode(slot.stream.outbox(), Cancel{key});
    poller_.send(slot.stream, i);
    ::kill(slot.pid, SIGCONT);  // a task may have stopped it
  }
}

/// One that has just begun behind another is not known here yet: its shepherd is told, too.
void Agent::on_tell(const Tell& tell) {
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    Slot& slot = slots_[i];
    const auto next =
        std::ranges::find(slot.next, tell.key, [](const Successor& s) { return s.start.key; });
    const bool is_next = next != slot.next.end();
    if (!slot.busy || (slot.current.key != tell.key && !is_next)) continue;
    Tell told = tell;
    if (tell.signal == 0) {
      told.signal = is_next ? next->start.checkpoint_signal : slot.checkpoint_signal;
      told.checkpoint_ns =
          is_next ? next->start.checkpoint_before_ns : slot.checkpoint_before.count();
    }
    if (told.signal <= 0 || told.signal >= NSIG) return;
    encode(slot.stream.outbox(), told);
    poller_.send(slot.stream, i);
    ::kill(slot.pid, SIGCONT);  // a task may have stopped it
  }
}

void Agent::on_recall(const std::vector<AttemptKey>& keys) {
  const std::set<AttemptKey> wanted(keys.begin(), keys.end());
  const auto is_wanted = [&](const AttemptKey& key) {
    return wanted.empty() || wanted.contains(key);
  };
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    auto& next = slots_[i].next;
    const auto concerns = [&](const Successor& s) { return is_wanted(s.start.key); };
    if (std::ranges::none_of(next, concerns)) continue;
    // A shepherd gives back all that it has at hand; the others come first here again.
    recall_successors(i, Successor::Recalled::to_queue);
    for (Successor& each : next)
      if (concerns(each)) each.recalled = std::max(each.recalled, Successor::Recalled::to_gantry);
  }
  for (const auto& key : queue_.remove_if(is_wanted)) encode(gantry_.outbox(), Returned{key});
  note_news();
}

// Tasks.
// -----------------------------------------------------------------------------------------------

void Agent::dispatch() {
  while (!crowded_) {
    auto start = queue_.take();
    if (!start) break;
    if (has_time_for(*start)) {
      begin(*start);
      continue;
    }
    queue_.release(claim_of(*start));
    encode(gantry_.outbox(), Returned{start->key});
    note_news();
  }
  share_out_successors();
}

void Agent::begin(const PackedStart& start) {
  bool fresh = false;
  const auto index = slots_.acquire(fresh);
  if (!index) return on_no_slot(start, index.error());
  Slot& slot = slots_[*index];
  if (fresh) {
    if (const auto added = poller_.add(slot.stream.fd(), *index); !added) {
      slots_.bury(*index);
      slots_.release(*index);
      return on_no_slot(start, added.error());
    }
  }
  if (!std::exchange(slot.has_hello, true)) encode(slot.stream.outbox(), hello_);
  slot.busy = true;
  slot.announced = false;
  slot.current = {start.key, to_ns(RealClock{}.now())};
  slot.claim = claim_of(start);
  note_checkpoint(slot, start);
  encode_start(*index, start);
  give_successors(*index);
  poller_.send(slot.stream, *index);
  note_news();
}

/// The machine allows no more processes or files. Fewer slots are better than failed tasks.
void Agent::on_no_slot(const PackedStart& start, const Error& why) {
  queue_.release(claim_of(start));
  if (queue_.running() == 0) {
    return add_report(ReportBook::kNoSlot,
                      unrun_report({start.key, 0}, Cause::start_failed,
                                   "cannot make a process for a slot: " + why.message),
                      Kept::not_needed);
  }
  queue_.put_back(start);
  crowded_ = true;
  if (gantry_ && !std::exchange(said_crowded_, true)) {
    encode(gantry_.outbox(), Notice{"only " + std::to_string(queue_.running()) +
                                    " tasks can run at once here: " + why.message});
    note_news();
  }
}

/// For the slot's shepherd, which gets it last. REQUIRES: `start` is what the slot runs now, or the
/// last of its successors.
void Agent::encode_start(std::size_t index, const PackedStart& start) {
  Slot& slot = slots_[index];
  const auto count = book_.count(index);
  encode(slot.stream.outbox(), start, count.reports + slot.next.size() + 1, count.safe);
}

/// Between short tasks a slot need not wait for us. Only when there is enough for all slots: a task
/// must not wait behind another one when it could start elsewhere. Several at once, as each time we
/// tell a slot something takes time from a task.
void Agent::give_successors(std::size_t index) {
  Slot& slot = slots_[index];
  const std::size_t wanted = successors_wanted(slot);
  if (!gantry_ || !slot.stream || slot.next.size() > wanted / 2) return;
  while (slot.next.size() < wanted && queue_.waiting() > slots_.size()) {
    auto start = queue_.take_successor(slot.claim);
    if (!start) break;
    slot.next.push_back({std::move(*start)});
    encode_start(index, slot.next.back().start);
  }
}

/// Asks the shepherd for all that it has not begun.
void Agent::recall_successors(std::size_t index, Successor::Recalled why) {
  Slot& slot = slots_[index];
  bool is_news = false;
  for (auto& successor : slot.next) {
    is_news |= successor.recalled == Successor::Recalled::no;
    successor.recalled = std::max(successor.recalled, why);
  }
  if (!is_news) return;
  encode(slot.stream.outbox(), Recall{});
  poller_.send(slot.stream, index);
}

/// The shepherd had not begun a task that we gave it early, and will not.
void Agent::on_returned(std::size_t index, const AttemptKey& key) {
  auto& next = slots_[index].next;
  const auto found = std::ranges::find(next, key, [](const Successor& s) { return s.start.key; });
  if (found == next.end()) return;
  auto [start, why] = std::move(*found);
  next.erase(found);
  if (why == Successor::Recalled::cancelled) {
    return add_report(ReportBook::kNoSlot, unrun_report({start.key, 0}, Cause::cancelled, ""),
                      Kept::not_needed);
  }
  if (!gantry_) return;  // nobody waits for it; the next gantry hands it over again
  if (why != Successor::Recalled::to_gantry) return queue_.put_back(std::move(start));
  encode(gantry_.outbox(), Returned{start.key});
  note_news();
}

/// What is at hand behind a task that turns out to be long is first in the queue again. So is
/// whatever could start elsewhere at once.
void Agent::share_out_successors() {
  const TimePoint now = RealClock{}.now();
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    const Slot& slot = slots_[i];
    if (slot.next.empty()) continue;
    const bool is_long = now - from_ns(slot.current.started_ns) >= kShort;
    if (is_long || (queue_.waiting() == 0 && queue_.fits(slot.claim)))
      recall_successors(i, Successor::Recalled::to_queue);
  }
}

void Agent::serve_slot(std::size_t index) {
  Slot& slot = slots_[index];
  if (!slot.stream) return;
  if (slot.stream.send_watched) poller_.send(slot.stream, index);
  const auto received = slot.stream.receive(std::size_t{16} << 10);
  if (received == FrameStream::Received::end) return on_slot_died(index);
  while (const auto frame = slot.stream.next()) {
    if (frame->type == MessageType::returned) {
      if (const auto key = decode_key(frame->body)) on_returned(index, *key);
      continue;
    }
    if (frame->type != MessageType::ended || !slot.busy) continue;
    const bool logged = Decoder(frame->body).u64() != 0;
    end_task(index, unless_stopped(slot, std::string(frame->body)),
             logged ? Kept::in_slot_log : Kept::nowhere);
  }
  if (slot.stream.wants_to_send()) poller_.send(slot.stream, index);
  if (slot.stream.broken()) on_slot_died(index);
}

void Agent::end_task(std::size_t index, std::string body, Kept kept) {
  Slot& slot = slots_[index];
  const RunTime ran = peek_run_time(body);
  slot.last_took = Duration(ran.ended_ns - ran.started_ns);
  add_report(index, std::move(body), kept);
  if (slot.next.empty()) {
    queue_.release(slot.claim);
    slots_.release(index);
    crowded_ = false;
    return;
  }
  // The shepherd went on with it by itself; what it left to us is to know.
  const auto [next, recalled] = std::move(slot.next.front());
  slot.next.pop_front();
  slot.current = {next.key, ran.ended_ns};
  note_checkpoint(slot, next);
  slot.announced = false;
  if (recalled == Successor::Recalled::cancelled)
    encode(slot.stream.outbox(), Cancel{slot.current.key});
  give_successors(index);
}

/// A shepherd that somebody stopped keeps no time and hears of no cancel.
void Agent::wake_stopped_slots() {
  for (;;) {
    siginfo_t stopped{};
    if (::waitid(P_ALL, 0, &stopped, WSTOPPED | WNOHANG) != 0 || stopped.si_pid == 0) return;
    ::kill(stopped.si_pid, SIGCONT);
  }
}

/// Somebody killed a shepherd: say what became of its task.
void Agent::on_slot_died(std::size_t index) {
  slots_.bury(index);
  Slot& slot = slots_[index];
  if (!slot.busy) return;
  // Its log knows more than it had told us.
  const auto path = slot_log_path(config_.dir, static_cast<unsigned>(index));
  const SlotHistory history = recover_slot_log(path).value_or(SlotHistory{});
  while (!slot.next.empty() && !history.has_begun(slot.next.back().start.key))
    on_returned(index, slot.next.back().start.key);
  while (slot.busy) {
    const std::string* end = history.end_of(slot.current.key);
    end_task(
        index,
        end != nullptr ? *end : unrun_report(slot.current, Cause::lost, "its slot process died"),
        Kept::in_slot_log);
  }
}

void Agent::add_report(std::size_t slot, std::string body, Kept kept) {
  const auto& report = book_.add(slot, std::move(body), kept);
  if (!gantry_) return;
  encode_ended(gantry_.outbox(), report.receipt, report.body);
  note_news();
}

}  // namespace gantry::agent
