#pragma once
/// Runs one of the system's programs to its end, without a shell.

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace gantry::testbed {

/// The program's path: from PATH, or from Debian's folders for root. The error names the package
/// that has it.
Result<std::string> find_tool(const std::string& name);

/// What it printed. The error says which command failed, how, and what it printed. It dies with its
/// caller. `environment`: "NAME=value", added to ours. `enter` is called in the new process before
/// the program is: what could not be done, or nothing.
Result<std::string> run_tool(const std::vector<std::string>& argv,
                             const std::vector<std::string>& environment = {},
                             const std::function<const char*()>& enter = {});

/// For execve(): ours with these in place of, or after, those of the same name. Ends with nullptr;
/// points into `environment` and into ours.
std::vector<char*> environment_with(const std::vector<std::string>& environment);
std::vector<char*> pointers_to(const std::vector<std::string>& argv);

}  // namespace gantry::testbed
