#pragma once
/// Output that was too large for the journal, read back from its pack file.

#include <filesystem>
#include <string>

#include "base/result.hpp"
#include "model/outcome.hpp"

namespace gantry::driver {

/// All of it; of more than `limit` bytes, the last `limit`.
Result<std::string> whole_output(const std::filesystem::path& state_dir,
                                 const CapturedOutput& output, std::size_t limit);

}  // namespace gantry::driver
