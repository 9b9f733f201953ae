#include "cli/terminal/error_report.hpp"

#include "cli/terminal/display_text.hpp"
#include "cli/terminal/terminal.hpp"

namespace gantry::cli {
namespace {

void append_wrapped(std::string& out, std::string_view text, std::size_t columns) {
  // Line breaks of the message's own stay, as some show a line of a file with a mark below it.
  Sanitiser sanitiser;
  std::string safe = sanitiser.feed(text);
  safe += sanitiser.finish();
  for (const auto& line : wrap(safe, columns, 2)) {
    out += line;
    out += '\n';
  }
}

}  // namespace

int exit_code_of(ErrorCode code) {
  return code == ErrorCode::usage ? kExitUsage : kExitInfrastructure;
}

std::string error_text(const Error& error, std::size_t columns, bool color) {
  std::string out;
  append_wrapped(out, "gantry: " + error.message, columns);
  if (color) out.replace(0, 7, paint("gantry:", Color::red, true));
  if (!error.hint.empty()) append_wrapped(out, "  hint: " + error.hint, columns);
  return out;
}

}  // namespace gantry::cli
