#include "testbed/host_load.hpp"

#include <fmt/format.h>
#include <signal.h>

#include <chrono>
#include <cmath>
#include <thread>

#include "base/fd.hpp"
#include "model/decimal.hpp"

namespace gantry::testbed {

void spin(double part) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::duration<double> kTurn{0.05};
  for (;;) {
    const auto begin = Clock::now();
    const auto busy_until = begin + std::chrono::duration_cast<Clock::duration>(kTurn * part);
    while (Clock::now() < busy_until || part >= 1) {
    }
    std::this_thread::sleep_until(begin + std::chrono::duration_cast<Clock::duration>(kTurn));
  }
}

std::vector<double> parts_of_load(double load) {
  std::vector<double> parts(static_cast<std::size_t>(std::floor(load)), 1.0);
  const double rest = load - std::floor(load);
  if (rest >= 0.01) parts.push_back(rest);
  return parts;
}

HostLoad load_in(const CpuGroup& group) {
  HostLoad found;
  for (const pid_t pid : members_of(group)) {
    const auto line = read_file(fmt::format("/proc/{}/cmdline", pid));
    if (!line) continue;  // ended meanwhile
    const std::string mark = fmt::format("{0}testbed{0}{1}{0}", '\0', kSpinWord);
    const auto place = line->find(mark);
    if (place == std::string::npos) continue;
    std::string part = line->substr(place + mark.size());
    part = part.substr(0, part.find('\0'));
    found.load += parse_number(part).value_or(0);
    found.processes.push_back(pid);
  }
  return found;
}

void end_load(const CpuGroup& group) {
  constexpr int kTries = 1000;
  for (int i = 0; i < kTries; ++i) {
    const HostLoad load = load_in(group);
    if (load.processes.empty()) return;
    for (const pid_t pid : load.processes) ::kill(pid, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

}  // namespace gantry::testbed
