#pragma once
/// Only one gantry drives the runs of a state directory at a time: a lock on `<directory>/lock`,
/// which the kernel releases however the process ends. The file holds the owner's pid, for
/// messages.
///
/// It is an open-file-description lock (fcntl F_OFD_SETLK): unlike with flock, one can ask who
/// holds it without taking it for an instant, so that `gantry status` never makes a `gantry run`
/// that starts meanwhile fail.

#include <filesystem>
#include <optional>

#include "base/fd.hpp"

namespace gantry::store {

class RunLock {
 public:
  /// Creates the directory when it is missing. Error busy, naming the process that holds the lock,
  /// when somebody else does.
  static Result<RunLock> acquire(const std::filesystem::path& directory);
  /// The pid of the holder, or nothing when the lock is free. 0 when the holder has not said who it
  /// is yet.
  static std::optional<int> holder(const std::filesystem::path& directory);

 private:
  explicit RunLock(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace gantry::store
