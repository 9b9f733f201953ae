#pragma once
/// Only one gantry drives the runs of a state directory at a time: an flock on `<directory>/lock`, which the
/// kernel releases however the process ends.

#include <filesystem>
#include <optional>

#include "base/fd.hpp"

namespace gantry::store {

class RunLock {
 public:
  /// Error busy, naming the process that holds it, when somebody else does.
  static Result<RunLock> acquire(const std::filesystem::path& directory);
  /// The pid of the holder, or nothing when the lock is free.
  static std::optional<int> holder(const std::filesystem::path& directory);

 private:
  explicit RunLock(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
};

}  // namespace gantry::store
