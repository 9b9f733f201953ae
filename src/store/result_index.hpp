#pragma once
/// Finds earlier results by what they were made from, without reading a journal of ten million
/// rows. The index is derived from the journal: sorted segments, each of a stretch of events, in
/// the table `result_index`. The events after the last segment are read when it is opened. One
/// thread.

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "model/outcome.hpp"
#include "store/database.hpp"

namespace gantry::store {

class ResultIndex {
 public:
  /// Of the command and the environment: results with other keys are not the same task's.
  static std::int64_t key_of(const Fingerprint& print);

  /// Somebody looks for results with this key.
  struct Wanted {
    std::int64_t key = 0;
    std::uint32_t index = 0;  ///< the caller's
    friend auto operator<=>(const Wanted&, const Wanted&) = default;
  };
  /// Where one may be: an event, and its run.
  struct Place {
    std::int64_t seq = 0;
    RunId run;
  };
  using Found = std::function<void(const Wanted&, const Place&)>;

  /// Whether events that are in no segment yet become one, if they are many.
  enum class Growth : std::uint8_t { none, stored };
  /// The database must outlive the index. REQUIRES: to store segments, the database is writable and
  /// no transaction is open.
  static Result<ResultIndex> open(const Database& db, Growth growth);
  /// Tells of each event that may hold one of these results, in no order. Places may be out of
  /// date: look at the event. REQUIRES: ascending.
  Result<> find(std::span<const Wanted> wanted, const Found& found) const;
  /// The last event after which the task had to run again, so that older results do not count; 0 =
  /// there is none.
  [[nodiscard]] std::int64_t taken_back(RunId run, TaskId task) const;
  /// Nobody has a result.
  [[nodiscard]] bool empty() const { return segments_.empty() && tail_.entries.empty(); }

  /// Events beyond `last` are gone, and their numbers will be given again. REQUIRES: a transaction
  /// is open.
  static Result<> forget_after(const Database& db, std::int64_t last);

 private:
  struct Entry {
    std::int64_t key = 0;
    std::int64_t place = 0;  ///< the event's number and its run
    friend auto operator<=>(const Entry&, const Entry&) = default;
  };
  struct TakenBack {
    std::uint64_t task = 0;  ///< and its run
    std::int64_t seq = 0;
  };
  /// What the index says of a stretch of events.
  struct Part {
    std::vector<Entry> entries;
    std::vector<TakenBack> taken_back;
    std::int64_t last = 0;    ///< event
    std::int64_t events = 0;  ///< how many
  };
  struct Segment {
    std::int64_t last = 0;  ///< event
    std::uint64_t bytes = 0;
  };
  explicit ResultIndex(const Database& db) : db_(&db) {}
  Result<> read_segments();
  Result<> read_taken_back();
  /// Events that are in no segment.
  Result<> read_rest(Growth growth);
  [[nodiscard]] Result<Part> scan(std::int64_t after) const;
  /// Makes it the last segment.
  Result<> store(Part part);
  Result<> absorb(std::vector<Segment>& segments, Part& part) const;
  [[nodiscard]] Result<> write(const Part& part) const;
  Result<> find_in(const Segment& segment, std::span<const Wanted> wanted,
                   const Found& found) const;
  /// Both ascending by key.
  static void match(std::span<const Entry> entries, std::span<const Wanted> wanted,
                    std::int64_t last, const Found& found);
  void take_back(std::span<const TakenBack> tasks);

  const Database* db_;
  std::vector<Segment> segments_;  ///< in the order of events
  Part tail_;
  std::unordered_map<std::uint64_t, std::int64_t> taken_back_;
};

}  // namespace gantry::store
