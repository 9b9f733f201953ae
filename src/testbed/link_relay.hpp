#pragma once
/// A link between two namespaces: a process that carries packets from one TUN device to another,
/// each after the link's latency, and none while the link is cut. The devices' rate is tc's work.

#include <filesystem>
#include <optional>
#include <string>

#include "base/result.hpp"
#include "base/time.hpp"

namespace gantry::testbed {

struct RelayEnd {
  std::string netns;
  std::string device;
};

struct LinkRelay {
  RelayEnd one;
  RelayEnd other;
  Duration latency{};
  std::filesystem::path cut_file;  ///< see cut_link()
};

/// Runs until it is killed, or a device has gone. REQUIRES: the process has one thread.
Result<> run_relay(const LinkRelay& relay);

/// A link is cut while its file says so: "TIME", nanoseconds of the kernel's monotonic clock until
/// which it is cut. A file, so that the cut outlives the command that made it
/// and ends in time by itself.
Result<> cut_link(const std::filesystem::path& cut_file, std::optional<Duration> how_long);
Result<> mend_link(const std::filesystem::path& cut_file);
/// How long it will still be cut; nothing when it is not, Duration::max() when it is for good.
std::optional<Duration> cut_left(const std::filesystem::path& cut_file);

}  // namespace gantry::testbed
