#pragma once
/// Printing what a task printed: from the store when it was small, from a pack file when it was
/// large.

#include <filesystem>
#include <string>
#include <vector>

#include "cli/terminal/output.hpp"
#include "model/outcome.hpp"
#include "store/store.hpp"

namespace gantry::cli {

/// `output_dir` is the state directory's folder of pack files. With `sanitise` (a terminal) control
/// characters become visible; otherwise bytes pass through. With a `tag` every line begins with it
/// and the last one is ended. On an error what the store holds is printed nevertheless.
Result<> print_captured(Output& to, bool sanitise, const CapturedOutput& captured,
                        const std::filesystem::path& output_dir, const std::string& tag = {});

}  // namespace gantry::cli
