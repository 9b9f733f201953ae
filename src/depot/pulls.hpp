#pragma once
/// The files that a file server fetches from other sites: one connection for each site that gives,
/// made when it is needed, over which files come one after the other. When a site
/// cannot be reached, is silent or breaks the protocol, only the files wanted from it fail. Never
/// waits.
/// Owned by a file server.

#include <poll.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "depot/peer.hpp"

namespace gantry::depot {

class Pulls {
 public:
  explicit Pulls(PullOptions options) : options_(std::move(options)) {}

  /// `bytes`: of the whole file.
  void add(const PeerSite& from, const Want& want, std::uint64_t bytes, TimePoint now);
  void forget(RequestId id);

  /// The next piece of a file: in order, without gaps, and never more than was announced. False:
  /// nobody wants more of it.
  using OnPiece = std::function<bool(RequestId, std::string_view bytes)>;
  /// Nothing more comes of it. `gone`: the site does not have it; `peer`: it could not be asked.
  using OnFailure = std::function<void(RequestId, const Error&)>;
  /// What is there to be done now.
  void step(TimePoint now, const OnPiece& piece, const OnFailure& failure);

  /// What to wait for, and until when; kNever: for ever.
  void add_wanted(std::vector<pollfd>& fds) const;
  [[nodiscard]] TimePoint deadline() const;

 private:
  struct Wanted {
    RequestId id = 0;
    std::uint64_t bytes = 0;
    std::uint64_t at = 0;    ///< the next piece begins there
    bool answered = false;   ///< its head has come
    bool forgotten = false;  ///< nobody wants it any more
  };
  struct Link {
    std::optional<FarProgram> peer{};
    std::string greeting{};  ///< what to wait for; empty once it has come
    std::string prelude{};   ///< output of the login shell
    FrameReader reader{kMaxFilesFrame};
    std::string outbox{};
    std::deque<Wanted> wanted{};  ///< answered in this order
    TimePoint heard = kNever;     ///< or asked first

    /// What was asked for comes all the same, unless nothing else is wanted.
    [[nodiscard]] bool is_needless() const {
      return !wanted.empty() && std::ranges::all_of(wanted, &Wanted::forgotten);
    }
  };

  Result<> open(Link& link, const PeerSite& site, TimePoint now);
  Result<> work(Link& link, TimePoint now, const OnPiece& piece, const OnFailure& failure);
  static void send(Link& link);
  /// Whether there may be more.
  Result<bool> receive(Link& link, TimePoint now);
  Result<> take(Link& link, const RawFrame& frame, const OnPiece& piece, const OnFailure& failure);
  Result<> take_data(Wanted& wanted, const std::optional<Data>& data, const OnPiece& piece);

  PullOptions options_;
  std::map<PeerSite, Link> links_;
  Unpacker unpacker_;
};

}  // namespace gantry::depot
