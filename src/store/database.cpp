#include "store/database.hpp"

#include <fmt/format.h>

#include <cassert>
#include <cerrno>
#include <cstring>

#include "store/json_text.hpp"

namespace gantry::store {

namespace {

constexpr int kBusyTimeoutMs = 10'000;

constexpr auto kFreeSpace =
    "free some disk space and run the same command again; nothing that was recorded is lost";

tl::unexpected<Error> fail_io(sqlite3* db, int code, const std::string& path) {
  const int system_error = db != nullptr ? sqlite3_system_errno(db) : 0;
  if (system_error == ENOSPC || system_error == EDQUOT) {
    return fail(ErrorCode::io, fmt::format("{}: the disk is full", path), kFreeSpace);
  }
  std::string message = fmt::format("{}: {}", path, sqlite3_errstr(code));
  if (system_error != 0) message += fmt::format(" ({})", std::strerror(system_error));
  return fail(ErrorCode::io, std::move(message));
}

}  // namespace

tl::unexpected<Error> fail_corrupt(const std::string& path, std::string_view what) {
  return fail(
      ErrorCode::corrupt, fmt::format("{}: the database is damaged: {}", path, what),
      fmt::format(
          "save what can be read with `sqlite3 {0} .dump > rescued.sql`; to go on, move {0} and "
          "{0}-wal away and run again. Files that tasks wrote are untouched",
          path));
}

tl::unexpected<Error> fail_sqlite(sqlite3* db, int code, const std::string& path) {
  switch (code & 0xff) {
    case SQLITE_FULL:
      return fail(ErrorCode::io, fmt::format("{}: the disk is full", path), kFreeSpace);
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return fail(ErrorCode::busy,
                  fmt::format("{}: another process keeps the database locked", path),
                  "wait for it to finish and run the same command again");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return fail_corrupt(path, db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(code));
    case SQLITE_READONLY:
      if (code == SQLITE_READONLY_DBMOVED) {
        return fail(ErrorCode::io, fmt::format("{}: was moved or removed while in use", path));
      }
      [[fallthrough]];
    case SQLITE_CANTOPEN:
    case SQLITE_PERM: {
      const int why = db != nullptr ? sqlite3_system_errno(db) : 0;
      if (why == ENOSPC || why == EDQUOT) return fail_io(db, code, path);
      return fail(ErrorCode::io,
                  fmt::format("{}: cannot be written: {}", path,
                              why != 0 ? std::strerror(why) : sqlite3_errstr(code)),
                  kOtherPlace);
    }
    case SQLITE_IOERR:
      return fail_io(db, code, path);
    default:
      return fail(
          ErrorCode::io,
          fmt::format("{}: {}", path, db != nullptr ? sqlite3_errmsg(db) : sqlite3_errstr(code)));
  }
}

// Statement.
// ---------------------------------------------------------------------------------------------

Statement& Statement::integer(std::int64_t v) {
  sqlite3_bind_int64(raw_.get(), next_bind_++, v);
  return *this;
}

Statement& Statement::null() {
  sqlite3_bind_null(raw_.get(), next_bind_++);
  return *this;
}

Statement& Statement::blob(std::string_view v) {
  // A null pointer would bind NULL, and an empty blob is not that.
  sqlite3_bind_blob64(raw_.get(), next_bind_++, v.empty() ? "" : v.data(), v.size(), SQLITE_STATIC);
  return *this;
}

Statement& Statement::text(std::string_view v) {
  return is_plain_text(v) ? plain_text(v) : blob(v);
}

Statement& Statement::plain_text(std::string_view v) {
  sqlite3_bind_text64(raw_.get(), next_bind_++, v.empty() ? "" : v.data(), v.size(), SQLITE_STATIC,
                      SQLITE_UTF8);
  return *this;
}

void put_digest(const Digest& digest, char* to) {
  for (int i = 0; i < 8; ++i) {
    to[i] = static_cast<char>(digest.high >> (56 - 8 * i));
    to[8 + i] = static_cast<char>(digest.low >> (56 - 8 * i));
  }
}

Statement& Statement::digest(const Digest& v) {
  char bytes[kDigestBytes];
  put_digest(v, bytes);
  sqlite3_bind_blob(raw_.get(), next_bind_++, bytes, sizeof bytes, SQLITE_TRANSIENT);
  return *this;
}

Result<bool> Statement::step() {
  next_column_ = 0;
  const int code = sqlite3_step(raw_.get());
  if (code == SQLITE_ROW) return true;
  if (code == SQLITE_DONE) return false;
  sqlite3* db = sqlite3_db_handle(raw_.get());
  const char* path = sqlite3_db_filename(db, "main");
  return fail_sqlite(db, sqlite3_extended_errcode(db), path != nullptr ? path : "");
}

Result<> Statement::run() {
  auto stepped = step();
  reset();
  if (!stepped) return tl::unexpected(std::move(stepped).error());
  return {};
}

void Statement::reset() {
  sqlite3_reset(raw_.get());
  next_bind_ = 1;
  next_column_ = 0;
}

bool Statement::is_null() const {
  return sqlite3_column_type(raw_.get(), next_column_) == SQLITE_NULL;
}
bool Statement::is_blob() const {
  return sqlite3_column_type(raw_.get(), next_column_) == SQLITE_BLOB;
}

std::int64_t Statement::integer() {
  return sqlite3_column_int64(raw_.get(), next_column_++);
}

std::string_view Statement::bytes() {
  const int column = next_column_++;
  const auto* data = static_cast<const char*>(sqlite3_column_blob(raw_.get(), column));
  if (data == nullptr) return {};
  return {data, static_cast<std::size_t>(sqlite3_column_bytes(raw_.get(), column))};
}

Digest Statement::digest() {
  const std::string_view b = bytes();
  Digest d;
  if (b.size() != kDigestBytes) return d;
  for (std::size_t i = 0; i < 8; ++i) {
    d.high = d.high << 8 | static_cast<unsigned char>(b[i]);
    d.low = d.low << 8 | static_cast<unsigned char>(b[8 + i]);
  }
  return d;
}

Statement& Statement::skip(int columns) {
  next_column_ += columns;
  return *this;
}

// Database.
// ----------------------------------------------------------------------------------------------

namespace {
std::string file_uri(const std::filesystem::path& path) {
  std::string uri = "file:";
  for (const char c : std::filesystem::absolute(path).string()) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) != 0 || c == '/' || c == '.' || c == '-' || c == '_') {
      uri += c;
    } else {
      uri += fmt::format("%{:02x}", byte);
    }
  }
  return uri + "?immutable=1";
}
}  // namespace

