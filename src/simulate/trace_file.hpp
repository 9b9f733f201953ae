#pragma once
/// Traces from files. Every complaint says file:line:column. The parse_ functions take the text and
/// the name that complaints give it; the load_ functions read the file.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "simulate/trace.hpp"

namespace gantry::simulate {

/// Lines `time,value`, in seconds; an optional first line of exactly these words; blank lines and
/// lines that begin with # are left out.
Result<Trace> parse_trace_csv(std::string_view text, std::string_view name,
                              std::optional<double> period = {});
Result<Trace> load_trace_csv(const std::filesystem::path& path, std::optional<double> period = {});

/// PlanetLab's CPU load (CoMon): a line for each host, its name and then its load in percent, one
/// sample every five minutes. The trace is what is left of the CPU; it starts again at its end.
struct PlanetLabOptions {
  double step = 300;      ///< seconds between two samples
  double load_scale = 1;  ///< loads are multiplied by this, up to 100%: the hosts were mostly idle
};
struct HostTrace {
  std::string host;
  Trace availability;
};
Result<std::vector<HostTrace>> parse_planetlab(std::string_view text, std::string_view name,
                                               const PlanetLabOptions& options = {});
Result<std::vector<HostTrace>> load_planetlab(const std::filesystem::path& path,
                                              const PlanetLabOptions& options = {});

/// Bandwidth logs: lines `seconds Mbit/s` between blanks. The trace is in bytes a second; it starts
/// again one mean step after its last sample, as the logs are minutes long.
struct BandwidthOptions {
  double time_scale = 1;   ///< stretches the log
  double value_scale = 1;  ///< the logs are of telephones: a link between sites carries more
};
Result<Trace> parse_bandwidth(std::string_view text, std::string_view name,
                              const BandwidthOptions& options = {});
Result<Trace> load_bandwidth(const std::filesystem::path& path,
                             const BandwidthOptions& options = {});

}  // namespace gantry::simulate
