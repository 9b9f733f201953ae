#include "store/event_rows.hpp"

#include <charconv>
#include <type_traits>

#include "base/codec.hpp"
#include "store/batch_rows.hpp"

namespace gantry::store {

namespace {

/// SQLite refuses values past a gigabyte, and a refused row would hold up its group for ever.
/// Agents keep far less in `text`; whoever sends more loses the beginning.
constexpr std::size_t kMostOutputText = std::size_t{64} << 20;

constexpr auto kInsert =
    "INSERT INTO events (run, kind, task, attempt, at, cause, code, started, ended, user_ns, "
    "system_ns, max_rss, "
    "host_id, host, from_run, from_task, from_attempt, command_digest, environment_digest, "
    "inputs_digest, "
    "stdout_size, stdout_pack, stdout_offset, stdout_truncated, stderr_size, stderr_pack, "
    "stderr_offset, "
    "stderr_truncated, detail, parameters, results, exact, data, stdout, stderr, memory_limit, "
    "changed_input) "
    "VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?) "
    "ON CONFLICT (run, task, attempt) DO NOTHING";

template <class T, class... Kinds>
constexpr bool kIsOneOf = (std::is_same_v<T, Kinds> || ...);
template <class Kind>
constexpr bool kIsJournalled = kIsOneOf<Kind, AttemptEnded, TaskReused, TaskInvalidated,
                                        CancelRequested, TasksAdded, RunClosed>;

/// From `cause` up to, and without, `data`.
constexpr int kColumnsToData = 27;

bool read_json(std::string_view json, Pairs& out) {
  out.clear();
  if (json.empty()) return true;
  auto pairs = read_json_pairs(json);
  if (pairs) out = std::move(*pairs);
  return pairs.has_value();
}

bool read_exact(std::string_view framed, Pairs& parameters, Pairs& results) {
  Decoder in(framed);
  auto first = unframe_pairs(in.str());
  auto second = unframe_pairs(in.str());
  if (!in.ok() || !first || !second) return false;
  parameters = std::move(*first);
  results = std::move(*second);
  return true;
}

void read_output_place(Statement& row, CapturedOutput& out) {
  out.size = static_cast<std::uint64_t>(row.integer());
  out.pack = row.bytes();
  out.offset = static_cast<std::uint64_t>(row.integer());
  out.truncated = row.integer() != 0;
}

/// From `cause` to `max_rss`.
void read_end(Statement& row, AttemptReport& r) {
  r.cause = static_cast<FailureCause>(row.number<std::uint8_t>());
  r.code = row.number<std::int32_t>();
  r.started = from_ns(row.integer());
  r.ended = from_ns(row.integer());
  r.usage.user = Duration(row.integer());
  r.usage.system = Duration(row.integer());
  r.usage.max_rss = static_cast<std::uint64_t>(row.integer());
}

/// Before version 7 only the text for people said what is in columns now.
void read_old_detail(EventRow& row) {
  constexpr std::string_view kLimit = "limit ";
  constexpr std::string_view kChanged = "an input changed while it ran: ";
  const std::string_view detail = row.report.detail;
  const FailureCause cause = row.report.cause;
  if (cause == FailureCause::out_of_memory && row.report.memory_limit == 0 &&
      detail.starts_with(kLimit)) {
    std::uint64_t mebibytes = 0;
    const char* const end = detail.data() + detail.size();
    const auto [rest, error] = std::from_chars(detail.data() + kLimit.size(), end, mebibytes);
    const bool valid = error == std::errc{} && std::string_view(rest, end).starts_with(" MiB");
    if (valid && mebibytes < std::uint64_t{1} << 40U) row.report.memory_limit = mebibytes << 20U;
  }
  if (cause == FailureCause::none && row.changed_input.empty() && detail.starts_with(kChanged))
    row.changed_input = detail.substr(kChanged.size());
}

void read_fingerprint(Statement& row, Fingerprint& print) {
  print.command = row.digest();
  print.environment = row.digest();
  print.inputs = row.digest();
}

}  // namespace

const char* const kEventColumns =
    "run, kind, task, attempt, at, cause, code, started, ended, user_ns, system_ns, max_rss, "
    "host_id, host, "
    "from_run, from_task, from_attempt, command_digest, environment_digest, inputs_digest, "
    "stdout_size, "
    "stdout_pack, stdout_offset, stdout_truncated, stderr_size, stderr_pack, stderr_offset, "
    "stderr_truncated, "
    "detail, parameters, results, exact, data, memory_limit, changed_input";

bool is_journalled(const Event& event) {
  return std::visit([]<class Kind>(const Kind&) { return kIsJournalled<Kind>; }, event);
}

// Writing.
// -----------------------------------------------------------------------------------------------

Result<EventWriter> EventWriter::prepare(const Database& db) {
  TRY_ASSIGN(Statement insert, db.prepare(kInsert));
  return EventWriter(std::move(insert));
}

Result<> EventWriter::write(RunId run, const Event& event) {
  if (!is_journalled(event)) return {};
  std::visit(
      [&]<class Kind>(const Kind& e) {
        if constexpr (kIsJournalled<Kind>) bind(run, e);
      },
      event);
  return insert_.run();
}

void EventWriter::bind(RunId run, const AttemptEnded& e) {
  const AttemptReport& r = e.report;
  insert_.integer(run.value())
      .plain_text("ended")
      .integer(r.key.task.value())
      .integer(r.key.attempt.value());
  insert_.integer(to_ns(r.ended)).integer(static_cast<int>(r.cause)).integer(r.code);
  insert_.integer(to_ns(r.started)).integer(to_ns(r.ended));
  insert_.integer(r.usage.user.count()).integer(r.usage.system.count());
  insert_.integer(static_cast<std::int64_t>(r.usage.max_rss)).integer(e.host.value());
  opt_text(e.host_name);
  nulls(3);
  fingerprint(e.fingerprint);
  output(r.out);
  output(r.err);
  opt_text(r.detail);
  values(e.parameters, e.results);
  nulls(1);
  output_text(r.out);
  output_text(r.err);
  r.memory_limit == 0 ? insert_.null() : insert_.integer(static_cast<std::int64_t>(r.memory_limit));
  opt_text(e.changed_input);
}

void EventWriter::bind(RunId run, const TaskReused& e) {
  begin(run, "reused", e.task, e.at, 9);
  insert_.integer(e.from_run.value()).integer(e.from_task.value()).integer(e.from_attempt.value());
  fingerprint(e.fingerprint);
  nulls(9);
  values(e.parameters, e.results);
  nulls(5);
}

void EventWriter::bind(RunId run, const TaskInvalidated& e) {
  begin(run, "invalidated", e.task, e.at, 23);
  opt_text(e.reason);
  nulls(8);
}

void EventWriter::bind(RunId run, const CancelRequested& e) {
  begin(run, "cancel asked", {}, e.at, kColumnsToData);
  write_task_list(e.all, e.tasks, data_);
  insert_.plain_text(data_);
  nulls(4);
}

void EventWriter::bind(RunId run, const TasksAdded& e) {
  begin(run, "added", {}, e.at, kColumnsToData - 1);
  write_batch(e, data_, exact_);
  exact_.empty() ? insert_.null() : insert_.blob(exact_);
  insert_.plain_text(data_);
  nulls(4);
}

void EventWriter::bind(RunId run, const RunClosed& e) {
  begin(run, "closed", {}, e.at, kColumnsToData);
  nulls(5);
}

void EventWriter::begin(RunId run, std::string_view kind, TaskId task, TimePoint at, int unused) {
  insert_.integer(run.value()).plain_text(kind);
  task == TaskId{} ? insert_.null() : insert_.integer(task.value());
  insert_.null().integer(to_ns(at));
  nulls(unused);
}

void EventWriter::nulls(int n) {
  for (int i = 0; i < n; ++i) insert_.null();
}

void EventWriter::opt_text(std::string_view v) {
  v.empty() ? insert_.null() : insert_.text(v);
}

void EventWriter::fingerprint(const Fingerprint& print) {
  char* to = digests_.data();
  for (const Digest* d : {&print.command, &print.environment, &print.inputs}) {
    put_digest(*d, to);
    d->empty() ? insert_.null() : insert_.blob({to, kDigestBytes});
    to += kDigestBytes;
  }
}

void EventWriter::output(const CapturedOutput& o) {
  insert_.integer(static_cast<std::int64_t>(o.size));
  opt_text(o.pack);
  o.pack.empty() && o.offset == 0 ? insert_.null()
                                  : insert_.integer(static_cast<std::int64_t>(o.offset));
  insert_.integer(o.truncated || o.text.size() > kMostOutputText ? 1 : 0);
}

void EventWriter::output_text(const CapturedOutput& o) {
  std::string_view text = o.text;
  if (text.size() > kMostOutputText) text.remove_prefix(text.size() - kMostOutputText);
  text.empty() ? insert_.null() : insert_.blob(text);
}

void EventWriter::values(const Pairs& parameters, const Pairs& results) {
  bool exact = true;
  const auto json = [&](const Pairs& pairs, std::string& text) {
    if (pairs.empty()) {
      insert_.null();
      return;
    }
    exact &= write_json(pairs, text);
    insert_.plain_text(text);
  };
  json(parameters, parameters_);
  json(results, results_);
  if (exact) {
    insert_.null();
    return;
  }
  std::string framed;
  exact_.clear();
  frame_pairs(parameters, framed);
  Encoder(exact_).str(framed);
  framed.clear();
  frame_pairs(results, framed);
  Encoder(exact_).str(framed);
  insert_.blob(exact_);
}

// Reading.
// -----------------------------------------------------------------------------------------------

bool read_row(Statement& row, EventRow& out) {
  out.key.run = RunId(row.number<std::uint32_t>());
  out.kind = row.bytes();
  out.key.task = TaskId(row.number<std::uint32_t>());
  out.key.attempt = AttemptId(row.number<std::uint32_t>());
  out.at = from_ns(row.integer());
  AttemptReport& r = out.report;
  r.key = out.key;
  read_end(row, r);
  out.host = HostId(row.number<std::uint32_t>());
  out.host_name = row.bytes();
  out.from_run = RunId(row.number<std::uint32_t>());
  out.from_task = TaskId(row.number<std::uint32_t>());
  out.from_attempt = AttemptId(row.number<std::uint32_t>());
  read_fingerprint(row, out.fingerprint);
  read_output_place(row, r.out);
  read_output_place(row, r.err);
  r.detail = row.bytes();
  if (!read_json(row.bytes(), out.parameters) || !read_json(row.bytes(), out.results)) return false;
  const auto exact = row.bytes();
  const auto data = row.bytes();
  if (out.kind == "added") return read_batch(data, exact, out.batch, out.points);
  if (!exact.empty() && !read_exact(exact, out.parameters, out.results)) return false;
  out.all = false;
  out.tasks.clear();
  if (!data.empty() && !read_task_list(data, out.all, out.tasks)) return false;
  r.memory_limit = row.number<std::uint64_t>();
  out.changed_input = row.bytes();
  if (!r.detail.empty()) read_old_detail(out);
  return true;
}

bool read_results(Statement& row, Pairs& results) {
  if (!read_json(row.bytes(), results)) return false;
  const auto exact = row.bytes();
  Pairs parameters;
  return exact.empty() || read_exact(exact, parameters, results);
}

void read_output(Statement& row, AttemptReport& report) {
  report.out.text = row.bytes();
  report.err.text = row.bytes();
}

const char* const kStateColumns =
    "seq, kind, task, attempt, at, cause, code, started, ended, user_ns, system_ns, max_rss, "
    "host_id, from_run, "
    "from_task, from_attempt, command_digest, environment_digest, inputs_digest";

bool read_state(Statement& row, RunId run, std::int64_t& seq, Event& out) {
  seq = row.integer();
  const std::string_view kind = row.bytes();
  const bool reused = kind == "reused";
  if (!reused && kind != "ended") return false;
  const TaskId task(row.number<std::uint32_t>());
  const AttemptId attempt(row.number<std::uint32_t>());
  const TimePoint at = from_ns(row.integer());
  if (reused) {
    auto& e = out.emplace<TaskReused>();
    e.run = run;
    e.task = task;
    e.at = at;
    row.skip(8);
    e.from_run = RunId(row.number<std::uint32_t>());
    e.from_task = TaskId(row.number<std::uint32_t>());
    e.from_attempt = AttemptId(row.number<std::uint32_t>());
    read_fingerprint(row, e.fingerprint);
    return true;
  }
  auto& e = out.emplace<AttemptEnded>();
  e.report.key = {run, task, attempt};
  read_end(row, e.report);
  if (e.report.cause == FailureCause::out_of_memory) return false;  // with which limit?
  e.host = HostId(row.number<std::uint32_t>());
  row.skip(3);
  read_fingerprint(row, e.fingerprint);
  return true;
}

tl::unexpected<Error> fail_event(const Database& db) {
  return fail_corrupt(db.path(), "an event that makes no sense");
}

Result<RowReader> RowReader::prepare(const Database& db) {
  TRY_ASSIGN(Statement s,
             db.prepare(std::string("SELECT ") + kEventColumns + " FROM events WHERE seq = ?"));
  return RowReader(db, std::move(s));
}

Result<> RowReader::read(std::int64_t seq, EventRow& row) {
  const Statement::Scope scope(select_);
  select_.integer(seq);
  TRY_ASSIGN(const bool found, select_.step());
  if (!found || !read_row(select_, row)) return fail_event(*db_);
  return {};
}

std::optional<Event> to_event(EventRow&& row) {
  if (row.kind == "ended") {
    return AttemptEnded{std::move(row.report),       row.host,
                        std::move(row.host_name),    std::move(row.parameters),
                        std::move(row.results),      row.fingerprint,
                        std::move(row.changed_input)};
  }
  if (row.kind == "reused") {
    return TaskReused{row.key.run,
                      row.key.task,
                      row.from_run,
                      row.from_task,
                      row.from_attempt,
                      std::move(row.parameters),
                      std::move(row.results),
                      row.fingerprint,
                      row.at};
  }
  if (row.kind == "invalidated")
    return TaskInvalidated{row.key.run, row.key.task, std::move(row.report.detail), row.at};
  if (row.kind == "cancel asked")
    return CancelRequested{row.key.run, row.all, std::move(row.tasks), row.at};
  if (row.kind == "added") return TasksAdded{row.key.run, row.batch, std::move(row.points), row.at};
  if (row.kind == "closed") return RunClosed{row.key.run, row.at};
  return std::nullopt;
}

// Task lists.
// --------------------------------------------------------------------------------------------

void write_task_list(bool all, const std::vector<TaskId>& tasks, std::string& out) {
  out = all ? "\"all\"" : "[";
  if (all) return;
  for (const TaskId task : tasks) {
    if (out.size() > 1) out += ',';
    std::array<char, 16> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), task.value()).ptr;
    out.append(digits.data(), end);
  }
  out += ']';
}

bool read_task_list(std::string_view json, bool& all, std::vector<TaskId>& tasks) {
  all = json == "\"all\"";
  if (all || json == "[]") return true;
  if (json.size() < 3 || json.front() != '[' || json.back() != ']') return false;
  const char* at = json.data() + 1;
  const char* const end = json.data() + json.size() - 1;
  for (;;) {
    std::uint32_t task = 0;
    const auto [next, error] = std::from_chars(at, end, task);
    if (error != std::errc{}) return false;
    tasks.emplace_back(task);
    if (next == end) return true;
    if (*next != ',') return false;
    at = next + 1;
  }
}

}  // namespace gantry::store
