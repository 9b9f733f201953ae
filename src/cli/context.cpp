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

}  // namespace gantry::cli
