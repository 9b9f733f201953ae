#pragma once
/// The seam between decisions about files and the world (APST's transport_api): a Mover carries
/// files between home and the depot and work folders of one site, or from another site (Put::from),
/// and lists what the depot has (Inventory). It knows nothing about tasks: it works with any
/// launcher. Everything it reports arrives as MoverEvents from poll(); it never calls back and
/// never waits. One thread: the driver's.

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "actuate/glance.hpp"
#include "base/hash.hpp"
#include "base/ready_set.hpp"
#include "base/result.hpp"
#include "base/strong_id.hpp"
#include "depot/pull_protocol.hpp"
#include "model/ids.hpp"

namespace gantry {

using TransferId = StrongId<struct TransferTag, std::uint64_t>;

/// A request: a file at home is to go to the site's depot.
struct Put {
  std::string path;
  Digest content;  ///< the file must not change until it has arrived
  std::uint64_t bytes = 0;
  bool executable = false;
  /// Absolute path of a file at the site that may have the same content. If it does, it is copied
  /// there and nothing is sent.
  std::string staged{};
  /// A site that has the file and that this one can log in to: it comes from there, if possible.
  std::optional<depot::PeerSite> from{};
};

/// What the depot has. Sent after each (re)connection.
struct Inventory {
  using File = depot::StoredFile;
  std::vector<File> files;       ///< in order of their hashes
  std::uint64_t free_bytes = 0;  ///< of the site's file system
  std::uint64_t total_bytes = 0;
};

/// A request: a file below the site's "work" folder, or a part of it, is to come home.
struct Get {
  static constexpr std::uint64_t kToTheEnd = std::numeric_limits<std::uint64_t>::max();

  std::string remote;  ///< relative to SCRATCH: "work/..."
  /// Replaced in one step when everything has arrived; its folders are created.
  std::string local;
  std::uint64_t offset = 0;
  std::uint64_t length = kToTheEnd;
  /// The content it must have; anything else is refused.
  std::optional<Inventory::File> expected{};
  /// Continues with the part that an earlier gantry has fetched, and keeps the part when this one
  /// ends.
  bool resume = false;
};

struct TransferDone {
  TransferId id;
  std::uint64_t bytes = 0;  ///< bytes that went over the network, perhaps compressed
  double seconds = 0;       ///< since the first byte
};
struct TransferFailed {
  TransferId id;
  std::string why;
  bool lost_connection = false;  ///< the site could not be reached: nothing is wrong with the file
  bool gone = false;             ///< the file is not there, or has other content than expected
  bool here = false;             ///< this machine could not store it: its disk may be full
};

/// The file of a put is sent from home after all, because `staged` or `from` did not work.
struct SentAfterAll {
  TransferId id;
  std::string why;
  bool pulled = false;  ///< it was to come from another site; otherwise it was to be staged
  bool no_way = false;  ///< that site could not even be asked
  std::string host{};   ///< name of the host that was to pull it; empty: not known
};

/// The site was connected and has fallen silent. It is connected again, and transfers continue.
struct Interrupted {
  std::string why;
};

/// The site could not be connected to, or fell silent once more. It is tried again, over another
/// host if it has one.
struct NotReached {
  std::string why;
  bool cut_off = false;  ///< it failed so often in a row that nothing can be moved for a while
};

/// How long an answer of the site's file server took while no file was in its way.
struct LinkEchoed {
  double seconds = 0;
  std::uint64_t bytes = 0;  ///< for a probe(): length of the message
  double trip = 0;          ///< for a probe(): seconds that an empty message took just before
};

using MoverEvent = std::variant<Inventory, TransferDone, TransferFailed, SentAfterAll, Interrupted,
                                NotReached, LinkEchoed>;

class Mover {
 public:
  virtual ~Mover() = default;

  // Requests are carried out in order, so that a drop makes room for the next put. Only the content
  // of large files is sent between later requests. Each request is answered by one TransferDone or
  // TransferFailed.

  virtual TransferId put(const Put& file) = 0;
  virtual TransferId get(const Get& file) = 0;
  /// Removes a file from the depot; fails while a task there uses it.
  virtual TransferId drop(const Digest& content) = 0;
  /// Reads the depot's file. Fails if it is damaged, and removes it.
  virtual TransferId verify(const Digest& content) = 0;
  /// Removes a folder (or file) below the site's "work" folder, with everything in it.
  virtual TransferId remove(const std::string& remote) = 0;
  /// Gives up the request; no event follows.
  virtual void cancel(TransferId id) = 0;

  /// Measures the link unless files are on their way: sends an empty message, then `bytes` of
  /// filler. LinkEchoed says how long each took, if nothing came in between. False if nothing was
  /// sent, which is always so for movers without a link.
  virtual bool probe(std::uint64_t /*bytes*/) { return false; }
  /// The hosts of the site that are up, for movers that connect through one of them.
  virtual void use_hosts(std::span<const HostId> /*up*/) {}

  /// Sends what can be sent and appends what has arrived to `events`. An error if the site can
  /// never be reached this way (another version); then all transfers have failed.
  virtual Result<> poll(std::vector<MoverEvent>& events) = 0;
  /// A descriptor that becomes ready when poll() has something to do. May change after poll().
  [[nodiscard]] virtual ReadySet::Wanted waits_for() const = 0;
  /// Adds the bytes that went over the link so far, and the file that is being sent.
  virtual void glance(SiteGlance&) const {}
  /// Gives up transfers, without events, and disconnects. Pending drops and removals are still
  /// carried out if the site can be reached. Call it until it returns true: then everything that
  /// was sent has arrived, or it has taken too long.
  virtual bool close() = 0;
};

}  // namespace gantry
