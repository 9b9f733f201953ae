#pragma once
/// What this host has left for tasks: processor time that nobody used since the last look, memory,
/// and room where the agent lives. A value.

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "agent/protocol.hpp"

namespace gantry::agent {

/// Ticks of all processors, as the first line of /proc/stat has them.
struct CpuTicks {
  std::uint64_t idle = 0;
  std::uint64_t all = 0;
};
[[nodiscard]] CpuTicks parse_cpu_ticks(std::string_view proc_stat);
/// Bytes; 0 when the text does not say.
[[nodiscard]] std::uint64_t parse_available_memory(std::string_view proc_meminfo);

class LoadReporter {
 public:
  [[nodiscard]] Load look(const std::filesystem::path& dir);

 private:
  CpuTicks last_;
};

}  // namespace gantry::agent
