#pragma once
/// How errors reach a person and the shell: `gantry: message`, `  hint: …`, and the exit code.

#include <string>

#include "base/result.hpp"

namespace gantry::cli {

enum ExitCode : int { kExitOk = 0, kExitTasksFailed = 1, kExitUsage = 2, kExitInfrastructure = 3 };

int exit_code_of(ErrorCode code);

/// Ready to print, wrapped to `columns`, control characters made visible (an error may quote
/// anything).
std::string error_text(const Error& error, std::size_t columns, bool color);

}  // namespace gantry::cli
