// Store: what is recorded of tasks.
#include <fmt/format.h>

#include <algorithm>

#include "store/store_impl.hpp"

namespace gantry::store {

namespace {

void to_task_row(EventRow&& row, bool invalidated, TaskRow& out) {
  out.task = row.key.task;
  out.reused = row.kind == "reused";
  out.attempt = out.reused ? row.from_attempt : row.key.attempt;
  out.cause = row.report.cause;
  out.code = row.report.code;
  out.detail = std::move(row.report.detail);
  out.invalidated = invalidated;
  out.started = row.report.started;
  out.ended = out.reused ? row.at : row.report.ended;
  out.usage = row.report.usage;
  out.host = std::move(row.host_name);
  out.stdout_size = row.report.out.size;
  out.stderr_size = row.report.err.size;
  out.parameters = std::move(row.parameters);
  out.results = std::move(row.results);
}

/// Finds the latest row of each task among rows that come task by task, but in no order within a
/// task.
class LatestOfTask {
 public:
  void add(std::int64_t seq, EventRow& row) {
    if (row.kind == "invalidated") {
      invalidated_ = std::max(invalidated_, seq);
    } else if (seq > latest_) {
      latest_ = seq;
      std::swap(row_, row);
    }
  }
  /// False when the task never ended. Ready for the next task afterwards.
  bool take(TaskRow& out) {
    const bool ended = latest_ > 0;
    if (ended) to_task_row(std::move(row_), invalidated_ > latest_, out);
    latest_ = invalidated_ = 0;
    return ended;
  }

 private:
  EventRow row_;
  std::int64_t latest_ = 0;
  std::int64_t invalidated_ = 0;
};

/// `where` holds `run = ?1`, and perhaps `task = ?2`.
Result<> latest_rows(const Database& db, const char* where, RunId run, TaskId task,
                     const std::function<void(const TaskRow&)>& sink) {
  // The index gives the rows task by task, so that nothing is sorted or held.
  TRY_ASSIGN(Statement s,
             db.prepare(fmt::format("SELECT seq, {} FROM events INDEXED BY events_by_task "
                                    "WHERE {} ORDER BY task",
                                    kEventColumns, where)));
  s.integer(run.value());
  if (task != TaskId{}) s.integer(task.value());
  LatestOfTask latest;
  TaskId current;
  EventRow row;
  TaskRow out;
  for (;;) {
    TRY_ASSIGN(const bool more, s.step());
    if (!more) break;
    const std::int64_t seq = s.integer();
    if (!read_row(s, row)) return fail_event(db);
    if (row.key.task != current && latest.take(out)) sink(out);
    current = row.key.task;
    latest.add(seq, row);
  }
  if (latest.take(out)) sink(out);
  return {};
}

HistoryRow to_history(EventRow&& row) {
  const bool kept = row.kind == "kept";  // its run was removed, others refer to it
  HistoryRow h;
  h.at = row.at;
  h.attempt = row.key.attempt;
  h.fingerprint = row.fingerprint;
  if (row.kind == "reused") {
    h.text = fmt::format("run {}, task {}, attempt {}", row.from_run.value(), row.from_task.value(),
                         row.from_attempt.value());
    h.attempt = row.from_attempt;
    h.from = {row.from_run, row.from_task, row.from_attempt};
  } else if (row.kind == "invalidated") {
    h.text = std::move(row.report.detail);
  } else if (row.kind == "ended" || kept) {
    h.report = std::move(row.report);
    h.host = std::move(row.host_name);
    h.changed_input = std::move(row.changed_input);
  }
  h.kind = kept ? "ended" : std::move(row.kind);
  return h;
}

}  // namespace

Result<> Store::for_each_task(RunId run, const std::function<void(const TaskRow&)>& sink) const {
  return latest_rows(impl_->db, "run = ?1 AND task IS NOT NULL", run, {}, sink);
}

Result<std::optional<TaskRow>> Store::task(RunId run, TaskId task) const {
  std::optional<TaskRow> found;
  if (task == TaskId{}) return found;
  TRY(latest_rows(impl_->db, "run = ?1 AND task = ?2", run, task,
                  [&](const TaskRow& row) { found = row; }));
  return found;
}

Result<std::vector<HistoryRow>> Store::history(RunId run, TaskId task) const {
  // Cancel requests are rows of no task (NULL), few in a run.
  TRY_ASSIGN(Statement s,
             impl_->db.prepare(fmt::format(
                 "SELECT {}, stdout, stderr FROM events WHERE run = ?1 AND (task = ?2 OR "
                 "(task IS NULL AND kind = 'cancel asked')) ORDER BY seq",
                 kEventColumns)));
  s.integer(run.value()).integer(task.value());
  std::vector<HistoryRow> history;
  bool succeeded = false;  // a cancel request leaves such a task alone
  for (;;) {
    TRY_ASSIGN(const bool more, s.step());
    if (!more) return history;
    EventRow row;
    if (!read_row(s, row)) return fail_event(impl_->db);
    read_output(s, row.report);
    if (row.kind == "cancel asked") {
      const bool meant =
          row.all || std::find(row.tasks.begin(), row.tasks.end(), task) != row.tasks.end();
      if (!meant || succeeded) continue;
    }
    if (row.kind == "ended") succeeded = row.report.cause == FailureCause::none;
    if (row.kind == "reused") succeeded = true;
    if (row.kind == "invalidated") succeeded = false;
    history.push_back(to_history(std::move(row)));
  }
}

Result<std::int64_t> Store::last_event() const {
  return impl_->db.integer("SELECT coalesce(max(seq), 0) FROM events");
}

Result<> Store::follow_ends(RunId run, std::int64_t& seq,
                            const std::function<void(const AttemptEnded&)>& sink) const {
  TRY_ASSIGN(Statement s,
             impl_->db.prepare(fmt::format("SELECT seq, {}, stdout, stderr FROM events NOT INDEXED "
                                           "WHERE seq > ? AND run = ? AND kind = 'ended' "
                                           "ORDER BY seq",
                                           kEventColumns)));
  s.integer(seq).integer(run.value());
  for (;;) {
    TRY_ASSIGN(const bool more, s.step());
    if (!more) return {};
    seq = s.integer();
    EventRow row;
    if (!read_row(s, row)) return fail_event(impl_->db);
    read_output(s, row.report);
    if (const auto event = to_event(std::move(row))) sink(std::get<AttemptEnded>(*event));
  }
}

}  // namespace gantry::store
