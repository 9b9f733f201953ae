#include "store/schema.hpp"

#include <fmt/format.h>

#include <array>

#include "model/outcome.hpp"

namespace gantry::store {

namespace {

// The journal's order of columns is its reading order: replay needs the first part only, and SQLite
// reads a long row's overflow pages only as far as the last column asked for. Output comes last,
// but for columns that were added later, as migrations have it; where those are NULL, as nearly
// always, reading them costs nothing.
//
// One index serves two ends. It finds a task's rows among a million, and it is why an attempt's end
// is recorded once however often it is reported: `attempt` is set for ends alone, and SQLite holds
// NULLs to be distinct. Ends arrive nearly in the order of tasks, so that inserting costs about a
// microsecond (bench/store_bench.cpp).
constexpr auto kTables = R"sql(
CREATE TABLE runs (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  name TEXT NOT NULL,
  digest TEXT NOT NULL,
  state TEXT NOT NULL,
  created INTEGER NOT NULL,
  updated INTEGER NOT NULL,
  total INTEGER NOT NULL,
  done INTEGER NOT NULL,
  reused INTEGER NOT NULL,
  failed INTEGER NOT NULL,
  cancelled INTEGER NOT NULL,
  running INTEGER NOT NULL,
  eta INTEGER NOT NULL,
  pid INTEGER NOT NULL,
  parameter_names TEXT NOT NULL,
  result_names TEXT NOT NULL,
  result_rules TEXT NOT NULL,
  after_seq INTEGER NOT NULL,
  driven INTEGER NOT NULL,
  eta_soonest INTEGER NOT NULL DEFAULT 0,
  eta_latest INTEGER NOT NULL DEFAULT 0,
  study TEXT NOT NULL DEFAULT '',
  last_seq INTEGER
);
CREATE TABLE sources (
  run INTEGER PRIMARY KEY,
  one_liner INTEGER NOT NULL,
  path TEXT NOT NULL,
  base_dir TEXT NOT NULL,
  args TEXT NOT NULL,
  text TEXT NOT NULL,
  numbering TEXT NOT NULL DEFAULT '',
  data BLOB
);
CREATE TABLE events (
  seq INTEGER PRIMARY KEY,
  run INTEGER NOT NULL,
  kind TEXT NOT NULL,
  task INTEGER,
  attempt INTEGER,
  at INTEGER NOT NULL,
  cause INTEGER,
  code INTEGER,
  started INTEGER,
  ended INTEGER,
  user_ns INTEGER,
  system_ns INTEGER,
  max_rss INTEGER,
  host_id INTEGER,
  host TEXT,
  from_run INTEGER,
  from_task INTEGER,
  from_attempt INTEGER,
  command_digest BLOB,
  environment_digest BLOB,
  inputs_digest BLOB,
  stdout_size INTEGER,
  stdout_pack TEXT,
  stdout_offset INTEGER,
  stdout_truncated INTEGER,
  stderr_size INTEGER,
  stderr_pack TEXT,
  stderr_offset INTEGER,
  stderr_truncated INTEGER,
  detail TEXT,
  parameters TEXT,
  results TEXT,
  exact BLOB,
  data TEXT,
  stdout BLOB,
  stderr BLOB,
  memory_limit INTEGER,
  changed_input TEXT
);
CREATE UNIQUE INDEX events_by_task ON events (run, task, attempt);
CREATE TABLE requests (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  run INTEGER NOT NULL,
  tasks TEXT NOT NULL,
  sites TEXT NOT NULL DEFAULT '',
  study BLOB
);
CREATE TABLE file_digests (
  path TEXT PRIMARY KEY,
  size INTEGER NOT NULL,
  changed_ns INTEGER NOT NULL,
  inode INTEGER NOT NULL,
  digest BLOB NOT NULL
) WITHOUT ROWID;
)sql";

constexpr auto kRemoteFiles = R"sql(
CREATE TABLE IF NOT EXISTS remote_files (
  site TEXT NOT NULL,
  remote TEXT NOT NULL,
  path TEXT NOT NULL,
  run INTEGER NOT NULL,
  task INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  bytes INTEGER NOT NULL,
  content BLOB NOT NULL,
  grid TEXT NOT NULL,
  replaced INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (site, remote)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS remote_files_by_path ON remote_files (path);
)sql";

constexpr auto kLearned = R"sql(
CREATE TABLE IF NOT EXISTS learned (
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  updated INTEGER NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (kind, name)
) WITHOUT ROWID;
)sql";

