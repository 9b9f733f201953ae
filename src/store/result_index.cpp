#include "store/result_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

namespace gantry::store {

namespace {

/// Events that are worth a segment; fewer are read again by everybody who looks for results.
constexpr std::int64_t kWorthASegment = 10'000;
constexpr std::int64_t kEventsAtOnce = 1'000'000;
/// Larger segments are not merged any more: it would take too long, and too much memory.
constexpr std::uint64_t kMostMerged = std::uint64_t{64} << 20;  // bytes
/// Entries of a chunk, which is what a single lookup reads; 32 KB.
constexpr std::size_t kChunk = 2048;
/// What was taken back in a segment is stored under this key, which no result has.
constexpr std::int64_t kTakenBackKey = -1;

constexpr int kRunBits = 24;
constexpr std::int64_t kRunMask = (1 << kRunBits) - 1;

std::int64_t pack_place(std::int64_t seq, std::uint32_t run) {
  return seq << kRunBits | (run & kRunMask);
}

std::uint64_t pack_task(std::uint32_t run, std::uint32_t task) {
  return std::uint64_t{run} << 32 | task;
}

template <class T>
std::string_view bytes_of(std::span<const T> items) {
  return {reinterpret_cast<const char*>(items.data()), items.size_bytes()};
}

/// What bytes_of() gave; what is left over at the end is not one.
template <class T>
void append_items(std::string_view bytes, std::vector<T>& items) {
  const std::size_t there = items.size();
  items.resize(there + bytes.size() / sizeof(T));
  if (items.size() > there)
    std::memcpy(items.data() + there, bytes.data(), (items.size() - there) * sizeof(T));
}

}  // namespace

std::int64_t ResultIndex::key_of(const Fingerprint& print) {
  const std::uint64_t mixed = print.command.low + 3 * print.environment.low;
  return static_cast<std::int64_t>(mixed >> 2);  // never the largest number
}

Result<ResultIndex::Part> ResultIndex::scan(std::int64_t after) const {
  Part part;
  part.last = after;
  TRY_ASSIGN(Statement s,
             db_->prepare("SELECT seq, run, kind, task, cause, command_digest, environment_digest "
                          "FROM events NOT INDEXED WHERE seq > ? ORDER BY seq LIMIT ?"));
  s.integer(after).integer(kEventsAtOnce);
  for (;;) {
    TRY_ASSIGN(const bool more, s.step());
    if (!more) break;
    ++part.events;
    part.last = s.integer();
    const auto run = s.number<std::uint32_t>();
    const std::string_view kind = s.bytes();
    const bool ended = kind == "ended";
    const bool invalidated = kind == "invalidated";
    if (!ended && !invalidated && kind != "reused") continue;
    const auto task = s.number<std::uint32_t>();
    if (invalidated) {
      part.taken_back.push_back({pack_task(run, task), part.last});
      continue;
    }
    const auto cause = static_cast<FailureCause>(s.number<std::uint8_t>());
    if (ended && cause != FailureCause::none && cause != FailureCause::missing_result) continue;
    Fingerprint print;
    print.command = s.digest();
    print.environment = s.digest();
    if (!print.empty()) part.entries.push_back({key_of(print), pack_place(part.last, run)});
  }
  std::ranges::sort(part.entries);
  return part;
}

// Reading.
// ------------------------------------------------------------------------------------------------

Result<ResultIndex> ResultIndex::open(const Database& db, Growth growth) {
  ResultIndex index(db);
  TRY(index.read_segments());
  TRY(index.read_taken_back());
  TRY(index.read_rest(growth));
  return index;
}

Result<> ResultIndex::read_segments() {
  TRY_ASSIGN(Statement s, db_->prepare("SELECT segment, sum(length(entries)) FROM result_index "
                                       "GROUP BY segment ORDER BY segment"));
  for (;;) {
    TRY_ASSIGN(const bool more, s.step());
    if (!more) return {};
    const std::int64_t last = s.integer();
    segments_.push_back({last, s.number<std::uint64_t>()});
  }
}

Result<> ResultIndex::read_taken_back() {
  TRY_ASSIGN(Statement s, db_->prepare(fmt::format("SELECT entries FROM result_index "
                                                   "WHERE first_key = {} ORDER BY segment",
                                                   kTakenBackKey)));
  std::vector<TakenBack> tasks;
  for (;;) {
    TRY_ASSIGN(const bool more, s.step());
    if (!more) break;
    append_items(s.bytes(), tasks);
  }
  take_back(tasks);
  return {};
}

Result<> ResultIndex::read_rest(Growth growth) {
  tail_.last = segments_.empty() ? 0 : segments_.back().last;
  for (;;) {
    TRY_ASSIGN(Part part, scan(tail_.last));
    take_back(part.taken_back);
    const std::int64_t events = part.events;
    tail_.last = part.last;
    // Somebody who cannot write, for want of room or because another one writes, can still read.
    const bool stored =
        growth == Growth::stored && events >= kWorthASegment && store(part).has_value();
    if (!stored) {
      growth = Growth::none;  // or there would be a gap
      tail_.entries.insert(tail_.entries.end(), part.entries.begin(), part.entries.end());
    }
    if (events < kEventsAtOnce) break;
  }
  std::ranges::sort(tail_.entries);
  return {};
}

void ResultIndex::take_back(std::span<const TakenBack> tasks) {
  for (const auto& [task, seq] : tasks) {
    std::int64_t& last = taken_back_[task];
    last = std::max(last, seq);
  }
}

std::int64_t ResultIndex::taken_back(RunId run, TaskId task) const {
  const auto found = taken_back_.find(pack_task(run.value(), task.value()));
  return found == taken_back_.end() ? 0 : found->second;
}

Result<> ResultIndex::find(std::span<const Wanted> wanted, const Found& found) const {
  for (const Segment& segment : segments_) TRY(find_in(segment, wanted, found));
  match(tail_.entries, wanted, tail_.last, found);
  return {};
}

Result<> ResultIndex::find_in(const Segment& segment, std::span<const Wanted> wanted,
                              const Found& found) const {
  // The chunk that a key would be in, and where the next one begins.
  TRY_ASSIGN(Statement s, db_->prepare("SELECT entries, (SELECT min(first_key) FROM result_index "
                                       "WHERE segment = ?1 AND first_key > c.first_key) "
                                       "FROM result_index AS c WHERE segment = ?1 AND first_key "
                                       "BETWEEN 0 AND ?2 ORDER BY first_key DESC LIMIT 1"));
  std::vector<Entry> entries;
  auto next = wanted.begin();
  while (next != wanted.end()) {
    const Statement::Scope scope(s);
    s.integer(segment.last).integer(next->key);
    TRY_ASSIGN(const bool there, s.step());
    std::int64_t end = 0;
    entries.clear();
    if (there) {
      append_items(s.bytes(), entries);
      end = s.is_null() ? std::numeric_limits<std::int64_t>::max() : s.integer();
    }
    // Without a chunk the key is below the first one.
    const auto after = std::ranges::lower_bound(next, wanted.end(), std::max(end, next->key + 1),
                                                {}, &Wanted::key);
    match(entries, {next, after}, segment.last, found);
    next = after;
  }
  return {};
}

void ResultIndex::match(std::span<const Entry> entries, std::span<const Wanted> wanted,
                        std::int64_t last, const Found& found) {
  for (const Wanted& want : wanted) {
    for (auto at = std::ranges::lower_bound(entries, want.key, {}, &Entry::key);
         at != entries.end() && at->key == want.key; ++at) {
      const std::int64_t seq = at->place >> kRunBits;
      if (seq <= last) found(want, {seq, RunId(static_cast<std::uint32_t>(at->place & kRunMask))});
    }
  }
}

// Writing.
// ------------------------------------------------------------------------------------------------

Result<> ResultIndex::store(Part part) {
  auto segments = segments_;
  TRY_ASSIGN(Transaction transaction, Transaction::begin(*db_));
  TRY(absorb(segments, part));
  TRY(write(part));
  TRY(transaction.commit());
  segments_ = std::move(segments);
  segments_.push_back({part.last, part.entries.size() * sizeof(Entry)});
  return {};
}

/// Merges the last segments into the new one as long as they are not larger, so that there are
/// never many.
Result<> ResultIndex::absorb(std::vector<Segment>& segments, Part& part) const {
  std::uint64_t size = part.entries.size() * sizeof(Entry);
  TRY_ASSIGN(Statement read,
             db_->prepare("SELECT first_key, entries FROM result_index WHERE segment = ?"));
  while (!segments.empty() && segments.back().bytes <= size &&
         segments.back().bytes + size <= kMostMerged) {
    read.integer(segments.back().last);
    for (;;) {
      TRY_ASSIGN(const bool more, read.step());
      if (!more) break;
      if (read.integer() == kTakenBackKey) {
        append_items(read.bytes(), part.taken_back);
      } else {
        append_items(read.bytes(), part.entries);
      }
    }
    read.reset();
    TRY(db_->execute(
        fmt::format("DELETE FROM result_index WHERE segment = {}", segments.back().last)));
    size += segments.back().bytes;
    segments.pop_back();
  }
  std::ranges::sort(part.entries);
  return {};
}

Result<> ResultIndex::write(const Part& part) const {
  TRY_ASSIGN(
      Statement s,
      db_->prepare("INSERT INTO result_index (segment, first_key, entries) VALUES (?, ?, ?)"));
  // Also when it is empty: it tells up to which event there is nothing more to read.
  s.integer(part.last).integer(kTakenBackKey).blob(bytes_of<TakenBack>(part.taken_back));
  TRY(s.run());
  const std::span<const Entry> entries = part.entries;
  for (std::size_t begin = 0; begin < entries.size();) {
    std::size_t end = std::min(begin + kChunk, entries.size());
    // A lookup reads one chunk: all entries of a key are in the same.
    while (end < entries.size() && entries[end].key == entries[end - 1].key) ++end;
    s.integer(part.last).integer(entries[begin].key);
    s.blob(bytes_of(entries.subspan(begin, end - begin)));
    TRY(s.run());
    begin = end;
  }
  return {};
}

Result<> ResultIndex::forget_after(const Database& db, std::int64_t last) {
  return db.execute(
      fmt::format("UPDATE result_index SET segment = {0} WHERE segment = "
                  "(SELECT min(segment) FROM result_index WHERE segment >= {0});"
                  "DELETE FROM result_index WHERE segment > {0}",
                  last));
}

}  // namespace gantry::store
