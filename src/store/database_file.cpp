#include "store/database_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/fd.hpp"
#include "store/run_lock.hpp"
#include "store/schema.hpp"

namespace gantry::store {

namespace fs = std::filesystem;

namespace {

constexpr std::uintmax_t kAlwaysChecked = std::uintmax_t{2} << 20;
constexpr std::uintmax_t kCheckedAfterCrash = std::uintmax_t{64} << 20;

std::uintmax_t size_or_zero(const fs::path& path) {
  std::error_code error;
  const auto size = fs::file_size(path, error);
  return error ? 0 : size;
}

fs::path log_of(fs::path database) {
  return database += "-wal";
}

/// Unlike write_file_atomic() this never replaces a file: of two processes that create at once, one
/// wins and both go on with the winner's.
Result<> create_database(const fs::path& path) {
  TRY_ASSIGN(const std::string image, new_database_image());
  fs::path temporary = path;
  temporary += ".tmp" + std::to_string(::getpid());
  const auto write = [&]() -> Result<> {
    TRY_ASSIGN(const UniqueFd fd, open_file(temporary, O_WRONLY | O_CREAT | O_TRUNC));
    TRY(write_all(fd.get(), image));
    if (::fsync(fd.get()) != 0) return fail_errno(temporary.string());
    int renamed =
        ::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, path.c_str(), RENAME_NOREPLACE);
    if (renamed != 0 && errno == EEXIST) return {};
    // A file system without RENAME_NOREPLACE: a hard link does not replace either.
    if (renamed != 0 && errno == EINVAL) renamed = ::link(temporary.c_str(), path.c_str());
    if (renamed != 0 && errno != EEXIST) return fail_errno(path.string());
    TRY_ASSIGN(const UniqueFd directory, open_file(path.parent_path(), O_RDONLY | O_DIRECTORY));
    if (::fsync(directory.get()) != 0) return fail_errno(path.parent_path().string());
    return {};
  };
  auto result = write();
  ::unlink(temporary.c_str());
  if (!result && result.error().hint.empty()) result.error().hint = kOtherPlace;
  return result;
}

/// SQLite takes a file without a whole header for a new, empty database.
Result<> check_not_empty(const fs::path& path) {
  constexpr std::uintmax_t kHeader = 100;
  const auto size = size_or_zero(path);
  if (size == 0) return fail_corrupt(path.string(), "the file is empty");
  if (size < kHeader) return fail_corrupt(path.string(), "the file is cut off");
  return {};
}

Result<> check_integrity(const Database& db) {
  TRY_ASSIGN(const std::string verdict, db.string("PRAGMA integrity_check(1)"));
  if (verdict != "ok") return fail_corrupt(db.path(), verdict);
  return {};
}

/// REQUIRES: asked before the database is opened, which makes a log of its own.
bool wants_check(const fs::path& directory, const fs::path& path) {
  // While another process drives a run here, the log is its, and not left behind.
  const auto holder = RunLock::holder(directory);
  if (holder && *holder != ::getpid()) return false;
  const std::uintmax_t log = size_or_zero(log_of(path));
  return size_or_zero(path) + log <= (log > 0 ? kCheckedAfterCrash : kAlwaysChecked);
}

/// Opens, and reads for the first time: most of what can be wrong with a file shows here.
Result<Database> open_known(const fs::path& path, int flags, bool immutable,
                            std::int64_t& version) {
  TRY_ASSIGN(Database db, Database::open(path, flags, immutable));
  TRY_ASSIGN(version, check_version(db));
  return db;
}

}  // namespace

Result<Database> open_to_write(const fs::path& directory) {
  std::error_code error;
  fs::create_directories(directory, error);
  if (error) {
    return fail(ErrorCode::io, fmt::format("{}: {}", directory.string(), error.message()),
                kOtherPlace);
  }
  const fs::path path = directory / "gantry.db";
  if (!fs::exists(path, error)) TRY(create_database(path));
  TRY(check_not_empty(path));
  const bool check = wants_check(directory, path);
  std::int64_t version = 0;
  TRY_ASSIGN(Database db, open_known(path, SQLITE_OPEN_READWRITE, false, version));
  if (sqlite3_db_readonly(db.raw(), "main") != 0) {
    return fail(ErrorCode::io, fmt::format("{}: is read-only", path.string()), kOtherPlace);
  }
  if (check) TRY(check_integrity(db));
  // FULL: each commit reaches the disk before it returns. The size limit returns the space of a log
  // that grew large while a reader kept it from being checkpointed.
  TRY(db.string("PRAGMA journal_mode = WAL"));
  TRY(
      db.execute("PRAGMA synchronous = FULL; PRAGMA journal_size_limit = 67108864; PRAGMA "
                 "temp_store = MEMORY"));
  TRY(migrate(db, version, migrations()));
  return db;
}

Result<Database> open_to_read(const fs::path& directory) {
  const fs::path path = directory / "gantry.db";
  std::error_code error;
  if (!fs::exists(path, error)) {
    if (error && error != std::errc::no_such_file_or_directory &&
        error != std::errc::not_a_directory) {
      return fail(ErrorCode::io, fmt::format("{}: {}", path.string(), error.message()));
    }
    return fail(ErrorCode::usage,
                fmt::format("no runs here yet ({} does not exist)", path.string()),
                "start one with `gantry run`, or name the place of the runs with --state DIR or "
                "$GANTRY_STATE");
  }
  TRY(check_not_empty(path));
  std::int64_t version = 0;
  auto db = open_known(path, SQLITE_OPEN_READONLY, false, version);
  // SQLite wants to create its -shm beside the database. In a directory where it cannot, and that
  // holds no log, nobody can be writing either: the file as it lies is all there is.
  if (!db && db.error().code == ErrorCode::io && size_or_zero(log_of(path)) == 0) {
    if (auto fixed = open_known(path, SQLITE_OPEN_READONLY, true, version)) db = std::move(fixed);
  }
  if (!db) return db;
  // Only an older gantry that drives a run right now could mind.
  if (version < kSchemaVersion && !RunLock::holder(directory) && open_to_write(directory))
    return open_known(path, SQLITE_OPEN_READONLY, false, version);
  if (version < kSchemaVersion) {
    return fail(ErrorCode::version,
                fmt::format("{}: was written by an older gantry (schema {}, now {})", path.string(),
                            version, kSchemaVersion),
                "the next `gantry run` in this place brings it up to date");
  }
  return db;
}

}  // namespace gantry::store
