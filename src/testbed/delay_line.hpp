#pragma once
/// One direction of a link: packets come out `latency` after they went in, in order. When too much
/// is on its way, it drops new packets, as a full router does. Pure: time is handed in.

#include <chrono>
#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"

namespace gantry::testbed {

class DelayLine {
 public:
  DelayLine(Duration latency, std::size_t most_bytes)
      : latency_(latency), most_bytes_(most_bytes) {}

  /// False when it was dropped.
  bool put(Duration now, std::string_view packet) {
    if (bytes_ + packet.size() > most_bytes_) return false;
    bytes_ += packet.size();
    packets_.push_back({now + latency_, std::string(packet)});
    return true;
  }
  /// The next packet that is due, if there is one.
  std::optional<std::string> take(Duration now) {
    if (packets_.empty() || packets_.front().due > now) return std::nullopt;
    std::string packet = std::move(packets_.front().bytes);
    packets_.pop_front();
    bytes_ -= packet.size();
    return packet;
  }
  /// When the next one will be due.
  [[nodiscard]] std::optional<Duration> next_due() const {
    if (packets_.empty()) return std::nullopt;
    return packets_.front().due;
  }
  /// Loses all that is on its way.
  void clear() {
    packets_.clear();
    bytes_ = 0;
  }

 private:
  struct Packet {
    Duration due;
    std::string bytes;
  };
  Duration latency_;
  std::size_t most_bytes_;
  std::size_t bytes_ = 0;
  std::deque<Packet> packets_;
};

}  // namespace gantry::testbed
