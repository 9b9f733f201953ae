#pragma once
/// What a mover was asked for and has not answered yet, and in which order it is to be said to the
/// site. Owned by a mover, used from its thread.

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "actuate/move/arriving_file.hpp"
#include "actuate/mover.hpp"
#include "base/fd.hpp"
#include "base/time.hpp"
#include "depot/compression.hpp"

namespace gantry {

struct Drop {
  Digest content;
};
struct Verify {
  Digest content;
};
struct RemoveWork {
  std::string remote;
};

/// How a file that is put gets there: as was suggested, in this order, and then from here.
enum class PutBy : std::uint8_t { staging, pulling, sending };

struct Transfer {
  std::variant<Put, Get, Drop, Verify, RemoveWork> what;
  TimePoint asked = kNever;
  TimePoint begun = kNever;
  std::uint64_t bytes = 0;  ///< of files that went over the network
  bool again = false;       ///< from the beginning, since the first attempt gave another content

  // A file that is put.
  bool not_staged = false;  ///< the file at the site is not it
  bool not_pulled = false;  ///< it did not come from the other site
  [[nodiscard]] PutBy way_of(const Put& put) const {
    if (!put.staged.empty() && !not_staged) return PutBy::staging;
    return put.from && !not_pulled ? PutBy::pulling : PutBy::sending;
  }
  depot::Packing packing;
  UniqueFd fd;
  std::uint64_t offset = 0;
  bool resumed = false;
  // A file that is got.
  std::unique_ptr<ArrivingFile> arriving;
};

class TransferTable {
 public:
  /// Puts and drops of one content are carried out one after the other; puts that follow a put are
  /// done with it.
  template <class What>
  TransferId add(const What& what, TimePoint now);

  [[nodiscard]] bool empty() const { return transfers_.empty(); }
  /// Files that are on their way to the site, or wait for that.
  [[nodiscard]] std::size_t puts() const { return puts_; }
  [[nodiscard]] bool contains(TransferId id) const { return transfers_.contains(id); }
  /// Null when it is over, or something else.
  template <class What>
  std::pair<Transfer*, const What*> find(TransferId id);
  template <class What>
  [[nodiscard]] std::pair<const Transfer*, const What*> find(TransferId id) const;
  Transfer& at(TransferId id) { return transfers_.at(id); }

  /// The next one to be announced to the site, if any; it is not announced twice.
  std::optional<TransferId> next();
  [[nodiscard]] bool has_next() const { return !queue_.empty(); }
  void announce_again(TransferId id) { queue_.push_back(id); }
  /// The site has forgotten all of them.
  void announce_all_again();

  void succeed(TransferId id, TimePoint now);
  struct Why {
    bool lost_connection = false;
    bool gone = false;
    bool here = false;
  };
  void fail(TransferId id, std::string why, Why more);
  void fail(TransferId id, std::string why) { fail(id, std::move(why), Why{}); }
  void fail_all(const std::string& why);
  /// Those that were asked for before.
  void fail_asked_before(TimePoint time, const std::string& why);
  void cancel(TransferId id) { take_out(id, false); }
  void clear();

  void remark(MoverEvent event) { events_.push_back(std::move(event)); }
  /// What became of them, since the last call.
  std::vector<MoverEvent> take_events() { return std::exchange(events_, {}); }

 private:
  Transfer take_out(TransferId id, bool done);

  std::uint64_t last_id_ = 0;
  std::size_t puts_ = 0;
  std::map<TransferId, Transfer> transfers_;
  /// Puts and drops, in their order; the first of each is under way.
  std::unordered_map<Digest, std::deque<TransferId>> same_content_;
  std::deque<TransferId> queue_;
  std::vector<MoverEvent> events_;
};

template <class What>
TransferId TransferTable::add(const What& what, TimePoint now) {
  const TransferId id(++last_id_);
  Transfer& transfer = transfers_[id];
  transfer.what = what;
  transfer.asked = now;
  if constexpr (std::is_same_v<What, Put>) ++puts_;
  if constexpr (std::is_same_v<What, Put> || std::is_same_v<What, Drop>) {
    auto& same = same_content_[what.content];
    same.push_back(id);
    if (same.size() > 1) return id;
  }
  queue_.push_back(id);
  return id;
}

template <class What>
std::pair<const Transfer*, const What*> TransferTable::find(TransferId id) const {
  const auto found = transfers_.find(id);
  if (found == transfers_.end()) return {nullptr, nullptr};
  const auto* what = std::get_if<What>(&found->second.what);
  return {what == nullptr ? nullptr : &found->second, what};
}

template <class What>
std::pair<Transfer*, const What*> TransferTable::find(TransferId id) {
  const auto [transfer, what] = std::as_const(*this).find<What>(id);
  return {const_cast<Transfer*>(transfer), what};
}

}  // namespace gantry
