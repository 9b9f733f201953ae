#pragma once
/// The seam between decisions about files and the world (APST's transport_api): a Mover carries
/// files between home and the depot and work folders of one site, or from another site (Put::from),
/// and lists what the depot has (Inventory). It knows nothing of tasks: any launcher may be
/// combined with it. Everything it says arrives as MoverEvents from poll(); it never calls back,
/// and never waits. One thread: the driver's.

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

/// A file at home that the site's depot shall have.
struct Put {
  std::string path;
  Digest content;  ///< the file must not change until it has arrived
  std::uint64_t bytes = 0;
  bool executable = false;
  /// A file at the site, by its absolute name, that may have the same content: then it is copied
  /// there, and nothing is sent.
  std::string staged{};
  /// A site that has it, and to which this one can log in: it comes from there, if it can.
  std::optional<depot::PeerSite> from{};
};

/// What the depot has. Comes after each (re)connection.
struct Inventory {
  struct File {
    Digest content;
    std::uint64_t bytes = 0;
  };
  std::vector<File> files;       ///< in order of their hashes
  std::uint64_t free_bytes = 0;  ///< of the site's file system
  std::uint64_t total_bytes = 0;
};

/// A file below the site's "work" folder, or a part of it, that home shall have.
struct Get {
  static constexpr std::uint64_t kToTheEnd = std::numeric_limits<std::uint64_t>::max();

  std::string remote;  ///< relative to SCRATCH: "work/..."
  /// Replaced in one step when all has arrived; folders are made.
  std::string local;
  std::uint64_t offset = 0;
  std::uint64_t length = kToTheEnd;
  /// What it has to be; anything else is not put there.
  std::optional<Inventory::File> expected{};
  /// Goes on with what an earlier gantry has fetched of it, and leaves it when this one ends.
  bool resume = false;
};

struct TransferDone {
  TransferId id;
  std::uint64_t bytes = 0;  ///< of the file that went over the network, perhaps packed
  double seconds = 0;       ///< since the first of them
};
struct TransferFailed {
  TransferId id;
  std::string why;
  bool lost_connection = false;  ///< the site could not be reached: nothing is wrong with the file
  bool gone = false;             ///< it is not there, or not what it has to be
  bool here = false;             ///< this machine could not take it: its disk may be full
};

/// A put goes on from here, since it could not be had as was suggested.
struct SentAfterAll {
  TransferId id;
  std::string why;
  bool pulled = false;  ///< it was to come from another site; else it was to be there
  bool no_way = false;  ///< which could not even be asked for it
  std::string host{};   ///< that was to pull it, as people know it; empty: nobody knows
};

/// The site was there, and says nothing any more: it is connected to anew, and what was under way
/// goes on.
struct Interrupted {
  std::string why;
};

/// The site could not be connected to, or fell silent once more. It is tried again, over another
/// host if it has one.
struct NotReached {
  std::string why;
  bool cut_off = false;  ///< so often in a row that nothing can be moved for a while
};

/// An answer of the site's file server has taken so long while no file was in its way.
struct LinkEchoed {
  double seconds = 0;
  std::uint64_t bytes = 0;  ///< that it was sent to answer, of a probe()
  double trip = 0;          ///< of a probe(): what an empty message took just before
};

using MoverEvent = std::variant<Inventory, TransferDone, TransferFailed, SentAfterAll, Interrupted,
                                NotReached, LinkEchoed>;

class Mover {
 public:
  virtual ~Mover() = default;

  // Requests are carried out in the order in which they are made (so that a drop makes room for the
  // next put), but for large files, whose content follows between later requests. Each is answered
  // by one TransferDone or TransferFailed.

  virtual TransferId put(const Put& file) = 0;
  virtual TransferId get(const Get& file) = 0;
  /// Out of the depot; fails while a task there uses it.
  virtual TransferId drop(const Digest& content) = 0;
  /// Reads the depot's file; a damaged one is removed, and this fails.
  virtual TransferId verify(const Digest& content) = 0;
  /// A folder (or file) below the site's "work" folder, with all that is in it.
  virtual TransferId remove(const std::string& remote) = 0;
  /// No event comes for it any more.
  virtual void cancel(TransferId id) = 0;

  /// Sends an empty message, then so many bytes that say nothing, unless files are on their way
  /// there: LinkEchoed tells how long each took, if nothing comes in between. False: nothing was
  /// sent, as is always the case where there is no link to measure.
  virtual bool probe(std::uint64_t /*bytes*/) { return false; }
  /// Hosts of the site that are up. A mover that goes over one of them connects only while there is
  /// one; others need not know.
  virtual void use_hosts(std::span<const HostId> /*up*/) {}

  /// Sends what can be sent and appends what has arrived to `events`. An error when the site can
  /// never be reached like this (another version); all transfers have failed then.
  virtual Result<> poll(std::vector<MoverEvent>& events) = 0;
  /// A descriptor that becomes ready when poll() has something to do. May change after poll().
  [[nodiscard]] virtual ReadySet::Wanted waits_for() const = 0;
  /// Adds what went over the link so far, and which file goes over it now.
  virtual void glance(SiteGlance&) const {}
  /// Gives up what is under way, without events, and lets the remote side go; files that were to be
  /// dropped and folders that were to be removed still are, if the site can be reached. To be
  /// called again until it is true: then all that was sent is there, or it has taken too long.
  virtual bool close() = 0;
};

}  // namespace gantry
