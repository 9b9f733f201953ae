#pragma once
/// Text and numbers as they may stand in SVG and HTML. Pure functions.

#include <cstdint>
#include <string>
#include <string_view>

namespace gantry::simulate {

/// What every picture is written in.
inline constexpr std::string_view kSvgFonts =
    "system-ui,-apple-system,Segoe UI,Roboto,Helvetica,Arial,sans-serif";

/// As the text or the attribute of an element: escaped, control characters as spaces, and what is
/// not UTF-8 as question marks (a parser would refuse the whole file).
[[nodiscard]] std::string svg_text(std::string_view text);

/// At most one decimal.
[[nodiscard]] std::string svg_number(double value);

/// "1,200"
[[nodiscard]] std::string count_text(std::uint64_t count);
/// "1 host", "1,200 hosts"
[[nodiscard]] std::string count_text(std::uint64_t count, std::string_view what);

/// "340 s", "12 min 5 s", "2 h 40 min", "3 d 4 h"
[[nodiscard]] std::string duration_text(double seconds);

/// "512 B", "40 MB"
[[nodiscard]] std::string bytes_text(double bytes);

/// Where the marks of a time axis go: multiples of a step that reads well.
struct TimeAxis {
  double step = 1;
  double unit = 1;  ///< seconds in what the marks count
  const char* name = "s";
};
[[nodiscard]] TimeAxis time_axis(double until, int marks);

}  // namespace gantry::simulate
