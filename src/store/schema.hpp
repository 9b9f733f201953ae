#pragma once
/// The tables and views of gantry.db (docs/formats/journal.md describes them for people), their
/// version, and the way from one version to the next.
///
/// To change the schema: bump kSchemaVersion, change schema.cpp's SQL, and append the step from the
/// version before to migrations(). A step is never changed after a release.

#include <cstdint>
#include <span>
#include <string>

#include "store/database.hpp"

namespace gantry::store {

inline constexpr std::int64_t kSchemaVersion = 7;
/// "Gtry": tells gantry's databases from other people's.
inline constexpr std::int64_t kApplicationId = 0x47747279;

/// One step: the SQL that takes version i + 1 to i + 2, i being its place in the list.
using Migration = std::string;
std::span<const Migration> migrations();

/// A whole new, empty database file.
Result<std::string> new_database_image();

/// Fails unless this is gantry's database in a version that is known; `version` is what it has.
Result<std::int64_t> check_version(const Database& db, std::int64_t newest = kSchemaVersion);
/// Takes the database from `version` to the newest in one transaction; does nothing when it is
/// there already.
Result<> migrate(const Database& db, std::int64_t version, std::span<const Migration> steps);

}  // namespace gantry::store
