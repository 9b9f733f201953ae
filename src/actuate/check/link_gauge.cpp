#include "actuate/check/link_gauge.hpp"

#include <algorithm>
#include <cstring>

#include "base/chance.hpp"
#include "base/child_process.hpp"
#include "base/fd.hpp"

namespace gantry {

namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t kFirstBytes = std::uint64_t{64} << 10;
constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 20;
/// What took so long tells how fast it was; with less, start and end count too much.
constexpr Duration kLongEnough = 500ms;
/// For one file. Others wait for their turn meanwhile.
constexpr Duration kPatience = 5s;
/// A large file is offered first: that takes one round trip, and its end another.
constexpr int kRoundTripsOfAFile = 2;
constexpr Duration kLeast = 100us;

double rate_of(std::uint64_t bytes, Duration took, Duration round_trip) {
  const Duration moving = std::max(took - kRoundTripsOfAFile * round_trip, took / 4);
  return static_cast<double>(bytes) / seconds(std::max(moving, kLeast));
}

/// Larger, but not so much that a burst at the beginning could make it take minutes.
std::uint64_t next_size(std::uint64_t bytes, Duration took) {
  const double wanted = seconds(kLongEnough) * 1.5 / std::max(seconds(took), 1e-3);
  const auto factor = static_cast<std::uint64_t>(std::clamp(wanted, 2.0, 8.0));
  return std::min(kMostBytes, bytes * factor);
}

}  // namespace

Result<Put> write_unknown_file(const std::filesystem::path& path, std::uint64_t bytes) {
  TRY_ASSIGN(const Digest random, random_digest());
  std::uint64_t state = random.low;
  std::string content(bytes, '\0');
  for (std::size_t at = 0; at + sizeof state <= content.size(); at += sizeof state) {
    const std::uint64_t word = mixed(state++);
    std::memcpy(content.data() + at, &word, sizeof word);
  }
  TRY(write_file_atomic(path, content));
  return Put{path.string(), hash_bytes(content), bytes, false};
}

Result<> measure_link(HostProbe& probe, const std::filesystem::path& folder, Duration round_trip,
                      LinkSpeed& speed) {
  Put sent;
  for (std::uint64_t bytes = kFirstBytes;;) {
    TRY_ASSIGN(const Put next, write_unknown_file(folder / "payload", bytes));
    TRY_ASSIGN(const Duration took, probe.send(next, kPatience));
    if (!sent.content.empty()) probe.drop(sent.content);
    sent = next;
    speed.to_site = rate_of(bytes, took, round_trip);
    if (took - round_trip >= kLongEnough || bytes >= kMostBytes) break;
    bytes = next_size(bytes, took);
  }
  TRY_ASSIGN(const std::string there, probe.run_task_with(sent.content));
  const Get get{there, (folder / "back").string()};
  TRY_ASSIGN(const Duration took, probe.fetch(get, kPatience));
  speed.from_site = rate_of(sent.bytes, took, round_trip);
  return {};
}

}  // namespace gantry
