#pragma once
/// How a file server reaches another site: tests and fuzzers start nothing.

#include <functional>
#include <string>

#include "base/far_program.hpp"
#include "base/result.hpp"
#include "base/time.hpp"
#include "depot/pull_protocol.hpp"

namespace gantry::depot {

/// Begins to reach the site, without waiting; REQUIRES: is_usable(). It will say
/// giver_greeting(token).
using OpenPeer = std::function<Result<FarProgram>(const PeerSite& site, const std::string& token)>;

/// By this machine's ssh, as whoever runs this program would by hand.
Result<FarProgram> open_ssh_peer(const PeerSite& site, const std::string& token);

struct PullOptions {
  OpenPeer open{};  ///< empty: no other site can be reached
  /// How long a site that was asked for files may say nothing.
  Duration patience = std::chrono::seconds(30);
  /// How long a connection waits for the next file.
  Duration idle = std::chrono::seconds(10);
};

}  // namespace gantry::depot
