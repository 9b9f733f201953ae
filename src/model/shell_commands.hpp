#pragma once
/// The simple commands of a text that a POSIX shell reads, found without running or expanding
/// anything. Meant for guesses that do no harm when they are wrong. Free functions; any thread.

#include <string>
#include <string_view>
#include <vector>

namespace gantry {

struct ShellCommand {
  std::vector<std::string> words;    ///< without keywords and assignments before them, unquoted
  std::vector<std::string> targets;  ///< of its redirections
};

/// Also those inside (…), $(…), `…` and <(…). What is expanded stays as it is written: `$x`, `*`.
/// Nothing after a here-document.
std::vector<ShellCommand> shell_commands(std::string_view text);

}  // namespace gantry
