#include "cli/context.hpp"

#include <algorithm>

#include "cli/terminal/display_text.hpp"
#include "cli/terminal/error_report.hpp"

namespace gantry::cli {

void Context::report(const Error& error) {
  out.flush();
  err.write(error_text(error, Terminal::columns(err.fd()), terminal.color_stderr));
  err.flush();
}

void Context::note(std::string_view text) {
  out.flush();
  for (const auto& line : wrap(text, Terminal::columns(err.fd()))) err.line(line);
  err.flush();
}

void Context::complain(std::string_view text) {
  constexpr std::size_t kElsewhere = 300;
  constexpr std::size_t kIndent = 4;
  const std::size_t columns = Terminal::columns(err.fd());
  out.flush();
  const auto lines = terminal.stderr_is_tty
                         ? wrap(fit(text, 2 * columns - std::min(columns, kIndent), terminal.utf8),
                                columns, kIndent)
                         : wrap_words(fit_ends(text, kElsewhere, terminal.utf8), columns, kIndent);
  for (const auto& line : lines) err.line(paint(line, Color::red, terminal.color_stderr));
  err.flush();
}

}  // namespace gantry::cli