Result<Database> Database::open(const std::filesystem::path& path, int flags, bool immutable) {
  sqlite3* raw = nullptr;
  const std::string name = immutable ? file_uri(path) : path.string();
  if (immutable) flags |= SQLITE_OPEN_URI;
  const int code = sqlite3_open_v2(name.c_str(), &raw,
                                   flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, nullptr);
  Database db(raw, path.string());
  if (code != SQLITE_OK) return fail_sqlite(raw, code, path.string());
  sqlite3_busy_timeout(raw, kBusyTimeoutMs);
  // What a damaged or planted file can make SQLite do is kept small.
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  return db;
}

Result<Database> Database::in_memory() {
  return open(":memory:", SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
}

Result<Statement> Database::compile(std::string_view sql, unsigned flags) const {
  sqlite3_stmt* raw = nullptr;
  const int code = sqlite3_prepare_v3(raw_.get(), sql.data(), static_cast<int>(sql.size()), flags,
                                      &raw, nullptr);
  if (code != SQLITE_OK) return fail_sqlite(raw_.get(), code, path_);
  return Statement(raw);
}

Result<Statement> Database::prepare(std::string_view sql) const {
  return compile(sql, 0);
}

Result<Statement*> Database::prepare_once(std::string_view sql) const {
  auto kept = kept_.find(sql);
  if (kept == kept_.end()) {
    TRY_ASSIGN(Statement s, compile(sql, SQLITE_PREPARE_PERSISTENT));
    kept = kept_.emplace(sql, std::move(s)).first;
  }
  return &kept->second;
}

Result<> Database::execute(const std::string& sql) const {
  const int code = sqlite3_exec(raw_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) return fail_sqlite(raw_.get(), code, path_);
  return {};
}

Result<std::int64_t> Database::integer(std::string_view sql) const {
  TRY_ASSIGN(Statement s, prepare(sql));
  TRY_ASSIGN(const bool row, s.step());
  return row ? s.integer() : 0;
}

Result<std::string> Database::string(std::string_view sql) const {
  TRY_ASSIGN(Statement s, prepare(sql));
  TRY_ASSIGN(const bool row, s.step());
  return row ? s.string() : std::string{};
}

// Transaction.
// -------------------------------------------------------------------------------------------

Result<Transaction> Transaction::begin(const Database& db) {
  TRY(db.execute("BEGIN IMMEDIATE"));
  return Transaction(db);
}

Result<> Transaction::commit() {
  TRY(db_->execute("COMMIT"));
  db_ = nullptr;
  return {};
}

Transaction::~Transaction() {
  // Some errors (a full disk) make SQLite roll back by itself.
  if (db_ != nullptr && db_->in_transaction()) {
    sqlite3_exec(db_->raw(), "ROLLBACK", nullptr, nullptr, nullptr);
  }
}

}  // namespace gantry::store
