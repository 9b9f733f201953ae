#pragma once
/// What is known of the terminal that we talk to, and colours. Looked at once per command; only the
/// width is asked for again, as windows change.

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace gantry::cli {

enum class ColorMode { automatic, always, never };
/// In the order of their codes in terminal.cpp.
enum class Color { none, red, green, yellow, blue, magenta, cyan, dim, bold };

/// Reads one variable of the environment; nullptr when it is not set.
using EnvironmentLookup = std::function<const char*(const char*)>;

struct Terminal {
  bool stdout_is_tty = false;
  bool stderr_is_tty = false;
  bool color_stdout = false;
  bool color_stderr = false;
  bool utf8 = false;

  static Terminal detect(ColorMode mode);
  /// The decision alone, for given facts.
  static Terminal decide(ColorMode mode, bool stdout_is_tty, bool stderr_is_tty,
                         const EnvironmentLookup& environment);

  /// Of the terminal behind `fd`, now; 80 when it is none.
  static std::size_t columns(int fd);
};

/// `text` in `color` when `on`, else as it is.
std::string paint(std::string_view text, Color color, bool on);

}  // namespace gantry::cli
