// Store: a run's journal read again, and the snapshots that shorten it.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>
#include <map>
#include <span>
#include <variant>
#include <vector>

#include "store/store_impl.hpp"

namespace gantry::store {

namespace {

/// How many tasks the run had before its first batch was journalled: older gantries did not.
Result<std::uint32_t> unjournalled_tasks(const Database& db, RowReader& reader, RunId run) {
  TRY_ASSIGN(Statement s, db.prepare("SELECT coalesce((SELECT total FROM runs WHERE id = ?1), 0), "
                                     "(SELECT min(seq) FROM events INDEXED BY events_by_task "
                                     "WHERE run = ?1 AND task IS NULL AND kind = 'added')"));
  TRY(s.integer(run.value()).step());
  const auto total = s.number<std::uint32_t>();
  if (s.is_null()) return total;
  EventRow first;
  TRY(reader.read(s.integer(), first));
  return first.batch.first.value() - 1;
}

/// Of the journal: where the events of a run lie that are asked for.
struct Stretch {
  std::int64_t after = 0;
  std::int64_t last = 0;
};

Result<Stretch> stretch_of(const Database& db, RunId run, std::int64_t after) {
  TRY_ASSIGN(Statement s,
             db.prepare("SELECT coalesce((SELECT after_seq FROM runs WHERE id = ?1), 0), "
                        "coalesce((SELECT last_seq FROM runs WHERE id = ?1), "
                        "(SELECT max(seq) FROM events), 0)"));
  TRY(s.integer(run.value()).step());
  const std::int64_t begins = s.integer();
  return Stretch{std::max(after, begins), s.integer()};
}

}  // namespace

void note_print(const Event& event, Prints& prints) {
  const auto note = [&](TaskId task, const Fingerprint& print) {
    if (task.value() >= 1 && task.value() <= prints.size()) prints[task.value() - 1] = brief(print);
  };
  if (const auto* ended = std::get_if<AttemptEnded>(&event)) {
    if (ended->report.cause == FailureCause::none) note(ended->report.key.task, ended->fingerprint);
  } else if (const auto* reused = std::get_if<TaskReused>(&event)) {
    note(reused->task, reused->fingerprint);
  }
}

Result<> Store::replay(RunId run, const std::function<void(const Event&)>& sink,
                       std::int64_t after) const {
  const ReplayFrom one{run, after};
  return replay(std::span(&one, 1), [&](RunId /*run*/, const Event& event) { sink(event); });
}

Result<> Store::replay(std::span<const ReplayFrom> runs,
                       const std::function<void(RunId, const Event&)>& sink) const {
  if (runs.empty()) return {};
  TRY_ASSIGN(RowReader reader, RowReader::prepare(impl_->db));
  std::map<RunId, Stretch> stretches;
  Stretch all{std::numeric_limits<std::int64_t>::max(), 0};
  for (const auto& [run, after] : runs) {
    if (after == 0) {
      TRY_ASSIGN(const std::uint32_t older, unjournalled_tasks(impl_->db, reader, run));
      const Batch batch{NodeId(0), 0, TaskId(1), older};
      if (older > 0) sink(run, TasksAdded{run, batch, EnumeratedPoints{{}, {{0, older}}}, {}});
      if (older > 0) sink(run, RunClosed{run, {}});
    }
    TRY_ASSIGN(const Stretch stretch, stretch_of(impl_->db, run, after));
    all = {std::min(all.after, stretch.after), std::max(all.last, stretch.last)};
    stretches[run] = stretch;
  }
  // In the order of the table, not through the index: the rows of a run lie together, or beside
  // those of the runs that were driven with it.
  std::vector<std::uint32_t> numbers;
  numbers.reserve(stretches.size());
  for (const auto& [run, stretch] : stretches) numbers.push_back(run.value());
  TRY_ASSIGN(Statement rows, impl_->db.prepare(fmt::format(
                                 "SELECT run, {} FROM events NOT INDEXED WHERE run IN ({}) AND "
                                 "seq > ? AND seq <= ? ORDER BY seq",
                                 kStateColumns, fmt::join(numbers, ","))));
  rows.integer(all.after).integer(all.last);
  std::int64_t seq = 0;
  Event event;
  EventRow whole;
  for (;;) {
    TRY_ASSIGN(const bool more, rows.step());
    if (!more) return {};
    const RunId run(rows.number<std::uint32_t>());
    const bool is_common = read_state(rows, run, seq, event);
    const Stretch& wanted = stretches.at(run);
    if (seq <= wanted.after || seq > wanted.last) continue;
    if (!is_common) {
      TRY(reader.read(seq, whole));
      auto rare = to_event(std::move(whole));
      if (!rare) return fail_event(impl_->db);
      event = std::move(*rare);
    }
    sink(run, event);
  }
}

Result<std::optional<Store::Snapshot>> Store::snapshot(RunId run) const {
  TRY_ASSIGN(Statement s, impl_->db.prepare("SELECT seq, data FROM snapshots WHERE run = ?"));
  s.integer(run.value());
  TRY_ASSIGN(const bool found, s.step());
  if (!found) return std::nullopt;
  const std::int64_t seq = s.integer();
  TRY_ASSIGN(auto content, decode_snapshot(s.bytes()));
  if (!content || seq < 1) return std::nullopt;
  return Snapshot{std::move(*content), seq};
}

Result<> Store::keep_snapshot(RunId run, const SnapshotContent& content) {
  const Database& db = impl_->db;
  TRY_ASSIGN(const std::int64_t last, db.integer("SELECT coalesce(max(seq), 0) FROM events"));
  const std::string bytes = encode_snapshot(content);
  TRY_ASSIGN(Statement s,
             db.prepare("INSERT OR REPLACE INTO snapshots (run, seq, data) VALUES (?, ?, ?)"));
  return s.integer(run.value()).integer(last).blob(bytes).run();
}

}  // namespace gantry::store