// Runs that grow and join.
constexpr auto kManyRuns = R"sql(
CREATE TABLE IF NOT EXISTS result_index (
  segment INTEGER NOT NULL,
  first_key INTEGER NOT NULL,
  entries BLOB NOT NULL,
  PRIMARY KEY (segment, first_key)
);
CREATE TABLE IF NOT EXISTS snapshots (
  run INTEGER PRIMARY KEY,
  seq INTEGER NOT NULL,
  data BLOB NOT NULL
);
CREATE TABLE IF NOT EXISTS answers (
  request INTEGER PRIMARY KEY,
  run INTEGER NOT NULL,
  message TEXT NOT NULL,
  hint TEXT NOT NULL
);
CREATE TABLE IF NOT EXISTS given_hosts (
  run INTEGER NOT NULL,
  site TEXT NOT NULL,
  host TEXT NOT NULL,
  PRIMARY KEY (run, site, host)
) WITHOUT ROWID;
)sql";

constexpr auto kViews = R"sql(
CREATE VIEW tasks AS
SELECT l.run AS run, l.task AS task,
  CASE WHEN l.last > l.latest THEN 'pending'
       WHEN e.kind = 'reused' OR e.cause = 0 THEN 'done'
       WHEN e.cause = 9 THEN 'cancelled'
       ELSE 'failed' END AS state,
  e.kind = 'reused' AS reused,
  coalesce(e.attempt, e.from_attempt) AS attempt,
  {causes} AS cause,
  e.code AS code, e.detail AS detail, e.host AS host,
  strftime('%Y-%m-%dT%H:%M:%fZ', e.started / 1e9, 'unixepoch') AS started,
  strftime('%Y-%m-%dT%H:%M:%fZ', e.ended / 1e9, 'unixepoch') AS ended,
  (e.ended - e.started) / 1e9 AS seconds,
  e.user_ns / 1e9 AS user_seconds, e.system_ns / 1e9 AS system_seconds, e.max_rss AS max_rss,
  e.parameters AS parameters, e.results AS results,
  e.stdout_size AS stdout_size, e.stderr_size AS stderr_size,
  CAST(e.stdout AS TEXT) AS stdout, CAST(e.stderr AS TEXT) AS stderr
FROM (SELECT run, task, max(seq) AS last,
             max(seq) FILTER (WHERE kind IN ('ended', 'reused')) AS latest
      FROM events WHERE task IS NOT NULL GROUP BY run, task) AS l
JOIN events AS e ON e.seq = l.latest;

CREATE VIEW results AS
SELECT run, task, parameters, results, reused, seconds FROM tasks WHERE state = 'done';
)sql";

/// `CASE e.cause WHEN 0 THEN 'ok' …`
std::string cause_names() {
  std::string sql = "CASE e.cause";
  for (int i = 0; i <= static_cast<int>(FailureCause::checkpointed); ++i) {
    sql += fmt::format(" WHEN {} THEN '{}'", i, to_string(static_cast<FailureCause>(i)));
  }
  return sql + " END";
}

}  // namespace

