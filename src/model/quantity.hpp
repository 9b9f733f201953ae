#pragma once
/// Amounts with units, as people write them: "2 GiB", "1h30m", "00:10:00".

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/time.hpp"

namespace gantry {

/// Bytes: "500MB" (10^6), "2 GiB" (2^30), "1.5G" (as GiB), "4096". Nothing when it is no amount, or
/// none that fits.
std::optional<std::uint64_t> parse_memory(std::string_view text);

/// "10 MB/s", "1 GiB/s", "100 Mbit/s": bytes per second, more than 0.
std::optional<double> parse_bandwidth(std::string_view text);

/// "8 GiB", "7.96 MiB": four digits at most.
std::string format_bytes(std::uint64_t bytes);

/// "1 task", "3 tasks".
std::string count_of(std::uint64_t count, std::string_view what);

/// "90" and "90s" are seconds; "1h30m", "2d", "500ms", "1.5h"; "MM:SS", "HH:MM:SS", "D-HH:MM:SS" as
/// Slurm writes it.
std::optional<Duration> parse_duration(std::string_view text);

}  // namespace gantry
