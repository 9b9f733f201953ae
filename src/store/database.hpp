#pragma once
/// SQLite with owners and Results: a connection, a prepared statement, and the one place that turns
/// SQLite's error codes into errors a person can act on. One thread per Database.

#include <sqlite3.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/hash.hpp"
#include "base/result.hpp"

namespace gantry::store {

/// The hint when a place cannot be written.
inline constexpr auto kOtherPlace =
    "make it writable, or keep the state elsewhere with --state DIR or $GANTRY_STATE";

/// A digest as it is stored: big-endian, so that hex() in SQL shows the digits of Digest::hex().
inline constexpr std::size_t kDigestBytes = 16;
void put_digest(const Digest& digest, char* to);

/// The Error for a failed call on `db`, which may be null when it could not even be opened.
tl::unexpected<Error> fail_sqlite(sqlite3* db, int code, const std::string& path);
/// Stored data that SQLite can read, but that makes no sense.
tl::unexpected<Error> fail_corrupt(const std::string& path, std::string_view what);

/// Values are bound in order, and read in order: `s.integer(1).text("a"); s.step(); s.integer();
/// s.bytes();`. Bound text and blobs are not copied: they must live until the next reset(). A
/// statement that has not been reset (or destroyed) keeps its read transaction open.
class Statement {
 public:
  Statement() = default;
  explicit Statement(sqlite3_stmt* raw) : raw_(raw) {}

  Statement& integer(std::int64_t v);
  Statement& null();
  Statement& blob(std::string_view v);
  /// TEXT; bytes that are not text (invalid UTF-8, NUL) become a BLOB, so that they come back
  /// exactly.
  Statement& text(std::string_view v);
  /// TEXT without the check: for what is known to be valid UTF-8 without NUL.
  Statement& plain_text(std::string_view v);
  Statement& digest(const Digest& v);

  /// True when there is a row to read.
  Result<bool> step();
  /// step() of a statement that yields no rows, then reset().
  Result<> run();
  void reset();

  [[nodiscard]] bool is_null() const;  ///< of the next column
  [[nodiscard]] bool is_blob() const;
  std::int64_t integer();
  /// A non-negative column that fits T; out of range reads as 0.
  template <class T>
  T number() {
    const std::int64_t v = integer();
    return std::in_range<T>(v) ? static_cast<T>(v) : T{};
  }
  std::string_view bytes();  ///< valid until the next step() or reset()
  std::string string() { return std::string(bytes()); }
  Digest digest();
  Statement& skip(int columns = 1);

  /// Leaves the transaction at the end of the scope, also on an error.
  class Scope {
   public:
    explicit Scope(Statement& s) : s_(s) {}
    ~Scope() { s_.reset(); }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Statement& s_;
  };

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* s) const { sqlite3_finalize(s); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> raw_;
  int next_bind_ = 1;
  int next_column_ = 0;
};

class Database {
 public:
  /// `flags` as of sqlite3_open_v2. `immutable`: nobody can write to it (a read-only directory).
  static Result<Database> open(const std::filesystem::path& path, int flags,
                               bool immutable = false);
  static Result<Database> in_memory();

  Result<Statement> prepare(std::string_view sql) const;
  /// For what is asked once a task, or once a file: prepared at the first use of this SQL, and
  /// kept. REQUIRES: the user resets it (Statement::run() or Statement::Scope).
  Result<Statement*> prepare_once(std::string_view sql) const;
  /// Runs statements that yield no rows.
  Result<> execute(const std::string& sql) const;
  /// The first column of the first row, e.g. of a PRAGMA.
  Result<std::int64_t> integer(std::string_view sql) const;
  Result<std::string> string(std::string_view sql) const;

  [[nodiscard]] bool in_transaction() const { return sqlite3_get_autocommit(raw_.get()) == 0; }
  [[nodiscard]] sqlite3* raw() const { return raw_.get(); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  struct Close {
    void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
  };
  Database(sqlite3* raw, std::string path) : raw_(raw), path_(std::move(path)) {}
  [[nodiscard]] Result<Statement> compile(std::string_view sql, unsigned flags) const;

  std::unique_ptr<sqlite3, Close> raw_;
  std::string path_;
  mutable std::map<std::string, Statement, std::less<>> kept_;  ///< by their SQL
};

/// BEGIN IMMEDIATE … COMMIT; rolled back at the end of the scope unless commit() succeeded.
class Transaction {
 public:
  static Result<Transaction> begin(const Database& db);
  Result<> commit();
  Transaction(Transaction&& other) noexcept : db_(std::exchange(other.db_, nullptr)) {}
  Transaction& operator=(Transaction&&) = delete;
  ~Transaction();

 private:
  explicit Transaction(const Database& db) : db_(&db) {}
  const Database* db_;
};

}  // namespace gantry::store
