#pragma once
/// Traces from files. Every complaint says file:line:column. The parse_ functions take the text and
/// the name that complaints give it.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "simulate/trace.hpp"

namespace gantry::simulate {

/// Lines `time,value`, in seconds; an optional first line of exactly these words; blank lines and
/// lines that begin with # are left out.
Result<Trace> parse_trace_csv(std::string_view text, std::string_view name);
Result<Trace> load_trace_csv(const std::filesystem::path& path);

/// PlanetLab's CPU load (CoMon): a line for each host, its name and then its load in percent, one
/// sample every five minutes. The trace is what is left of the CPU; it starts again at its end.
struct HostTrace {
  std::string host;
  Trace availability;
};
Result<std::vector<HostTrace>> parse_planetlab(std::string_view text, std::string_view name);

/// Bandwidth logs: lines `seconds Mbit/s` between blanks. The trace is in bytes a second; it starts
/// again one mean step after its last sample, as the logs are minutes long.
Result<Trace> parse_bandwidth(std::string_view text, std::string_view name);

}  // namespace gantry::simulate
