#include "simulate/trace_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "base/scratch_dir.hpp"

namespace gantry::simulate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string problem(const auto& result) {
  return result ? std::string("accepted") : result.error().message;
}

TEST(TraceFile, ReadsTimeAndValue) {
  const auto trace = parse_trace_csv(
      "\xEF\xBB\xBF# made by hand\r\ntime,value\r\n0,1\r\n\r\n 2.5 , 0.25 \r\n1e2,0", "t.csv");
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_THAT(trace->steps(),
              ElementsAre(TraceStep{0, 1}, TraceStep{2.5, 0.25}, TraceStep{100, 0}));
  EXPECT_EQ(trace->period(), std::nullopt);
}

TEST(TraceFile, SaysWhereItIsWrong) {
  const auto csv = [](std::string_view text) { return problem(parse_trace_csv(text, "t.csv")); };
  EXPECT_EQ(csv(""), "t.csv: there is no line with a time and a value");
  EXPECT_EQ(csv("time,value\n\n# nothing\n"), "t.csv: there is no line with a time and a value");
  EXPECT_EQ(csv("0,1\n1,nan\n"), "t.csv:2:3: \"nan\" is not a number");
  EXPECT_EQ(csv("0,1\n1,inf\n"), "t.csv:2:3: \"inf\" is not a number");
  EXPECT_EQ(csv("0,1\n1e999,1\n"), "t.csv:2:1: \"1e999\" is not a number");
  EXPECT_EQ(csv("0,1\n\n1,-0.5\n"), "t.csv:3:1: the value -0.5 is negative");
  EXPECT_EQ(csv("0,1\n7,1\n  6,1\n"), "t.csv:3:3: the time 6 does not come after 7");
  EXPECT_EQ(csv("0,1\n0,2\n"), "t.csv:2:1: the time 0 does not come after 0");
  EXPECT_EQ(csv("0,1\n1,1e308\n"), "t.csv:2:3: the value 1e+308 is more than 1000000000000");
  EXPECT_EQ(csv("0, 1e-308\n"), "t.csv:1:4: the value 1e-308 is neither 0 nor at least 1e-09");
  EXPECT_EQ(csv("0,1\n1e300,1\n"), "t.csv:2:1: the time 1e+300 is more than 1000000000000 seconds");
  EXPECT_EQ(csv("0\n"), "t.csv:1:1: a time and a value are wanted, not 1 number");
  EXPECT_EQ(csv("0,1,2\n"), "t.csv:1:1: a time and a value are wanted, not 3 numbers");
  EXPECT_EQ(csv("0,\n"), "t.csv:1:3: \"\" is not a number");
  EXPECT_EQ(csv("seconds,load\n"), "t.csv:1:1: \"seconds\" is not a number");
  EXPECT_EQ(csv("0," + std::string(100, 'x')),
            "t.csv:1:3: \"" + std::string(40, 'x') + "…\" is not a number");
}

TEST(TraceFile, PlanetLabLoadsBecomeAvailability) {
  const auto hosts = parse_planetlab("a.example_x,0,25,100\nb c_y,10\n", "load.csv");
  ASSERT_TRUE(hosts) << hosts.error().message;
  ASSERT_EQ(hosts->size(), 2U);
  EXPECT_EQ((*hosts)[0].host, "a.example_x");
  EXPECT_THAT((*hosts)[0].availability.steps(),
              ElementsAre(TraceStep{0, 1}, TraceStep{300, 0.75}, TraceStep{600, 0}));
  EXPECT_EQ((*hosts)[0].availability.period(), 900);
  EXPECT_EQ((*hosts)[1].host, "b c_y");
  EXPECT_EQ((*hosts)[1].availability.value(1e6), 0.9);
}

TEST(TraceFile, PlanetLabComplaints) {
  const auto read = [](std::string_view text) { return problem(parse_planetlab(text, "l.csv")); };
  EXPECT_EQ(read("\n"), "l.csv: there is no host");
  EXPECT_EQ(read("a\n"), "l.csv:1:1: a host's name and its load in percent are wanted");
  EXPECT_EQ(read(",5\n"), "l.csv:1:1: a host's name and its load in percent are wanted");
  EXPECT_EQ(read("a,5\nb,5,101\n"), "l.csv:2:5: a load of 101% cannot be");
  EXPECT_EQ(read("a,5\nb,-1\n"), "l.csv:2:3: a load of -1% cannot be");
  EXPECT_EQ(read("a,5\nb,nan\n"), "l.csv:2:3: \"nan\" is not a number");
}

TEST(TraceFile, BandwidthLogsBecomeBytesASecond) {
  const auto trace = parse_bandwidth("0.0\t8\n0.5\t16\n1.5  0\n", "bus");
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_THAT(trace->steps(),
              ElementsAre(TraceStep{0, 1e6}, TraceStep{0.5, 2e6}, TraceStep{1.5, 0}));
  EXPECT_EQ(trace->period(), 1.5 + 0.75);  // mean step: 1.5 s / 2

  EXPECT_EQ(problem(parse_bandwidth("0 1\n2 1\n1 1\n", "bus")),
            "bus:3:1: the time 1 does not come after 2");
  EXPECT_EQ(problem(parse_bandwidth("0 1 2\n", "bus")),
            "bus:1:1: a time and a value are wanted, not 3 numbers");
  EXPECT_EQ(problem(parse_bandwidth("0 1\n1 1e308\n", "bus")),
            "bus:2:3: the value 1e+308 is more than 1000000000000");
  EXPECT_EQ(problem(parse_bandwidth("", "bus")), "bus: there is no line with a time and a value");
}

TEST(TraceFile, ReadsFiles) {
  const ScratchDir dir;
  std::ofstream(dir / "t.csv") << "time,value\n0,1\n10,2\n";
  const auto trace = load_trace_csv(dir / "t.csv");
  ASSERT_TRUE(trace) << trace.error().message;
  EXPECT_EQ(trace->integral(0, 20), 30);
  EXPECT_THAT(problem(load_trace_csv(dir / "missing")), HasSubstr("missing"));
}

}  // namespace
}  // namespace gantry::simulate
