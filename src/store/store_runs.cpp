// Store: the tables `runs` and `sources`.
#include <fmt/format.h>

#include <array>

#include "store/batch_rows.hpp"
#include "store/json_text.hpp"
#include "store/result_index.hpp"
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

// In the order of the columns.
constexpr std::array kCountFields{&Counts::total,  &Counts::done,      &Counts::reused,
                                  &Counts::failed, &Counts::cancelled, &Counts::running};
constexpr std::array kEtaFields{&Eta::expected, &Eta::soonest, &Eta::latest};

constexpr auto kRunColumns =
    "SELECT id, name, digest, study, state, created, updated, total, done, reused, failed, "
    "cancelled, "
    "running, eta, eta_soonest, eta_latest, pid, "
    "parameter_names, result_names, result_rules, driven FROM runs ";

bool read_run(Statement& s, RunRecord& run) {
  run.id = RunId(s.number<std::uint32_t>());
  run.name = s.bytes();
  auto digest = Digest::from_hex(s.bytes());
  if (digest) run.digest = *digest;
  run.study = Digest::from_hex(s.bytes()).value_or(Digest{});
  run.state = s.bytes() == "finished" ? RunState::finished : RunState::open;
  run.created = from_ns(s.integer());
  run.updated = from_ns(s.integer());
  for (const auto field : kCountFields) run.counts.*field = s.number<std::uint32_t>();
  for (const auto field : kEtaFields) run.eta.*field = Duration(s.integer());
  run.pid = s.number<std::int32_t>();
  const bool named = read_words(s, run.parameter_names) && read_words(s, run.result_names) &&
                     read_words(s, run.result_rules);
  run.driven = s.integer();
  return named && digest.has_value();
}

/// `whole`: also what may be large.
Result<> read_source(const Database& db, RunRecord& run, bool whole) {
  TRY_ASSIGN(Statement s, db.prepare(whole ? "SELECT one_liner, path, base_dir, args, text, "
                                             "numbering, data FROM sources WHERE run = ?"
                                           : "SELECT one_liner, path, base_dir FROM sources "
                                             "WHERE run = ?"));
  s.integer(run.id.value());
  TRY_ASSIGN(const bool row, s.step());
  if (!row) return fail_corrupt(db.path(), fmt::format("run {} has no source", run.id.value()));
  run.source.one_liner = s.integer() != 0;
  run.source.path = s.bytes();
  run.source.base_dir = s.bytes();
  if (!whole) return {};
  bool makes_sense = read_words(s, run.source.args);
  run.source.text = s.bytes();
  makes_sense = read_order(s.bytes(), run.numbering) && makes_sense;
  if (!s.is_null()) {
    auto data = unframe_pairs(s.bytes());
    makes_sense = data && makes_sense;
    if (data) run.source.data = std::move(*data);
  }
  if (!makes_sense)
    return fail_corrupt(db.path(), fmt::format("the source of run {}", run.id.value()));
  return {};
}

/// Older gantries did not journal a run's first batch.
Result<> read_batches(const Database& db, RunRecord& run) {
  TRY_ASSIGN(Statement rows, db.prepare("SELECT seq FROM events INDEXED BY events_by_task "
                                        "WHERE run = ? AND task IS NULL AND kind = 'added' "
                                        "ORDER BY seq"));
  TRY_ASSIGN(RowReader reader, RowReader::prepare(db));
  rows.integer(run.id.value());
  EventRow row;
  for (;;) {
    TRY_ASSIGN(const bool more, rows.step());
    if (!more) break;
    TRY(reader.read(rows.integer(), row));
    run.batches.push_back({row.batch, std::move(row.points)});
  }
  const std::uint32_t older =
      run.batches.empty() ? run.counts.total : run.batches.front().batch.first.value() - 1;
  if (older > 0)
    run.batches.insert(run.batches.begin(),
                       {{NodeId(0), 0, TaskId(1), older}, EnumeratedPoints{{}, {{0, older}}}});
  return {};
}

/// The first run of `where`, with its source and batches.
template <class Bind>
Result<std::optional<RunRecord>> one_run(const Database& db, const std::string& where,
                                         const Bind& bind) {
  TRY_ASSIGN(Statement s, db.prepare(kRunColumns + where));
  bind(s);
  TRY_ASSIGN(const bool row, s.step());
  if (!row) return std::nullopt;
  RunRecord run;
  if (!read_run(s, run)) return fail_corrupt(db.path(), "a run that makes no sense");
  TRY(read_source(db, run, true));
  TRY(read_batches(db, run));
  return run;
}

Result<> write_source(const Database& db, RunId id, const RunRecord& run) {
  TRY_ASSIGN(Statement s, db.prepare("INSERT OR REPLACE INTO sources (run, one_liner, path, "
                                     "base_dir, args, text, numbering, data) "
                                     "VALUES (?,?,?,?,?,?,?,?)"));
  std::string args;
  const std::string numbering = order_text(run.numbering);
  s.integer(id.value()).integer(run.source.one_liner ? 1 : 0);
  s.text(run.source.path).text(run.source.base_dir);
  bind_words(s, run.source.args, args);
  s.text(run.source.text).plain_text(numbering);
  std::string data;
  if (!run.source.data.empty()) frame_pairs(run.source.data, data);
  run.source.data.empty() ? s.null() : s.blob(data);
  return s.run();
}

