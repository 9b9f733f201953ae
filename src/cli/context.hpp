#pragma once
/// What every command is given: where to print, what the terminal can do, where the state is. Made
/// once by run_cli(), which owns it; one thread.

#include <filesystem>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "base/time.hpp"
#include "cli/terminal/output.hpp"
#include "cli/terminal/table.hpp"
#include "cli/terminal/terminal.hpp"

namespace gantry::cli {

struct Context {
  Output& out;
  Output& err;
  Terminal terminal;
  std::filesystem::path state_dir;
  const Clock& clock;

  /// `wide` is what a command with --wide was asked for.
  [[nodiscard]] TableStyle table_style(std::optional<bool> wide = std::nullopt) const {
    return {wide.value_or(false) ? 0 : Terminal::columns(out.fd()), terminal.utf8,
            terminal.color_stdout, wide.has_value()};
  }
  /// A table on standard output.
  [[nodiscard]] Table table(std::vector<Column> columns,
                            std::optional<bool> wide = std::nullopt) const {
    return {std::move(columns), table_style(wide),
            [this](std::string_view line) { out.line(line); }};
  }
  /// Shows an error and goes on.
  void report(const Error& error);
  /// A line for the person on standard error, wrapped.
  void note(std::string_view text);
  /// A line about a task that failed, on standard error, wrapped: cut to two of a terminal's lines,
  /// elsewhere to about four with both ends, as the reason may stand at either. `gantry log` has
  /// all.
  void complain(std::string_view text);
};

/// A command's work, chosen while the command line was parsed; the value is the exit code.
using Action = std::function<Result<int>(Context&)>;

}  // namespace gantry::cli
