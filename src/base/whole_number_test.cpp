#include "base/whole_number.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace gantry {
namespace {

TEST(WholeNumber, IsANumberOfItsTypeAndNothingElse) {
  EXPECT_EQ(parse_whole<std::uint32_t>("17"), 17U);
  EXPECT_EQ(parse_whole<std::uint16_t>("65535"), 65535);
  for (const char* text : {"", " 17", "17 ", "+17", "-17", "0x10", "N/A", "5-9:1", "4294967296"})
    EXPECT_EQ(parse_whole<std::uint32_t>(text), std::nullopt) << text;
}

}  // namespace
}  // namespace gantry
