// Store: the tables `runs` and `sources`.
#include <fmt/format.h>

#include "store/json_text.hpp"
#include "store/store_impl.hpp"

namespace gantry::store {

namespace {

/// JSON, or, when the words are not all text, length-framed. TEXT and BLOB tell them apart.
void bind_words(Statement& s, const std::vector<std::string>& words, std::string& scratch) {
  if (write_json(words, scratch)) {
    s.plain_text(scratch);
  } else {
    scratch.clear();
    frame_words(words, scratch);
    s.blob(scratch);
  }
}

bool read_words(Statement& s, std::vector<std::string>& words) {
  const bool framed = s.is_blob();
  auto read = framed ? unframe_words(s.bytes()) : read_json_words(s.bytes());
  if (read) words = std::move(*read);
  return read.has_value();
}

constexpr auto kRunColumns =
    "SELECT id, name, digest, state, created, updated, total, done, reused, failed, cancelled, "
    "running, eta, eta_soonest, eta_latest, pid, "
    "parameter_names, result_names, result_rules, driven FROM runs ";

bool read_run(Statement& s, RunRecord& run) {
  run.id = RunId(s.number<std::uint32_t>());
  run.name = s.bytes();
  auto digest = Digest::from_hex(s.bytes());
  if (digest) run.digest = *digest;
  run.state = s.bytes() == "finished" ? RunState::finished : RunState::open;
  run.created = from_ns(s.integer());
  run.updated = from_ns(s.integer());
  for (std::uint32_t Counts::*field : {&Counts::total, &Counts::done, &Counts::reused,
                                       &Counts::failed, &Counts::cancelled, &Counts::running}) {
    run.counts.*field = s.number<std::uint32_t>();
  }
  for (Duration Eta::*field : {&Eta::expected, &Eta::soonest, &Eta::latest})
    run.eta.*field = Duration(s.integer());
  run.pid = s.number<std::int32_t>();
  const bool named = read_words(s, run.parameter_names) && read_words(s, run.result_names) &&
                     read_words(s, run.result_rules);
  run.driven = s.integer();
  return named && digest.has_value();
}

Result<> read_source(const Database& db, RunId run, bool whole, SpecSource& source) {
  TRY_ASSIGN(
      Statement s,
      db.prepare(whole ? "SELECT one_liner, path, base_dir, args, text FROM sources WHERE run = ?"
                       : "SELECT one_liner, path, base_dir FROM sources WHERE run = ?"));
  s.integer(run.value());
  TRY_ASSIGN(const bool row, s.step());
  if (!row) return fail_corrupt(db.path(), fmt::format("run {} has no source", run.value()));
  source.one_liner = s.integer() != 0;
  source.path = s.bytes();
  source.base_dir = s.bytes();
  if (!whole) return {};
  if (!read_words(s, source.args))
    return fail_corrupt(db.path(), fmt::format("the source of run {}", run.value()));
  source.text = s.bytes();
  return {};
}

/// The first run of `where`, source included.
template <class Bind>
Result<std::optional<RunRecord>> one_run(const Database& db, const std::string& where,
                                         const Bind& bind) {
  TRY_ASSIGN(Statement s, db.prepare(kRunColumns + where));
  bind(s);
  TRY_ASSIGN(const bool row, s.step());
  if (!row) return std::nullopt;
  RunRecord run;
  if (!read_run(s, run)) return fail_corrupt(db.path(), "a run that makes no sense");
  TRY(read_source(db, run.id, true, run.source));
  return run;
}

Result<> insert_source(const Database& db, RunId run, const SpecSource& source) {
  TRY_ASSIGN(Statement s,
             db.prepare("INSERT INTO sources (run, one_liner, path, base_dir, args, text) "
                        "VALUES (?,?,?,?,?,?)"));
  std::string args;
  s.integer(run.value()).integer(source.one_liner ? 1 : 0).text(source.path).text(source.base_dir);
  bind_words(s, source.args, args);
  s.text(source.text);
  return s.run();
}

/// Gives free pages back to the disk when they are worth it. A failure (readers, no room for the
/// copy) is no loss: later events use the free pages.
void shrink(const Database& db) {
  const auto free = db.integer("PRAGMA freelist_count");
  const auto all = db.integer("PRAGMA page_count");
  if (free && all && *free > 1000 && *free > *all / 4) {
    sqlite3_exec(db.raw(), "VACUUM; PRAGMA wal_checkpoint(TRUNCATE)", nullptr, nullptr, nullptr);
  }
}

}  // namespace

Result<RunId> Store::create_run(const RunRecord& record,
                                const std::function<Result<std::optional<Event>>(RunId)>& first) {
  const Database& db = impl_->db;
  TRY_ASSIGN(Transaction transaction, Transaction::begin(db));
  TRY_ASSIGN(
      Statement s,
      db.prepare(
          "INSERT INTO runs (name, digest, state, created, updated, total, done, reused, failed, "
          "cancelled, running, eta, eta_soonest, eta_latest, pid, parameter_names, result_names, "
          "result_rules, after_seq, "
          "driven) "
          "VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,(SELECT coalesce(max(seq), 0) FROM events),"
          "(SELECT coalesce(max(driven), 0) + 1 FROM runs))"));
  const Counts& c = record.counts;
  const std::string digest = record.digest.hex();
  std::string parameters;
  std::string results;
  std::string rules;
  s.text(record.name)
      .plain_text(digest)
      .plain_text(record.state == RunState::finished ? "finished" : "open");
  s.integer(to_ns(record.created)).integer(to_ns(record.updated));
  s.integer(c.total)
      .integer(c.done)
      .integer(c.reused)
      .integer(c.failed)
      .integer(c.cancelled)
      .integer(c.running);
  for (const Duration time : {record.eta.expected, record.eta.soonest, record.eta.latest})
    s.integer(time.count());
  s.integer(record.pid);
  bind_words(s, record.parameter_names, parameters);
  bind_words(s, record.result_names, results);
  bind_words(s, record.result_rules, rules);
  TRY(s.run());
  const RunId id(static_cast<std::uint32_t>(sqlite3_last_insert_rowid(db.raw())));
  TRY(insert_source(db, id, record.source));
  while (first) {
    TRY_ASSIGN(const auto event, first(id));
    if (!event) break;
    TRY(impl_->hot->events.write(id, *event));
  }
  TRY(transaction.commit());
  return id;
}

Result<std::vector<RunRecord>> Store::runs() const {
  const Database& db = impl_->db;
  TRY_ASSIGN(Statement s, db.prepare(std::string(kRunColumns) + "ORDER BY id"));
  std::vector<RunRecord> runs;
  for (;;) {
    TRY_ASSIGN(const bool row, s.step());
    if (!row) return runs;
    if (!read_run(s, runs.emplace_back()))
      return fail_corrupt(db.path(), "a run that makes no sense");
    TRY(read_source(db, runs.back().id, false, runs.back().source));
  }
}

Result<std::optional<RunRecord>> Store::run(RunId id) const {
  return one_run(impl_->db, "WHERE id = ?", [&](Statement& s) { s.integer(id.value()); });
}

Result<std::optional<RunRecord>> Store::last_run() const {
  return one_run(impl_->db, "ORDER BY driven DESC, id DESC LIMIT 1", [](Statement&) {});
}

Result<std::optional<RunRecord>> Store::last_run_with(const Digest& digest) const {
  const std::string hex = digest.hex();
  return one_run(impl_->db, "WHERE digest = ? ORDER BY id DESC LIMIT 1",
                 [&](Statement& s) { s.plain_text(hex); });
}

Result<> Store::remove_run(RunId id) {
  const Database& db = impl_->db;
  TRY_ASSIGN(Transaction transaction, Transaction::begin(db));
  // What other runs have taken over stays, with its output, until the last of them is removed.
  TRY(db.execute(fmt::format(
      "UPDATE events SET kind = 'kept' WHERE run = {0} AND kind = 'ended' AND (task, attempt) IN "
      "(SELECT from_task, from_attempt FROM events WHERE from_run = {0} AND run <> {0});"
      "DELETE FROM events WHERE run = {0} AND kind <> 'kept';"
      "DELETE FROM events WHERE kind = 'kept' AND (run, task, attempt) NOT IN "
      "(SELECT from_run, from_task, from_attempt FROM events WHERE kind = 'reused');"
      "DELETE FROM requests WHERE run = {0}; DELETE FROM sources WHERE run = {0};"
      "DELETE FROM given_hosts WHERE run = {0}; DELETE FROM runs WHERE id = {0};",
      id.value())));
  // Numbers of removed events are given out again: no run's events may seem to lie before its
  // beginning.
  TRY(db.execute(
      "UPDATE runs SET after_seq = min(after_seq, (SELECT coalesce(max(seq), 0) FROM events))"));
  TRY(transaction.commit());
  std::erase_if(impl_->group.events, [&](const auto& e) { return e.first == id; });
  impl_->group.updates.erase(id);
  impl_->group.hosts.erase(id);
  if (impl_->group.driven == id) impl_->group.driven.reset();
  shrink(db);
  return {};
}

Result<std::set<std::string>> Store::packs_of_removed_runs() const {
  TRY_ASSIGN(Statement s, impl_->db.prepare("SELECT stdout_pack, stderr_pack FROM events "
                                            "WHERE kind = 'kept'"));
  std::set<std::string> packs;
  for (;;) {
    TRY_ASSIGN(const bool more, s.step());
    if (!more) return packs;
    for (int i = 0; i < 2; ++i) {
      if (const auto pack = s.bytes(); !pack.empty()) packs.emplace(pack);
    }
  }
}

}  // namespace gantry::store