std::string hex_or_empty(const Digest& digest) {
  return digest.empty() ? "" : digest.hex();
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

std::string_view to_text(RunState state) {
  return state == RunState::finished ? "finished" : "open";
}

void bind_counts(Statement& s, const Counts& counts) {
  for (const auto field : kCountFields) s.integer(counts.*field);
}

void bind_eta(Statement& s, const Eta& eta) {
  for (const auto field : kEtaFields) s.integer((eta.*field).count());
}

Result<> Store::Impl::write_all(RunId run, const NextEvent& next) {
  while (next) {
    TRY_ASSIGN(const auto event, next(run));
    if (!event) break;
    TRY(events->write(run, *event));
  }
  return note_last(run);
}

Result<> Store::Impl::note_last(RunId run) const {
  TRY_ASSIGN(Statement * s, db.prepare_once("UPDATE runs SET last_seq = (SELECT max(seq) FROM "
                                            "events) WHERE id = ?"));
  return s->integer(run.value()).run();
}

Result<RunId> Store::create_run(const RunRecord& record, const NextEvent& first) {
  const Database& db = impl_->db;
  TRY_ASSIGN(Transaction transaction, Transaction::begin(db));
  TRY_ASSIGN(
      Statement s,
      db.prepare(
          "INSERT INTO runs (name, digest, study, state, created, updated, total, done, reused, "
          "failed, "
          "cancelled, running, eta, eta_soonest, eta_latest, pid, parameter_names, result_names, "
          "result_rules, after_seq, "
          "driven) "
          "VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,(SELECT coalesce(max(seq), 0) FROM "
          "events),"
          "(SELECT coalesce(max(driven), 0) + 1 FROM runs))"));
  const std::string digest = record.digest.hex();
  const std::string study = hex_or_empty(record.study);
  std::string parameters;
  std::string results;
  std::string rules;
  s.text(record.name).plain_text(digest).plain_text(study).plain_text(to_text(record.state));
  s.integer(to_ns(record.created)).integer(to_ns(record.updated));
  bind_counts(s, record.counts);
  bind_eta(s, record.eta);
  s.integer(record.pid);
  bind_words(s, record.parameter_names, parameters);
  bind_words(s, record.result_names, results);
  bind_words(s, record.result_rules, rules);
  TRY(s.run());
  const RunId id(static_cast<std::uint32_t>(sqlite3_last_insert_rowid(db.raw())));
  TRY(write_source(db, id, record));
  TRY(impl_->write_all(id, first));
  TRY(transaction.commit());
  return id;
}

Result<> Store::edit_run(const RunRecord& record, const NextEvent& events) {
  const Database& db = impl_->db;
  TRY_ASSIGN(Transaction transaction, Transaction::begin(db));
  TRY_ASSIGN(Statement s, db.prepare("UPDATE runs SET digest = ?, study = ?, total = ?, "
                                     "state = 'open' WHERE id = ?"));
  const std::string digest = record.digest.hex();
  const std::string study = hex_or_empty(record.study);
  s.plain_text(digest).plain_text(study).integer(record.counts.total).integer(record.id.value());
  TRY(s.run());
  TRY(write_source(db, record.id, record));
  TRY(impl_->write_all(record.id, events));
  return transaction.commit();
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
    TRY(read_source(db, runs.back(), false));
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

Result<std::optional<RunRecord>> Store::last_run_of(const Digest& study,
                                                    const std::string& name) const {
  const std::string hex = study.hex();
  return one_run(
      impl_->db,
      "WHERE study = ? OR (study = '' AND name = ?) ORDER BY study = '', driven DESC, id DESC "
      "LIMIT 1",
      [&](Statement& s) { s.plain_text(hex).text(name); });
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
      "DELETE FROM given_hosts WHERE run = {0}; DELETE FROM snapshots WHERE run = {0};"
      "DELETE FROM runs WHERE id = {0};",
      id.value())));
  // Numbers of removed events are given out again: no run's events may seem to lie before its
  // beginning.
  TRY_ASSIGN(const std::int64_t last, db.integer("SELECT coalesce(max(seq), 0) FROM events"));
  TRY(
      db.execute(fmt::format("UPDATE runs SET after_seq = min(after_seq, {0});"
                             "UPDATE snapshots SET seq = min(seq, {0})",
                             last)));
  TRY(ResultIndex::forget_after(db, last));
  TRY(transaction.commit());
  std::erase_if(impl_->group.events, [&](const auto& e) { return e.first == id; });
  impl_->group.updates.erase(id);
  impl_->group.hosts.erase(id);
  std::erase(impl_->group.driven, id);
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
