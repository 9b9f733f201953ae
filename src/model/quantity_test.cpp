#include "model/quantity.hpp"

#include <gtest/gtest.h>

namespace gantry {
namespace {

TEST(Quantity, Memory) {
  EXPECT_EQ(parse_memory("4096"), 4096U);
  EXPECT_EQ(parse_memory("500MB"), 500'000'000U);
  EXPECT_EQ(parse_memory("2 GiB"), std::uint64_t{2} << 30U);
  EXPECT_EQ(parse_memory("1.5G"), std::uint64_t{3} << 29U);
  EXPECT_EQ(parse_memory("64k"), 65536U);
  EXPECT_EQ(parse_memory("1 TB"), 1'000'000'000'000U);
  EXPECT_EQ(parse_memory("12 B"), 12U);
  EXPECT_EQ(parse_memory("0"), 0U);
  for (const auto* text :
       {"", "GiB", "-1", "1 XB", "1 GiBs", "1 2", "nan", "99999999999 TiB", "1..2 GB", "1e3"}) {
    EXPECT_EQ(parse_memory(text), std::nullopt) << text;
  }
}

TEST(Quantity, BytesInBinaryUnits) {
  EXPECT_EQ(format_bytes(0), "0 B");
  EXPECT_EQ(format_bytes(1023), "1023 B");
  EXPECT_EQ(format_bytes(1536), "1.5 KiB");
  EXPECT_EQ(format_bytes(1024 * 1024 - 1), "1 MiB");
  EXPECT_EQ(format_bytes(std::uint64_t{1023} << 20U), "1023 MiB");
  EXPECT_EQ(format_bytes(UINT64_MAX), "16 EiB");
}

TEST(Quantity, Durations) {
  using namespace std::chrono_literals;
  EXPECT_EQ(parse_duration("90"), 90s);
  EXPECT_EQ(parse_duration("90s"), 90s);
  EXPECT_EQ(parse_duration("1h30m"), 90min);
  EXPECT_EQ(parse_duration("1h 30m"), 90min);
  EXPECT_EQ(parse_duration("1.5h"), 90min);
  EXPECT_EQ(parse_duration("500ms"), 500ms);
  EXPECT_EQ(parse_duration("2d"), 48h);
  EXPECT_EQ(parse_duration("10 min"), 10min);
  EXPECT_EQ(parse_duration("00:10:00"), 10min);
  EXPECT_EQ(parse_duration("02:30"), 150s);
  EXPECT_EQ(parse_duration("1-02:00:00"), 26h);
  EXPECT_EQ(parse_duration("0"), 0s);
  for (const auto* text : {"", "h", "-1", "1h30", "1 fortnight", "1:2:3:4", ":", "1:", "a:b",
                           "-1:00", "1000000d", "1e9"}) {
    EXPECT_EQ(parse_duration(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace gantry
