#include "cli/error_report.hpp"

#include "cli/display_text.hpp"
#include "cli/terminal.hpp"

namespace gantry::cli {
namespace {

/// Lines of the text that are the message's own stay, as some show a line of the file with a mark
/// below it.
void append_wrapped(std::string& out, std::string_view first, std::string_view text,
                    std::size_t columns) {
  Sanitiser sanitiser;
  std::string safe = sanitiser.feed(text);
  safe += sanitiser.finish();
  const std::size_t indent = 2;
  bool is_first = true;
  for (const auto& line : wrap(safe, columns - display_width(first))) {
    out += is_first ? first : std::string(indent, ' ');
    out += line;
    out += '\n';
    is_first = false;
  }
}

}  // namespace

int exit_code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::usage:
      return kExitUsage;
    case ErrorCode::io:
    case ErrorCode::busy:
    case ErrorCode::corrupt:
    case ErrorCode::version:
    case ErrorCode::peer:
      return kExitInfrastructure;
  }
  return kExitInfrastructure;
}

std::string error_text(const Error& error, std::size_t columns, bool color) {
  std::string out;
  append_wrapped(out, "gantry: ", error.message, columns);
  if (color) out.replace(0, 7, paint("gantry:", Color::red, true));
  if (!error.hint.empty()) append_wrapped(out, "  hint: ", error.hint, columns);
  return out;
}

}  // namespace gantry::cli
