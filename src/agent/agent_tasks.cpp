// What gantry asks for, and the tasks.
#include <unistd.h>

#include <utility>

#include "agent/agent_impl.hpp"
#include "agent/causes.hpp"
#include "agent/slot_log.hpp"
#include "base/time.hpp"

namespace gantry::agent {

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

}  // namespace gantry::agent
