#pragma once
/// Events as rows of the table `events`, both ways. docs/formats/journal.md says what each column
/// holds.

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "model/event.hpp"
#include "store/database.hpp"
#include "store/json_text.hpp"

namespace gantry::store {

/// Inserts events with one statement. REQUIRES: a transaction is open.
class EventWriter {
 public:
  static Result<EventWriter> prepare(const Database& db);
  /// Does nothing for an event that is not journalled, and for an end that is recorded already.
  Result<> write(RunId run, const Event& event);

 private:
  explicit EventWriter(Statement insert) : insert_(std::move(insert)) {}
  void bind(RunId run, const AttemptEnded& event);
  void bind(RunId run, const TaskReused& event);
  void bind(RunId run, const TaskInvalidated& event);
  void bind(RunId run, const CancelRequested& event);
  void bind(RunId run, const TasksAdded& event);
  void bind(RunId run, const RunClosed& event);
  /// The first columns of an event that is no attempt's, and so many unused ones after them. `task`
  /// is 0 when it is not about one task.
  void begin(RunId run, std::string_view kind, TaskId task, TimePoint at, int unused);
  void nulls(int n);
  void opt_text(std::string_view v);
  void fingerprint(const Fingerprint& print);
  void output(const CapturedOutput& output);
  void output_text(const CapturedOutput& output);
  void values(const Pairs& parameters, const Pairs& results);

  Statement insert_;
  // What a bound row points into until it is inserted; kept to spare allocations.
  std::array<char, 3 * kDigestBytes> digests_{};
  std::string parameters_;
  std::string results_;
  std::string exact_;
  std::string data_;
};

[[nodiscard]] bool is_journalled(const Event& event);

/// The columns of an event in reading order, without output text; with it when `stdout, stderr` is
/// appended.
extern const char* const kEventColumns;

/// One row of `kEventColumns`, read in order from the statement's next column.
struct EventRow {
  std::string kind;
  TaskKey key;
  TimePoint at;
  AttemptReport report;
  HostId host;
  std::string host_name;
  RunId from_run;
  TaskId from_task;
  AttemptId from_attempt;
  Fingerprint fingerprint;
  std::string changed_input;
  Pairs parameters;
  Pairs results;
  bool all = false;
  std::vector<TaskId> tasks;
  Batch batch;
  Points points;
};
/// False when the row does not hold what EventWriter writes.
bool read_row(Statement& row, EventRow& out);
/// Of a row of `results, exact`.
bool read_results(Statement& row, Pairs& results);
/// After read_row(), when `stdout, stderr` was selected too.
void read_output(Statement& row, AttemptReport& report);
/// Nothing when the kind is not known.
std::optional<Event> to_event(EventRow&& row);

/// The few columns that the state of a run depends on, for replay: a third of the cost of a whole
/// row.
extern const char* const kStateColumns;
/// One row of `kStateColumns`. False for the rare kinds, and causes, whose rest must be read by
/// number, with RowReader.
bool read_state(Statement& row, RunId run, std::int64_t& seq, Event& out);

/// Reads rows of `events` by their number.
class RowReader {
 public:
  static Result<RowReader> prepare(const Database& db);
  Result<> read(std::int64_t seq, EventRow& row);

 private:
  RowReader(const Database& db, Statement s) : db_(&db), select_(std::move(s)) {}
  const Database* db_;
  Statement select_;
};
tl::unexpected<Error> fail_event(const Database& db);

/// `[1,2,3]`, or `"all"`.
void write_task_list(bool all, const std::vector<TaskId>& tasks, std::string& out);
bool read_task_list(std::string_view json, bool& all, std::vector<TaskId>& tasks);

}  // namespace gantry::store
