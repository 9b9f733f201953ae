#include "cli/context.hpp"

#include "cli/display_text.hpp"
#include "cli/error_report.hpp"

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
  constexpr std::size_t kElsewhere = 1000;
  const std::size_t columns = terminal.stderr_is_tty ? 2 * Terminal::columns(err.fd()) : kElsewhere;
  out.flush();
  err.line(paint(fit(text, columns, terminal.utf8), Color::red, terminal.color_stderr));
  err.flush();
}

}  // namespace gantry::cli
