#pragma once
/// Opening gantry.db safely: made in one step, refused when it is newer, foreign or damaged.
///
/// What is checked, and why not more. A new file appears complete (written beside, synced,
/// renamed), so that an empty or headless one is always damage. SQLite itself refuses a bad header
/// and a file shorter than its header says. `PRAGMA integrity_check` reads everything: it is run
/// when the cost does not show (2 MB), and after an unclean end (a write-ahead log was left behind)
/// up to 64 MB. Beyond that a million-task study would wait for seconds at each start; damage is
/// then reported when it is met, as ErrorCode::corrupt like here.

#include <filesystem>

#include "store/database.hpp"

namespace gantry::store {

/// Creates the directory and the database when they are missing, and brings an older schema up to
/// date.
Result<Database> open_to_write(const std::filesystem::path& directory);
/// Never changes or creates anything but SQLite's own -wal and -shm, except that an older schema is
/// brought up to date. Also opens what lies on read-only media.
Result<Database> open_to_read(const std::filesystem::path& directory);

}  // namespace gantry::store
