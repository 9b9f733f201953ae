#include "agent/load_report.hpp"

#include <gtest/gtest.h>

namespace gantry::agent {
namespace {

TEST(LoadReport, CountsIdleAndWaitingTicksAsFree) {
  const CpuTicks ticks = parse_cpu_ticks("cpu  10 1 5 80 4 0 0 0 7 0\ncpu0 1 1 1 1 1 0 0 0 0 0\n");
  EXPECT_EQ(ticks.idle, 84U);
  EXPECT_EQ(ticks.all, 100U);
}

TEST(LoadReport, ReadsAvailableMemory) {
  EXPECT_EQ(parse_available_memory("MemTotal: 99 kB\nMemAvailable:   12 kB\nBuffers: 1 kB\n"),
            12U * 1024);
  EXPECT_EQ(parse_available_memory("MemTotal: 99 kB\n"), 0U);
  EXPECT_EQ(parse_available_memory("MemAvailable:"), 0U);
}

TEST(LoadReport, SaysWhatThisMachineHas) {
  LoadReporter load;
  const Load now = load.look("/tmp");
  EXPECT_GT(now.free_memory, 0U);
  EXPECT_GT(now.free_disk, 0U);
  EXPECT_GT(now.clock_ns, 0);
}

}  // namespace
}  // namespace gantry::agent
