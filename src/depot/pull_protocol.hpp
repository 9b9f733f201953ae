#pragma once
/// How a file gets from one site to another without passing home. Home says to the file server of
/// the site that shall have it (files_protocol.hpp):
///
///   home: pull                           site: done or failed
///
/// That site logs in to the giving one, by the name that home told, and starts its agent there with
/// the word "give" (giver.hpp), which first says a line with a token, then answers:
///
///   receiving site: want...              giving site: file, data..., end, or failed; in order
///
/// Neither trusts the other: what arrives counts if its content is what home said.

#include <string>
#include <string_view>
#include <vector>

#include "depot/files_protocol.hpp"

namespace gantry::depot {

/// The giving site, as the receiving one reaches it.
struct PeerSite {
  std::string ssh;      ///< is_ssh_name()
  std::string scratch;  ///< there; absolute, or begins with ~/
  std::string agent;    ///< the program's name in SCRATCH/bin
  friend auto operator<=>(const PeerSite&, const PeerSite&) = default;
};
/// Whether it can be asked at all: nothing in it can become an option or another command.
bool is_usable(const PeerSite& peer);

struct Pull {
  static constexpr auto kType = FilesMessage::pull;
  RequestId id = 0;
  Digest content;
  std::uint64_t bytes = 0;
  bool executable = false;
  PeerSite from;

  static void fields(auto& wire, auto& m) {
    wire(m.id, m.content, m.bytes, m.executable);
    wire(m.from.ssh, m.from.scratch, m.from.agent);
    wire.require(m.bytes <= kMaxFileBytes && is_usable(m.from));
  }
};
struct Want {
  static constexpr auto kType = FilesMessage::want;
  RequestId id = 0;
  Digest content;
  std::uint64_t skip = 0;  ///< bytes that are here already

  static void fields(auto& wire, auto& m) {
    wire(m.id, m.content, m.skip);
    wire.require(m.skip <= kMaxFileBytes);
  }
};

/// ssh and its arguments, for a peer that is_usable(). `token`: a plain word.
std::vector<std::string> peer_words(const PeerSite& peer, const std::string& token);
/// What the giving site says first; what its login shell printed may stand before it.
std::string giver_greeting(std::string_view token);

}  // namespace gantry::depot
