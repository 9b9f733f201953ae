#include "testbed/link_relay.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/if.h>
#include <linux/if_tun.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>

#include "base/fd.hpp"
#include "testbed/delay_line.hpp"

namespace gantry::testbed {

namespace {

constexpr std::size_t kMostOnTheWay = std::size_t{256} << 20U;
constexpr auto kCutCheck = std::chrono::milliseconds(5);
constexpr int kPacketsAtOnce = 64;
constexpr std::size_t kLargestPacket = 65536 + 64;  ///< with its header

Duration monotonic_now() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return Duration{to_ns(now)};
}

/// The device is there already; its packets now come to us.
Result<UniqueFd> open_device(const RelayEnd& end) {
  TRY_ASSIGN(const UniqueFd netns, open_file("/run/netns/" + end.netns, O_RDONLY));
  if (::setns(netns.get(), CLONE_NEWNET) != 0) return fail_errno("enter " + end.netns);
  TRY_ASSIGN(UniqueFd device, open_file("/dev/net/tun", O_RDWR | O_NONBLOCK));
  ifreq request{};
  // With a header before each packet, and large ones as they are: a checksum or a cut into small
  // ones that the kernel has put off goes on to the other side, where it is done if need be.
  request.ifr_flags = IFF_TUN | IFF_NO_PI | IFF_VNET_HDR;
  end.device.copy(request.ifr_name, IFNAMSIZ - 1);
  if (::ioctl(device.get(), TUNSETIFF, &request) != 0) return fail_errno("attach " + end.device);
  if (::ioctl(device.get(), TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4) != 0)
    return fail_errno("offload of " + end.device);
  return device;
}

class Relay {
 public:
  Relay(const LinkRelay& relay, UniqueFd one, UniqueFd other)
      : cut_file_(relay.cut_file),
        devices_{std::move(one), std::move(other)},
        lines_{DelayLine(relay.latency, kMostOnTheWay), DelayLine(relay.latency, kMostOnTheWay)} {}

  Result<> run() {
    for (;;) {
      TRY(wait());
      look_for_cut();
      for (std::size_t side = 0; side < 2; ++side) TRY(receive(side));
      for (std::size_t side = 0; side < 2; ++side) deliver(side);
    }
  }

 private:
  /// Until a packet comes, or one is due.
  Result<> wait() {
    std::optional<Duration> due = lines_[0].next_due();
    if (const auto second = lines_[1].next_due(); second && (!due || *second < *due)) due = second;
    timespec left{};
    if (due) {
      const auto ns = std::max(Duration{}, *due - monotonic_now()).count();
      left = {ns / 1'000'000'000, ns % 1'000'000'000};
    }
    std::array<pollfd, 2> polled{{{devices_[0].get(), POLLIN, 0}, {devices_[1].get(), POLLIN, 0}}};
    if (::ppoll(polled.data(), polled.size(), due ? &left : nullptr, nullptr) < 0 && errno != EINTR)
      return fail_errno("ppoll");
    for (const auto& one : polled)
      if ((one.revents & (POLLERR | POLLNVAL | POLLHUP)) != 0 && (one.revents & POLLIN) == 0)
        return fail(ErrorCode::gone, "a device of this link has gone");
    return {};
  }

  Result<> receive(std::size_t side) {
    for (int i = 0; i < kPacketsAtOnce; ++i) {
      const ssize_t got = ::read(devices_[side].get(), buffer_.data(), buffer_.size());
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) return {};
      // EIO: the device is down for now.
      if (got < 0 && errno == EIO) return {};
      if (got <= 0) return fail_errno("read");
      if (!cut_) lines_[side].put(monotonic_now(), {buffer_.data(), static_cast<std::size_t>(got)});
    }
    return {};
  }

  void deliver(std::size_t side) {
    const Duration now = monotonic_now();
    while (const auto packet = lines_[side].take(now)) {
      // What the other side does not take is lost, as on any link.
      if (::write(devices_[1 - side].get(), packet->data(), packet->size()) < 0) continue;
    }
  }

  void look_for_cut() {
    const Duration now = monotonic_now();
    if (now < next_look_) return;
    next_look_ = now + kCutCheck;
    cut_ = cut_left(cut_file_).has_value();
    if (cut_)
      for (auto& line : lines_) line.clear();
  }

  std::filesystem::path cut_file_;
  std::array<UniqueFd, 2> devices_;
  std::array<DelayLine, 2> lines_;
  std::array<char, kLargestPacket> buffer_{};
  Duration next_look_{};
  bool cut_ = false;
};

}  // namespace

Result<> run_relay(const LinkRelay& relay) {
  // A link must not become slower because hosts compute. Without the right to it, it may.
  static_cast<void>(::setpriority(PRIO_PROCESS, 0, -15));
  TRY_ASSIGN(UniqueFd one, open_device(relay.one));
  TRY_ASSIGN(UniqueFd other, open_device(relay.other));
  return Relay(relay, std::move(one), std::move(other)).run();
}

Result<> cut_link(const std::filesystem::path& cut_file, std::optional<Duration> how_long) {
  const Duration until = how_long ? monotonic_now() + *how_long : Duration::max();
  return write_file_atomic(cut_file, fmt::format("{}\n", until.count()));
}

Result<> mend_link(const std::filesystem::path& cut_file) {
  std::error_code error;
  std::filesystem::remove(cut_file, error);
  if (!error) return {};
  return fail(ErrorCode::io, fmt::format("{}: {}", cut_file.string(), error.message()));
}

std::optional<Duration> cut_left(const std::filesystem::path& cut_file) {
  const auto text = read_file(cut_file, 100);
  if (!text) return std::nullopt;
  Duration::rep until = 0;
  std::from_chars(text->data(), text->data() + text->size(), until);
  if (Duration{until} == Duration::max()) return Duration::max();
  const Duration left = Duration{until} - monotonic_now();
  if (left <= Duration{}) return std::nullopt;
  return left;
}

}  // namespace gantry::testbed