std::span<const Migration> migrations() {
  static const std::array<Migration, 6> steps{
      "ALTER TABLE runs ADD COLUMN driven INTEGER NOT NULL DEFAULT 0; UPDATE runs SET driven = id",
      "ALTER TABLE runs ADD COLUMN result_rules TEXT NOT NULL DEFAULT '[]'",
      kRemoteFiles,
      "ALTER TABLE requests ADD COLUMN sites TEXT NOT NULL DEFAULT ''",
      std::string("ALTER TABLE runs ADD COLUMN eta_soonest INTEGER NOT NULL DEFAULT 0;"
                  "ALTER TABLE runs ADD COLUMN eta_latest INTEGER NOT NULL DEFAULT 0;") +
          kLearned,
      std::string("ALTER TABLE runs ADD COLUMN study TEXT NOT NULL DEFAULT '';"
                  "ALTER TABLE runs ADD COLUMN last_seq INTEGER;"
                  "ALTER TABLE sources ADD COLUMN numbering TEXT NOT NULL DEFAULT '';"
                  "ALTER TABLE sources ADD COLUMN data BLOB;"
                  "ALTER TABLE requests ADD COLUMN study BLOB;"
                  "ALTER TABLE events ADD COLUMN memory_limit INTEGER;"
                  "ALTER TABLE events ADD COLUMN changed_input TEXT;") +
          kManyRuns,
  };
  return steps;
}

Result<std::string> new_database_image() {
  TRY_ASSIGN(const Database db, Database::in_memory());
  // A group of a hundred ends fills pages of 8 KB; with the usual 4 KB a commit takes a tenth more
  // CPU.
  TRY(db.execute("PRAGMA page_size = 8192"));
  TRY(db.execute(kTables));
  TRY(db.execute(kRemoteFiles));
  TRY(db.execute(kLearned));
  TRY(db.execute(kManyRuns));
  TRY(db.execute(fmt::format(kViews, fmt::arg("causes", cause_names()))));
  TRY(db.execute(fmt::format("PRAGMA application_id = {}; PRAGMA user_version = {}", kApplicationId,
                             kSchemaVersion)));
  sqlite3_int64 size = 0;
  const std::unique_ptr<unsigned char, decltype(&sqlite3_free)> bytes(
      sqlite3_serialize(db.raw(), "main", &size, 0), &sqlite3_free);
  if (bytes == nullptr) return fail(ErrorCode::io, "a new database: out of memory");
  return std::string(reinterpret_cast<const char*>(bytes.get()), static_cast<std::size_t>(size));
}

Result<std::int64_t> check_version(const Database& db, std::int64_t newest) {
  TRY_ASSIGN(const std::int64_t id, db.integer("PRAGMA application_id"));
  TRY_ASSIGN(const std::int64_t version, db.integer("PRAGMA user_version"));
  if (id != kApplicationId || version < 1) {
    return fail(ErrorCode::corrupt,
                fmt::format("{}: is a database, but not one of gantry's", db.path()),
                "move it away, or keep the state elsewhere with --state DIR or $GANTRY_STATE");
  }
  if (version > newest) {
    return fail(
        ErrorCode::version,
        fmt::format("{}: was written by a newer gantry (schema {}, this one knows {})", db.path(),
                    version, newest),
        "upgrade gantry, or keep this one's state elsewhere with --state DIR or $GANTRY_STATE");
  }
  return version;
}

Result<> migrate(const Database& db, std::int64_t version, std::span<const Migration> steps) {
  const auto newest = static_cast<std::int64_t>(steps.size()) + 1;
  if (version >= newest) return {};
  TRY_ASSIGN(Transaction transaction, Transaction::begin(db));
  // Another process may have done it while we waited for the lock.
  TRY_ASSIGN(version, db.integer("PRAGMA user_version"));
  for (std::int64_t v = version; v < newest; ++v) {
    TRY(db.execute(steps[static_cast<std::size_t>(v - 1)]));
  }
  if (version < newest) TRY(db.execute(fmt::format("PRAGMA user_version = {}", newest)));
  return transaction.commit();
}

}  // namespace gantry::store
