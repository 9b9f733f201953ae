#include "actuate/check/host_probe.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <utility>

#include "actuate/launch/ssh/connection_hint.hpp"
#include "actuate/move/stream_mover.hpp"
#include "base/time.hpp"

namespace gantry {

namespace {

using namespace std::chrono_literals;

/// Between two looks at its load: what was used in between counts.
constexpr auto kLoadEvery = 500ms;
constexpr int kRoundTrips = 5;
/// For a task that does nothing.
constexpr auto kTaskPatience = 10s;
constexpr auto kLeavePatience = 3s;
constexpr int kLookAgainMs = 50;
constexpr std::uint32_t kProbeTask = 1;
constexpr std::string_view kBrokeOff = "the connection broke off";

}  // namespace

HostProbe::HostProbe(RemoteSite site, RemoteHost host, const AgentBinary& binary, Duration patience)
    : site_(std::move(site)),
      host_(std::move(host)),
      binary_(binary),
      patience_(patience),
      channel_(host_.id, "on " + host_.name,
               {.cores = 1,
                .environment = {},
                .own_environment = true,
                .load_every_ns = std::chrono::nanoseconds(kLoadEvery).count()}) {}

HostProbe::~HostProbe() = default;

Result<HostFacts> HostProbe::examine() {
  HostFacts facts;
  TRY(connect());
  TRY(hear_load(facts));
  TRY(open_files(facts));
  TRY_ASSIGN(facts.round_trip, measure_round_trip());
  // The load was half a round trip old when it was heard.
  facts.clock_ahead += facts.round_trip / 2;
  return facts;
}

// The agent.
// ------------------------------------------------------------------------------------------------

Result<> HostProbe::connect() {
  TRY_ASSIGN(to_agent_, SshConnection::begin(site_.target(host_), binary_,
                                             {"relay", host_folder(site_, host_.name), "."}));
  TRY(await([this] { return channel_.attached(); }, patience_, "to log in"));
  return await([this] { return channel_.is_open(); }, patience_, "for the agent to answer");
}

Result<> HostProbe::hear_load(HostFacts& facts) {
  // The first counts from the start of the machine.
  TRY(await([this] { return loads_heard_ >= 2; }, patience_, "for the agent to tell its load"));
  const agent::Load& load = *channel_.load();
  facts.cores = channel_.cores();
  facts.memory = channel_.memory();
  facts.free_cores = std::min<double>(facts.cores, load.free_millicores / 1000.0);
  facts.free_memory = load.free_memory;
  facts.free_disk = load.free_disk;
  facts.clock_ahead = Duration(load.clock_ns - to_ns(RealClock{}.now()));
  return {};
}

Result<std::string> HostProbe::run_task_with(const Digest& content) {
  const std::string folder = "work/" + site_.holder + "/run/" + host_.name;
  agent::Start start;
  start.key = {kProbeTask, kProbeTask, kProbeTask};
  start.argv = {"cp", "payload", "back"};
  start.sandbox = start.workdir = scratch_ + "/" + folder;
  start.make_workdir = true;
  start.inputs.push_back({"payload", content.hex(), false});
  start.outputs.push_back(start.sandbox + "/back");  // else nothing of it would be kept
  report_.reset();
  channel_.start(start);
  TRY(await([this] { return report_.has_value(); }, kTaskPatience, "for a task to end"));
  channel_.acknowledge(report_->receipt);
  const AttemptReport& report = report_->report;
  if (report.cause == FailureCause::none) return folder + "/back";
  return lost("a task that does nothing failed there: " +
              (report.detail.empty() ? std::string("cp does not work") : report.detail));
}

// Files.
// ------------------------------------------------------------------------------------------------

Result<UniqueFd> HostProbe::connect_files() {
  if (!to_files_) {
    TRY_ASSIGN(to_files_, SshConnection::begin(site_.target(host_), binary_, {"files", "."}));
  }
  switch (to_files_->advance()) {
    case SshConnection::State::ready:
      if (to_files_->fd() >= 0) return to_files_->take_socket();
      break;  // it was lost since
    case SshConnection::State::connecting:
      return fail(ErrorCode::busy, "connecting");
    case SshConnection::State::failed:
      break;
  }
  broken_ = last_line(to_files_->why());
  if (broken_.empty()) broken_ = kBrokeOff;
  return fail(ErrorCode::peer, broken_);
}

Result<> HostProbe::open_files(HostFacts& facts) {
  mover_ = make_stream_mover({.connect = [this] { return connect_files(); },
                              .name = site_.holder,
                              .quota = 0,  // nothing that others sent is evicted for a probe
                              .first_pause = 5ms,
                              .longest_pause = 20ms});
  const auto greeted = [&] {
    for (const auto& event : std::exchange(moved_, {})) {
      const auto* inventory = std::get_if<Inventory>(&event);
      if (inventory == nullptr) continue;
      facts.total_disk = inventory->total_bytes;
      return true;
    }
    return false;
  };
  return await(greeted, patience_, "for the depot to open");
}

/// The least of some: the others had to wait for something else.
Result<Duration> HostProbe::measure_round_trip() {
  Duration least = Duration::max();
  for (int i = 0; i < kRoundTrips; ++i) {
    TRY_ASSIGN(const Duration each,
               await_transfer(mover_->remove("work/" + site_.holder + "/nothing"), patience_,
                              "for an answer"));
    least = std::min(least, each);
  }
  return least;
}

Result<Duration> HostProbe::send(const Put& file, Duration patience) {
  sent_.push_back(file.content);
  return await_transfer(mover_->put(file), patience,
                        fmt::format("for {} bytes to get there", file.bytes));
}

Result<Duration> HostProbe::fetch(const Get& file, Duration patience) {
  return await_transfer(mover_->get(file), patience, "for a file to come from there");
}

Result<bool> HostProbe::finds(const Digest& content) {
  const auto verified = await_transfer(mover_->verify(content), patience_, "for an answer");
  if (verified) return true;
  if (verified.error().code == ErrorCode::gone) return false;
  return tl::unexpected(verified.error());
}

/// Asks for a file that nobody has: whoever says so was reached.
Result<> HostProbe::reaches(const depot::PeerSite& other) {
  const Put nothing{.path = "", .content = hash_bytes(site_.holder), .bytes = 1, .from = other};
  const TransferId id = mover_->put(nothing);
  const auto outcome = await_outcome(id, patience_, "to log in to " + other.ssh);
  mover_->cancel(id);
  TRY(outcome);
  if (!outcome->no_way) return {};
  return fail(ErrorCode::peer, outcome->why, connection_hint(outcome->why, other.ssh));
}

Result<Duration> HostProbe::pull(const Put& file, Duration patience) {
  sent_.push_back(file.content);
  const auto begun = Clock::now();
  const TransferId id = mover_->put(file);
  const auto outcome = await_outcome(id, patience, "for a file of another site");
  if (!outcome || !outcome->why.empty()) mover_->cancel(id);
  TRY(outcome);
  if (outcome->why.empty()) return Clock::now() - begun;
  return fail(ErrorCode::peer, outcome->why);
}

Result<HostProbe::Outcome> HostProbe::await_outcome(TransferId id, Duration patience,
                                                    std::string_view what) {
  std::optional<Outcome> outcome;
  const auto is_over = [&] {
    for (const auto& event : std::exchange(moved_, {})) {
      if (outcome) break;  // what follows is of the attempt to send it from home
      if (const auto* done = std::get_if<TransferDone>(&event); done != nullptr && done->id == id)
        outcome = Outcome{};
      if (const auto* sent = std::get_if<SentAfterAll>(&event); sent != nullptr && sent->id == id)
        outcome = Outcome{sent->why, sent->no_way};
      if (const auto* bad = std::get_if<TransferFailed>(&event); bad != nullptr && bad->id == id)
        outcome = Outcome{bad->why, true};
    }
    return outcome.has_value();
  };
  TRY(await(is_over, patience, what));
  return *outcome;
}

Result<Duration> HostProbe::await_transfer(TransferId id, Duration patience,
                                           std::string_view what) {
  const auto begun = Clock::now();
  const auto outcome = await_outcome(id, patience, what);
  if (!outcome) mover_->cancel(id);
  TRY(outcome);
  if (outcome->why.empty()) return Clock::now() - begun;
  return fail(ErrorCode::gone, outcome->why,
              connection_hint(outcome->why, ssh_by_hand(site_.target(host_))));
}

// Waiting.
// ------------------------------------------------------------------------------------------------

Result<> HostProbe::await(const Condition& condition, Duration patience, std::string_view what) {
  const auto began = Clock::now();
  for (;;) {
    look();
    if (condition()) return {};
    if (!broken_.empty()) return lost(broken_);
    const bool logs_in = to_agent_ && !channel_.attached();
    if (Clock::now() - began >= (logs_in ? to_agent_->patience(patience) : patience))
      return lost(fmt::format("it does not answer: waited {:g} s {}", seconds(patience), what));
    pollfd fd{ready_.fd(), POLLIN, 0};
    ::poll(&fd, 1, kLookAgainMs);
  }
}

void HostProbe::look() {
  std::vector<ReadySet::Wanted> wanted;
  if (to_agent_ && !channel_.attached()) {
    const auto state = to_agent_->advance();
    if (state == SshConnection::State::failed) broken_ = to_agent_->why();
    if (state == SshConnection::State::ready) {
      scratch_ = to_agent_->scratch();
      channel_.attach(to_agent_->take_socket());
    }
    wanted.push_back({to_agent_->fd(), to_agent_->wants_to_send()});
  }
  if (channel_.attached()) {
    channel_.send();
    const std::int64_t before = channel_.load() ? channel_.load()->clock_ns : 0;
    if (!channel_.receive()) on_agent_lost();
    if (channel_.load() && channel_.load()->clock_ns != before) ++loads_heard_;
    channel_.events().clear();
    for (auto& told : std::exchange(channel_.reports(), {})) report_ = std::move(told.received);
    wanted.push_back({channel_.fd(), channel_.wants_to_send()});
  }
  if (mover_) {
    if (const auto polled = mover_->poll(moved_); !polled) broken_ = polled.error().message;
    wanted.push_back(mover_->waits_for());
    if (to_files_) wanted.push_back({to_files_->fd(), to_files_->wants_to_send()});
  }
  ready_.watch(wanted);
}

void HostProbe::on_agent_lost() {
  broken_ = channel_.problem() ? channel_.problem()->message : last_line(to_agent_->why());
  if (broken_.empty()) broken_ = kBrokeOff;
}

tl::unexpected<Error> HostProbe::lost(const std::string& why) const {
  return fail(ErrorCode::peer, why, connection_hint(why, ssh_by_hand(site_.target(host_))));
}

void HostProbe::leave() {
  channel_.detach();  // an idle agent goes with its gantry
  if (mover_ && broken_.empty()) {
    if (to_agent_) {  // so that nothing is written any more to what is removed
      const auto deadline = Clock::now() + kLeavePatience;
      while (!to_agent_->has_ended() && Clock::now() < deadline) ::poll(nullptr, 0, 5);
      to_agent_.reset();
    }
    static_cast<void>(await_transfer(mover_->remove("work/" + site_.holder), kLeavePatience, ""));
    for (const Digest& content : sent_) mover_->drop(content);
    mover_->close();
    const auto deadline = Clock::now() + kLeavePatience;
    while (to_files_ && !to_files_->has_ended() && Clock::now() < deadline) ::poll(nullptr, 0, 5);
  }
  mover_.reset();
  to_files_.reset();
  to_agent_.reset();
}

}  // namespace gantry
