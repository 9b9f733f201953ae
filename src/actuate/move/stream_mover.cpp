#include "actuate/move/stream_mover.hpp"

#include <fmt/format.h>
#include <sys/socket.h>

#include <utility>

#include "actuate/move/stream_mover_impl.hpp"
#include "base/child_process.hpp"

namespace gantry {

namespace {

/// What is received in one poll() at the most.
constexpr std::size_t kMostInAPoll = std::size_t{8} << 20;
/// Bytes that are over before an answer comes.
constexpr std::uint64_t kSmallFile = 16 << 10;

}  // namespace

StreamMover::StreamMover(StreamMoverOptions options)
    : options_(std::move(options)),
      link_(options_.connect, options_.first_pause, options_.longest_pause) {
  if (options_.name.empty()) options_.name = random_digest().value_or(Digest{1, 0}).hex();
}

void StreamMover::cancel(TransferId id) {
  if (!transfers_.contains(id)) return;
  forget_remotely(id);
  transfers_.cancel(id);
  watch();
}

Result<> StreamMover::poll(std::vector<MoverEvent>& events) {
  if (!fatal_) work();
  for (auto& event : std::exchange(inventories_, {})) events.emplace_back(std::move(event));
  for (auto& event : transfers_.take_events()) events.push_back(std::move(event));
  if (fatal_) return tl::unexpected(*fatal_);
  return {};
}

void StreamMover::glance(SiteGlance& site) const {
  site.sent = sent_;
  site.received = received_;
  site.pulled = pulled_;
  if (sending_.empty()) return;
  const auto [transfer, put] = transfers_.find<Put>(sending_.front());
  if (transfer != nullptr) site.sending = {put->path, transfer->offset, put->bytes};
}

bool StreamMover::close() {
  if (link_.is_up()) {
    if (greeted_) announce_last();
    link_.stream().send();
    ::shutdown(link_.stream().fd(), SHUT_WR);
  }
  transfers_.clear();
  sending_.clear();
  greeted_once_ = true;
  link_.close();
  return true;
}

void StreamMover::watch() {
  const bool to_send = link_.is_up() && (link_.stream().wants_to_send() || has_more());
  link_.watch(clock_.now(), to_send, wants_link());
}

bool StreamMover::has_more() const {
  return greeted_ && (transfers_.has_next() || !sending_.empty());
}

bool StreamMover::wants_link() const {
  return !fatal_ && (!greeted_once_ || !transfers_.empty());
}

void StreamMover::forget_remotely(TransferId id) {
  if (greeted_)
    encode(link_.stream().outbox(), depot::FilesMessage::forget, depot::Numbered{id.value()});
}

void StreamMover::work() {
  if (wants_link() && link_.connect_if_due(clock_.now())) {
    heard_ = clock_.now();
    encode(link_.stream().outbox(),
           depot::FilesHello{depot::kFilesVersion, options_.name, options_.quota});
  }
  if (link_.is_up()) {
    flush();
    receive();
  }
  if (link_.is_up()) send();
  if (link_.is_up()) measure();
  if (link_.is_up() && wants_link()) notice_silence();
  if (!link_.is_up()) lose_patience();
  watch();
}

void StreamMover::notice_silence() {
  if (clock_.now() - heard_ < options_.silence) return;
  std::string why =
      fmt::format("nothing was heard from its file server for {:.0f} s", seconds(options_.silence));
  transfers_.remark(Interrupted{why});
  lose_link(std::move(why));
}

void StreamMover::receive() {
  for (std::size_t received = 0; received < kMostInAPoll; received += depot::kPieceBytes) {
    const auto got = link_.stream().receive(depot::kPieceBytes);
    if (got == agent::FrameStream::Received::nothing) return;
    if (got == agent::FrameStream::Received::end)
      return lose_link(greeted_ ? "the connection broke off" : "the remote side did not answer");
    heard_ = clock_.now();
    while (const auto frame = link_.stream().next()) {
      const auto type = static_cast<depot::FilesMessage>(frame->type);
      if (!take(type, frame->body)) return lose_link(kNotUnderstood);
      if (!link_.is_up()) return;
    }
    if (link_.stream().broken()) return lose_link(kNotUnderstood);
  }
}

/// What comes home at full speed keeps answers waiting.
void StreamMover::measure() {
  streams_home_ = received_ - std::exchange(received_before_, received_) > kSmallFile;
  if (!is_quiet()) return echo_.disturb();
  if (!greeted_ || link_.stream().wants_to_send()) return;
  send_echo([&](std::string& out) { echo_.ask_if_due(out, clock_.now()); });
}

bool StreamMover::probe(std::uint64_t bytes) {
  if (!greeted_ || !is_quiet() || echo_.is_out() || link_.stream().wants_to_send()) return false;
  send_echo([&](std::string& out) { echo_.probe(out, bytes, clock_.now()); });
  return true;
}

/// REQUIRES: nothing else is to be sent.
template <class Ask>
void StreamMover::send_echo(const Ask& ask) {
  ask(link_.stream().outbox());
  echo_left_ = link_.stream().to_send();
  flush();
}

bool StreamMover::on(const std::optional<depot::Echoed>& m) {
  std::optional<LinkEcho::Answer> answer;
  if (!m || !greeted_ || !echo_.answered(*m, clock_.now(), answer)) return false;
  if (answer) transfers_.remark(LinkEchoed{answer->seconds, answer->bytes, answer->trip});
  if (!echo_.has_padding_to_send()) return true;
  if (is_quiet() && !link_.stream().wants_to_send())
    send_echo([&](std::string& out) { echo_.send_padding(out, clock_.now()); });
  else
    echo_.drop_padding();
  return true;
}

void StreamMover::lose_link(std::string why) {
  echo_.forget();
  echo_left_ = 0;
  link_.lost(clock_.now(), std::move(why));
  greeted_ = false;
  inventory_ = {};
  sending_.clear();
  transfers_.announce_all_again();
}

void StreamMover::lose_patience() {
  const TimePoint now = clock_.now();
  if (now - link_.down_since() < options_.patience) return;
  transfers_.fail_asked_before(now - options_.patience,
                               fmt::format("the site could not be reached for {:.0f} s: {}",
                                           seconds(options_.patience), link_.why()));
}

std::unique_ptr<Mover> make_stream_mover(StreamMoverOptions options) {
  return std::make_unique<StreamMover>(std::move(options));
}

}  // namespace gantry
