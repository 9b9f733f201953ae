#pragma once
/// For tests: a disk that refuses. While one lives, every SQLite file opened goes through it; after
/// allow(n) calls of write or sync each further one fails with `code`, until heal().

#include <sqlite3.h>

#include <stdexcept>

namespace gantry::store {

class FaultyDisk {
 public:
  FaultyDisk() : real_(sqlite3_vfs_find(nullptr)), vfs_(*real_) {
    if (active() != nullptr) throw std::logic_error("one faulty disk at a time");
    active() = this;
    vfs_.zName = "faulty";
    vfs_.xOpen = &FaultyDisk::open;
    sqlite3_vfs_register(&vfs_, 1);
  }
  ~FaultyDisk() {
    sqlite3_vfs_unregister(&vfs_);
    sqlite3_vfs_register(real_, 1);
    active() = nullptr;
  }
  FaultyDisk(const FaultyDisk&) = delete;
  FaultyDisk& operator=(const FaultyDisk&) = delete;

  void allow(int calls, int code = SQLITE_FULL) {
    left_ = calls;
    code_ = code;
  }
  void heal() { left_ = -1; }
  [[nodiscard]] int calls() const { return calls_; }  ///< writes and syncs so far

 private:
  static FaultyDisk*& active() {
    static FaultyDisk* disk = nullptr;
    return disk;
  }
  /// Files keep the real methods but for two: the table is copied and patched.
  static int open(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
    FaultyDisk& disk = *active();
    const int code = disk.real_->xOpen(disk.real_, name, file, flags, out_flags);
    if (code != SQLITE_OK || file->pMethods == nullptr) return code;
    // The database and its logs have different methods (the latter are not locked), but these two
    // are the same.
    sqlite3_io_methods& methods = disk.methods_[(flags & SQLITE_OPEN_MAIN_DB) != 0 ? 0 : 1];
    disk.write_ = file->pMethods->xWrite;
    disk.sync_ = file->pMethods->xSync;
    methods = *file->pMethods;
    methods.xWrite = &FaultyDisk::write;
    methods.xSync = &FaultyDisk::sync;
    file->pMethods = &methods;
    return code;
  }
  bool refuse() {
    ++calls_;
    if (left_ < 0) return false;
    if (left_ == 0) return true;
    --left_;
    return false;
  }
  static int write(sqlite3_file* file, const void* data, int size, sqlite3_int64 at) {
    FaultyDisk& disk = *active();
    return disk.refuse() ? disk.code_ : disk.write_(file, data, size, at);
  }
  static int sync(sqlite3_file* file, int flags) {
    FaultyDisk& disk = *active();
    return disk.refuse() ? (disk.code_ == SQLITE_FULL ? SQLITE_IOERR_FSYNC : disk.code_)
                         : disk.sync_(file, flags);
  }

  sqlite3_vfs* real_;
  sqlite3_vfs vfs_;
  sqlite3_io_methods methods_[2]{};
  decltype(sqlite3_io_methods::xWrite) write_ = nullptr;
  decltype(sqlite3_io_methods::xSync) sync_ = nullptr;
  int left_ = -1;
  int code_ = SQLITE_FULL;
  int calls_ = 0;
};

}  // namespace gantry::store
