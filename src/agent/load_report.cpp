#include "agent/load_report.hpp"

#include <sys/statvfs.h>
#include <unistd.h>

#include <charconv>
#include <vector>

#include "base/fd.hpp"
#include "base/time.hpp"

namespace gantry::agent {

namespace {

/// The numbers of a line, in order; what is none is passed over.
std::vector<std::uint64_t> numbers_in(std::string_view line) {
  std::vector<std::uint64_t> numbers;
  const char* at = line.data();
  const char* end = at + line.size();
  while (at < end) {
    std::uint64_t value = 0;
    const auto [after, error] = std::from_chars(at, end, value);
    if (error == std::errc{}) numbers.push_back(value);
    at = after > at ? after : at + 1;
  }
  return numbers;
}

std::uint64_t free_bytes(const std::filesystem::path& dir) {
  struct statvfs info {};
  if (::statvfs(dir.c_str(), &info) != 0) return 0;
  return std::uint64_t{info.f_bavail} * info.f_frsize;
}

}  // namespace

CpuTicks parse_cpu_ticks(std::string_view proc_stat) {
  constexpr std::size_t kIdle = 3;     // user, nice, system, idle, iowait ...
  constexpr std::size_t kColumns = 8;  // guests, which follow, are in user and nice already
  const auto columns = numbers_in(proc_stat.substr(0, proc_stat.find('\n')));
  CpuTicks ticks;
  for (std::size_t i = 0; i < columns.size() && i < kColumns; ++i) {
    ticks.all += columns[i];
    if (i == kIdle || i == kIdle + 1) ticks.idle += columns[i];
  }
  return ticks;
}

std::uint64_t parse_available_memory(std::string_view proc_meminfo) {
  constexpr std::string_view kKey = "MemAvailable:";
  const auto at = proc_meminfo.find(kKey);
  if (at == std::string_view::npos) return 0;
  const auto line = proc_meminfo.substr(at, proc_meminfo.find('\n', at) - at);
  const auto numbers = numbers_in(line);
  return numbers.empty() ? 0 : numbers.front() * 1024;
}

Load LoadReporter::look(const std::filesystem::path& dir) {
  Load load;
  if (const auto text = read_file("/proc/stat")) {
    const CpuTicks now = parse_cpu_ticks(*text);
    const auto cores = static_cast<std::uint64_t>(::sysconf(_SC_NPROCESSORS_ONLN));
    if (now.all > last_.all && now.idle >= last_.idle)
      load.free_millicores = static_cast<std::uint32_t>((now.idle - last_.idle) * cores * 1000 /
                                                        (now.all - last_.all));
    last_ = now;
  }
  if (const auto text = read_file("/proc/meminfo"))
    load.free_memory = parse_available_memory(*text);
  load.free_disk = free_bytes(dir);
  load.clock_ns = to_ns(RealClock{}.now());
  return load;
}

}  // namespace gantry::agent
