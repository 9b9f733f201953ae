// Store: a run's journal read again, and the snapshots that shorten it.
#include <variant>

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
  TRY_ASSIGN(RowReader reader, RowReader::prepare(impl_->db));
  if (after == 0) {
    TRY_ASSIGN(const std::uint32_t older, unjournalled_tasks(impl_->db, reader, run));
    const Batch batch{NodeId(0), 0, TaskId(1), older};
    if (older > 0) sink(TasksAdded{run, batch, EnumeratedPoints{{}, {{0, older}}}, {}});
    if (older > 0) sink(RunClosed{run, {}});
  }
  // In the order of the table, not through the index: the rows of a run lie together.
  TRY_ASSIGN(Statement rows,
             impl_->db.prepare(std::string("SELECT ") + kStateColumns +
                               " FROM events NOT INDEXED WHERE run = ?1 AND "
                               "seq > max(?2, coalesce((SELECT after_seq FROM runs WHERE id = ?1), "
                               "0)) AND seq <= coalesce((SELECT last_seq FROM runs WHERE id = ?1), "
                               "(SELECT max(seq) FROM events)) ORDER BY seq"));
  rows.integer(run.value()).integer(after);
  std::int64_t seq = 0;
  Event event;
  EventRow whole;
  for (;;) {
    TRY_ASSIGN(const bool more, rows.step());
    if (!more) return {};
    if (!read_state(rows, run, seq, event)) {
      TRY(reader.read(seq, whole));
      auto rare = to_event(std::move(whole));
      if (!rare) return fail_event(impl_->db);
      event = std::move(*rare);
    }
    sink(event);
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
