#pragma once
/// What a task needs for itself while it runs. Tasks with a claim in common must not run at once:
/// the same command in the same folder would be twins, whatever else differs, and who writes the
/// same file spoils it. One thread.

#include <string>
#include <string_view>
#include <vector>

#include "base/hash.hpp"
#include "driver/real_folders.hpp"
#include "model/task.hpp"

namespace gantry::driver {

struct Claim {
  Digest digest{};
  const std::string* file = nullptr;  ///< that the task writes; null: its command in its folder
};

class Claims {
 public:
  /// Valid until the next call, and as long as the task.
  const std::vector<Claim>& of(const Task& task);

 private:
  void add_file(const std::string& path);

  RealFolders folders_;
  Hasher hasher_;
  std::vector<Claim> claims_;
};

}  // namespace gantry::driver
