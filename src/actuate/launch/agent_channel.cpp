#include "actuate/launch/agent_channel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "actuate/launch/task_wire.hpp"

namespace gantry {

using agent::MessageType;

namespace {
/// A few hundred reports. The rest waits in the socket: with hundreds of agents, all that they have
/// to tell at once would fill memory.
constexpr std::size_t kReceived = std::size_t{64} << 10;
/// Each refuses less than those before: more than this is no agent of ours.
constexpr std::size_t kMostRefusals = 10'000;

/// Times of agents may be any, and so far apart that their distance is no time.
double seconds_run(const AttemptReport& report) {
  return (static_cast<double>(to_ns(report.ended)) - static_cast<double>(to_ns(report.started))) /
         1e9;
}
}  // namespace

void AgentChannel::attach(UniqueFd socket) {
  stream_ = agent::FrameStream(std::move(socket));
  welcomed_ = false;
  problem_.reset();
  reports_expected_ = 0;
  running_now_.clear();
  for (auto& [key, given] : outstanding_) given.handed.reset();
  refusals_.clear();
  resting_.reset();
  ++epoch_;
  encode(stream_.outbox(), hello_);
}

// Out.
// -----------------------------------------------------------------------------------------------

bool AgentChannel::start(const agent::Start& start) {
  const std::size_t before = stream_.outbox().size();
  encode(stream_.outbox(), start);
  if (stream_.outbox().size() - before > agent::kMaxFrame) {
    stream_.outbox().resize(before);
    refuse(start);
    return false;
  }
  give(start);
  return true;
}

void AgentChannel::give(const agent::Start& start) {
  const TaskKey key = from_wire(start.key);
  take_off(key);
  Given given{.cores = std::max<std::uint64_t>(start.cores, 1), .memory = start.memory};
  cores_given_ += given.cores;
  memory_given_ += given.memory;
  const std::uint64_t cores = hello_.cores != 0 ? hello_.cores : cores_;
  const std::uint64_t memory = hello_.memory != 0 ? hello_.memory : memory_;
  if (cores_given_ <= cores && memory_given_ <= memory) given.handed = SteadyClock::now();
  outstanding_[key] = given;
}

void AgentChannel::take_off(const TaskKey& key) {
  const auto found = outstanding_.find(key);
  if (found == outstanding_.end()) return;
  cores_given_ -= found->second.cores;
  memory_given_ -= found->second.memory;
  outstanding_.erase(found);
}

void AgentChannel::cancel(const TaskKey& key) {
  encode(stream_.outbox(), agent::Cancel{to_wire(key)});
}

void AgentChannel::signal(const TaskKey& key, std::int32_t signal) {
  encode(stream_.outbox(), agent::Tell{to_wire(key), signal});
}

void AgentChannel::recall(std::span<const TaskKey> keys) {
  agent::Recall recall;
  for (const TaskKey& key : keys) recall.keys.push_back(to_wire(key));
  encode(stream_.outbox(), recall);
}

void AgentChannel::acknowledge(std::uint64_t receipt) {
  if (attached() && receipt >> kEpochShift == epoch_)
    encode(stream_.outbox(), agent::Ack{receipt & kReceiptMask});
}

void AgentChannel::refuse(const agent::Start& start) {
  AttemptReport report = unrun_report(from_wire(start.key), FailureCause::start_failed,
                                      "its arguments and environment are too long");
  report.code = E2BIG;
  reports_.push_back({{std::move(report), from_tag(start.tag), host_, last_receipt_}});
}

/// Nobody can say what became of this attempt.
void AgentChannel::give_up(const TaskKey& key, TimePoint started) {
  AttemptReport report =
      unrun_report(key, FailureCause::lost, "its agent died and left no record of it");
  report.started = started;
  reports_.push_back({{std::move(report), {}, host_, last_receipt_}});
}

void AgentChannel::settle() {
  const auto before = std::exchange(outstanding_, {});
  cores_given_ = memory_given_ = 0;
  for (const auto& [key, given] : before) {
    if (running_now_.contains(key)) {
      outstanding_[key] = given;
      cores_given_ += given.cores;
      memory_given_ += given.memory;
    } else if (given.started == kNever) {
      events_.emplace_back(AttemptReturned{key, host_});
    } else {
      give_up(key, given.started);
    }
  }
}

// In.
// ------------------------------------------------------------------------------------------------

bool AgentChannel::receive() {
  const std::uint64_t before = frames_heard_;
  while (frames_heard_ == before) {
    const auto received = stream_.receive(kReceived);
    if (received == agent::FrameStream::Received::nothing) return true;
    if (received == agent::FrameStream::Received::end) return false;
    while (const auto frame = stream_.next()) {
      if (!on_frame(*frame)) return false;
    }
    if (stream_.broken()) return false;
  }
  return true;
}

bool AgentChannel::on_frame(const agent::Frame& frame) {
  ++frames_heard_;
  if (frame.type == MessageType::welcome) return on_welcome(frame);
  if (!welcomed_) return false;
  switch (frame.type) {
    case MessageType::ended:
      return on_ended(frame);
    case MessageType::started: {
      const auto started = decode<agent::Started>(frame.body);
      if (!started) return false;
      on_running(from_wire(started->key), from_ns(started->started_ns));
      return true;
    }
    case MessageType::returned: {
      const auto key = decode<agent::AttemptKey>(frame.body);
      if (!key) return false;
      take_off(from_wire(*key));
      events_.emplace_back(AttemptReturned{from_wire(*key), host_});
      return true;
    }
    case MessageType::notice: {
      auto notice = decode<agent::Notice>(frame.body);
      if (notice) events_.emplace_back(Notice{std::move(notice->text)});
      return notice.has_value();
    }
    case MessageType::refused: {
      auto refused = decode<agent::Refused>(frame.body);
      if (!refused || refusals_.size() >= kMostRefusals) return false;
      refusals_.push_back({refused->cores, refused->memory, std::move(refused->why)});
      return true;
    }
    case MessageType::resting: {
      auto resting = decode<agent::Resting>(frame.body);
      if (!resting) return false;
      resting_.reset();
      if (resting->now) resting_ = std::move(resting->why);
      return true;
    }
    case MessageType::load:
      load_ = decode<agent::Load>(frame.body);
      if (load_ && load_->share != agent::Load::kNoShare)
        events_.emplace_back(HostLoaded{
            .host = host_, .share = load_->share / 1000.0, .at = from_ns(load_->clock_ns)});
      return load_.has_value();
    default:
      return false;
  }
}

bool AgentChannel::on_ended(const agent::Frame& frame) {
  auto ended = agent::decode_ended(frame.body);
  if (!ended || !knows_cause(ended->second)) return false;
  last_receipt_ = epoch_ << kEpochShift | ended->first;
  AgentReport& told = reports_.emplace_back();
  told.tag = std::move(ended->second.tag);
  told.swept = ended->second.swept;
  ReportReceived& event = told.received;
  for (const auto& hex : ended->second.unstaged)
    if (const auto content = Digest::from_hex(hex)) event.left.lacking.push_back(*content);
  event.fingerprint = from_tag(told.tag);
  event.report = from_wire(std::move(ended->second));
  event.host = host_;
  event.receipt = last_receipt_;
  if (const auto given = outstanding_.find(event.report.key); given != outstanding_.end()) {
    if (given->second.handed && event.report.cause == FailureCause::none)
      event.besides =
          seconds(SteadyClock::now() - *given->second.handed) - seconds_run(event.report);
    // It was over before its start was heard of.
    if (event.besides && given->second.started == kNever) waits_.push_back(*event.besides);
  }
  take_off(event.report.key);
  if (reports_expected_ > 0)
    --reports_expected_;  // of an earlier agent's time
  else
    ++ends_heard_;
  return true;
}

bool AgentChannel::on_welcome(const agent::Frame& frame) {
  const auto welcome = decode<agent::Welcome>(frame.body);
  if (!welcome) return false;
  if (welcome->version != agent::kProtocolVersion) {
    problem_ = Error{ErrorCode::version,
                     fmt::format("the agent {} (process {}) is of another version of Gantry",
                                 place_, welcome->pid),
                     "wait until its tasks have ended, or end that process; then run again"};
    return false;
  }
  welcomed_ = true;
  cores_ = welcome->cores;
  memory_ = welcome->memory;
  left_ = Duration(std::max<std::int64_t>(0, welcome->left_ns));
  reports_expected_ = welcome->reports;
  for (const auto& running : welcome->running) {
    const TaskKey key = from_wire(running.key);
    running_now_.insert(key);
    on_running(key, from_ns(running.started_ns));
  }
  return true;
}

void AgentChannel::on_running(const TaskKey& key, TimePoint started) {
  // What we did not hand over takes up nobody knows how much.
  constexpr std::uint64_t kAll = std::uint64_t{1} << 32;
  const auto [found, adopted] = outstanding_.try_emplace(key);
  Given& given = found->second;
  if (adopted) cores_given_ += given.cores = kAll;
  if (given.handed && given.started == kNever)
    waits_.push_back(seconds(SteadyClock::now() - *given.handed));
  given.started = started;
  events_.emplace_back(AttemptStarted{key, host_, started});
}

}  // namespace gantry
