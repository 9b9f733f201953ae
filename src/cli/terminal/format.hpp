#pragma once
/// Numbers, times and sizes as people read them. Pure functions, any thread.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"
#include "model/eta.hpp"

namespace gantry::cli {

/// "12 ms", "3.24 s", "5m03s", "2h04m", "3d04h"; "-" for a negative one.
std::string format_duration(Duration duration);
/// A forecast, which is not good to the millisecond: "21 s", "5m03s (4m40s to 7m10s)" where the
/// interval is worth telling. REQUIRES: it is known.
std::string format_eta(const Eta& eta);
/// "0.25 tasks/s", "812 tasks/s".
std::string format_rate(double per_second);
/// "98.3 MB/s".
std::string format_bandwidth(double bytes_per_second);
/// Local time, "2026-03-01 14:03:59"; "-" when unknown.
std::string format_time(TimePoint time);
/// Local time in a table: "Mar 01 14:03", or "2025-03-01" of another year.
std::string format_time_short(TimePoint time, TimePoint now);
/// UTC, "2026-03-01T13:03:59.123Z"; empty when unknown.
std::string format_time_iso(TimePoint time);

/// The whole text as a finite or infinite number, if it is one.
std::optional<double> parse_number(std::string_view text);

/// A number with many digits, rounded for reading: six significant ones, or all before the point
/// and one after it. Whole numbers, short ones and other text stay as they are.
std::string round_number(std::string_view text);
/// A number rounded so far that it is at most `width` wide: magnitude and exponent stay right.
/// Nothing when it is none, or when one digit is still too wide.
std::optional<std::string> fit_number(std::string_view text, std::size_t width);

}  // namespace gantry::cli
