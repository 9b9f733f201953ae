#pragma once
/// The seam between a file server and the program with which it reaches another site: tests and
/// fuzzers have one that starts nothing. Owned by Pulls.

#include <functional>
#include <memory>
#include <string>

#include "base/result.hpp"
#include "base/time.hpp"
#include "depot/pull_protocol.hpp"

namespace gantry::depot {

/// A giving site at the far end of a connection; ends with this object.
class Peer {
 public:
  virtual ~Peer() = default;
  /// Its standard output and input. Does not block.
  [[nodiscard]] virtual int fd() const = 0;
  /// Readable when it has something to say besides; -1: it never has.
  [[nodiscard]] virtual int words_fd() const { return -1; }
  /// Takes that in, lest it wait for us.
  virtual void listen() {}
  /// What it said last besides: why it broke off.
  virtual std::string last_words() = 0;
};

/// Begins to reach the site, without waiting; REQUIRES: is_usable(). It will say
/// giver_greeting(token).
using OpenPeer =
    std::function<Result<std::unique_ptr<Peer>>(const PeerSite& site, const std::string& token)>;

struct PullOptions {
  OpenPeer open{};  ///< empty: no other site can be reached
  /// How long a site that was asked for files may say nothing.
  Duration patience = std::chrono::seconds(30);
  /// How long a connection waits for the next file.
  Duration idle = std::chrono::seconds(10);
};

}  // namespace gantry::depot
