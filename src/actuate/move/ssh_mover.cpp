#include "actuate/move/ssh_mover.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "actuate/move/stream_mover.hpp"

namespace gantry {

namespace {

using namespace std::chrono_literals;
using SteadyClock = std::chrono::steady_clock;

/// After a connection that failed.
constexpr auto kPause = 3s;
/// To what ssh has to say, lest it wait for us.
constexpr auto kListenEvery = 1s;
/// Fewer may be a line that is cut, which the site's agents tell soon.
constexpr std::uint32_t kMostMoverFailures = 3;
/// For what was sent to get there. Bounded: a person may wait for the end.
constexpr auto kMoverClosePatience = 5s;

class SshMover final : public Mover {
 public:
  SshMover(RemoteSite site, const AgentBinary& binary)
      : site_(std::move(site)),
        binary_(binary),
        stream_(make_stream_mover({.connect = [this] { return connect(); },
                                   .name = site_.holder,
                                   .quota = site_.quota,
                                   .first_pause = 10ms,
                                   .longest_pause = 100ms})) {}

  TransferId put(const Put& file) override { return stream_->put(file); }
  TransferId get(const Get& file) override { return stream_->get(file); }
  TransferId drop(const Digest& content) override { return stream_->drop(content); }
  TransferId verify(const Digest& content) override { return stream_->verify(content); }
  TransferId remove(const std::string& remote) override { return stream_->remove(remote); }
  void cancel(TransferId id) override { stream_->cancel(id); }
  bool probe(std::uint64_t bytes) override { return stream_->probe(bytes); }
  void glance(SiteGlance& site) const override { stream_->glance(site); }

  void use_hosts(std::span<const HostId> up) override {
    hosts_.assign(up.begin(), up.end());
    if (hosts_.empty()) failures_ = 0;
  }

  Result<> poll(std::vector<MoverEvent>& events) override {
    if (const auto now = SteadyClock::now(); connection_ && now - listened_at_ > kListenEvery) {
      listened_at_ = now;
      connection_->listen();
    }
    const std::size_t first = events.size();
    auto polled = stream_->poll(events);
    for (std::size_t i = first; i < events.size(); ++i) notice(events[i]);
    std::ranges::move(std::exchange(troubles_, {}), std::back_inserter(events));
    watch();
    return polled;
  }
  [[nodiscard]] ReadySet::Wanted waits_for() const override { return {ready_.fd()}; }

  bool close() override {
    const auto now = SteadyClock::now();
    if (!close_by_) {
      close_by_ = now + kMoverClosePatience;
      stream_->close();
      if (connection_ && connection_->fd() >= 0) connection_.reset();  // nobody has used it yet
    }
    return !connection_ || connection_->has_ended() || now >= *close_by_;
  }

 private:
  /// Asked again and again until it succeeds.
  Result<UniqueFd> connect() {
    const auto now = SteadyClock::now();
    if (now < connect_after_) return fail(ErrorCode::busy, why_down_);
    if (hosts_.empty()) {
      connection_.reset();
      return fail(ErrorCode::busy, "no host of the site can be reached");
    }
    if (!connection_ || connection_->fd() < 0) {
      TRY_ASSIGN(connection_, SshConnection::begin(target(), binary_, {"files", "."}));
      began_at_ = now;
    }
    switch (connection_->advance()) {
      case SshConnection::State::ready:
        return connection_->take_socket();
      case SshConnection::State::connecting:
        if (now - began_at_ < connection_->patience()) return fail(ErrorCode::busy, "connecting");
        why_down_ = "it does not answer";
        break;
      case SshConnection::State::failed:
        why_down_ = connection_->why();
        break;
    }
    ++failures_;
    on_trouble(why_down_);
    connect_after_ = now + kPause;
    connection_.reset();
    return fail(ErrorCode::peer, why_down_);
  }

  [[nodiscard]] SshTarget target() const {
    const HostId id = hosts_[tried_ % hosts_.size()];
    return site_.target(*std::ranges::find(site_.hosts, id, &RemoteHost::id));
  }

  void notice(MoverEvent& event) {
    if (auto* sent = std::get_if<SentAfterAll>(&event); sent && !hosts_.empty())
      sent->host = target().host;

    if (std::holds_alternative<Inventory>(event)) failures_ = 0;
    if (std::holds_alternative<TransferDone>(event)) interruptions_ = 0;
    const auto* silence = std::get_if<Interrupted>(&event);
    if (silence != nullptr && interruptions_++ > 0) on_trouble(silence->why);
  }

  /// The next host may do better.
  void on_trouble(const std::string& why) {
    ++tried_;
    troubles_.emplace_back(NotReached{why, failures_ >= kMostMoverFailures || interruptions_ > 1});
  }

  void watch() {
    std::vector<ReadySet::Wanted> wanted{stream_->waits_for()};
    if (connection_) wanted.push_back({connection_->fd(), connection_->wants_to_send()});
    ready_.watch(wanted);
  }

  RemoteSite site_;
  const AgentBinary& binary_;
  std::vector<HostId> hosts_;  ///< that are up
  std::size_t tried_ = 0;      ///< hosts, in vain
  std::unique_ptr<SshConnection> connection_;
  SteadyClock::time_point connect_after_{};
  SteadyClock::time_point began_at_{};  ///< to connect
  SteadyClock::time_point listened_at_{};
  std::optional<SteadyClock::time_point> close_by_;
  std::string why_down_;
  std::uint32_t failures_ = 0;       ///< to connect, in a row
  std::uint32_t interruptions_ = 0;  ///< since something was done
  std::vector<MoverEvent> troubles_;
  ReadySet ready_;
  std::unique_ptr<Mover> stream_;  ///< last: it calls connect()
};

}  // namespace

std::unique_ptr<Mover> make_ssh_mover(RemoteSite site, const AgentBinary& binary) {
  return std::make_unique<SshMover>(std::move(site), binary);
}

}  // namespace gantry
