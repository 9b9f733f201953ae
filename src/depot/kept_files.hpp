#pragma once
/// Outputs that stay at the site: moved out of a task's sandbox into a folder of the attempt's own,
/// which no quota touches. Used by the slot that ran the task.

#include <filesystem>
#include <string>
#include <vector>

#include "depot/depot.hpp"

namespace gantry::depot {

/// Moves the files `names` (relative to `sandbox`) into the new folder `folder`, at the same places
/// below it: all of them, or none. Their contents, in the order of the names. What `folder` held
/// before is removed. REQUIRES: nobody writes to the sandbox any more.
Result<std::vector<StoredFile>> keep_files(const std::filesystem::path& sandbox,
                                           const std::vector<std::string>& names,
                                           const std::filesystem::path& folder);

}  // namespace gantry::depot
