#include "cli/terminal/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

namespace gantry::cli {
namespace {

bool is_set(const EnvironmentLookup& environment, const char* name) {
  const char* value = environment(name);
  return value != nullptr && *value != '\0';
}

/// The first of these that is set names the character set, as setlocale() would decide.
bool names_utf8(const EnvironmentLookup& environment) {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (!is_set(environment, name)) continue;
    std::string value = environment(name);
    std::ranges::transform(value, value.begin(),
                           [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

std::string_view code_of(Color color) {
  constexpr std::array<std::string_view, 9> kCodes{"",   "31", "32", "33", "34",
                                                   "35", "36", "2",  "1"};
  return kCodes[static_cast<std::size_t>(color)];
}

}  // namespace

Terminal Terminal::detect(ColorMode mode) {
  return decide(mode, isatty(STDOUT_FILENO) == 1, isatty(STDERR_FILENO) == 1,
                [](const char* name) -> const char* { return std::getenv(name); });
}

Terminal Terminal::decide(ColorMode mode, bool stdout_is_tty, bool stderr_is_tty,
                          const EnvironmentLookup& environment) {
  const char* term = environment("TERM");
  const bool dumb = term != nullptr && std::string_view(term) == "dumb";
  const bool wanted = mode != ColorMode::never &&
                      (mode == ColorMode::always || (!is_set(environment, "NO_COLOR") && !dumb));
  const bool forced = mode == ColorMode::always;
  Terminal terminal;
  terminal.stdout_is_tty = stdout_is_tty;
  terminal.stderr_is_tty = stderr_is_tty;
  terminal.color_stdout = wanted && (forced || stdout_is_tty);
  terminal.color_stderr = wanted && (forced || stderr_is_tty);
  terminal.utf8 = names_utf8(environment);
  return terminal;
}

std::size_t Terminal::columns(int fd) {
  winsize size{};
  if (ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return 80;
}

std::string paint(std::string_view text, Color color, bool on) {
  if (!on || color == Color::none || text.empty()) return std::string(text);
  std::string out = "\x1b[";
  out += code_of(color);
  out += 'm';
  out += text;
  out += "\x1b[0m";
  return out;
}

}  // namespace gantry::cli
