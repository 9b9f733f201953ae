#include "base/codec.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

namespace gantry {
namespace {

TEST(Codec, WhatIsEncodedComesBack) {
  EXPECT_TRUE(rc::check([](std::uint8_t a, std::uint16_t b, std::uint32_t c, std::uint64_t d,
                           std::int64_t e, const std::string& text) {
    std::string bytes;
    Encoder(bytes).u8(a).u16(b).str(text).u32(c).u64(d).i64(e);
    Decoder in(bytes);
    RC_ASSERT(in.u8() == a);
    RC_ASSERT(in.u16() == b);
    RC_ASSERT(in.str() == text);
    RC_ASSERT(in.u32() == c);
    RC_ASSERT(in.u64() == d);
    RC_ASSERT(in.i64() == e);
    RC_ASSERT(in.ok() && in.at_end());
  }));
}

TEST(Codec, IntegersAreLittleEndian) {
  std::string bytes;
  Encoder(bytes).u32(0x01020304);
  EXPECT_EQ(bytes, "\x04\x03\x02\x01");
}

TEST(Codec, AfterABadFieldEverythingIsZeroAndNotOk) {
  std::string bytes;
  Encoder(bytes).u32(1000).u64(42);  // a string of 1000 bytes that are not there
  Decoder in(bytes);
  EXPECT_EQ(in.str(), "");
  EXPECT_FALSE(in.ok());
  EXPECT_EQ(in.u64(), 0U);
  EXPECT_EQ(in.str(), "");
  EXPECT_FALSE(in.ok());
}

TEST(Codec, ACountThatCannotFitIsBad) {
  std::string bytes;
  Encoder(bytes).u32(3).u32(0).u32(0).u32(0);
  EXPECT_EQ(Decoder(bytes).count(4), 3U);
  Decoder in(bytes);
  EXPECT_EQ(in.count(5), 0U);
  EXPECT_FALSE(in.ok());
}

TEST(Codec, RandomBytesNeverLeadOutOfTheInput) {
  EXPECT_TRUE(rc::check([](const std::string& bytes, const std::vector<std::uint8_t>& reads) {
    Decoder in(bytes);
    for (const auto kind : reads) {
      switch (kind % 5) {
        case 0:
          in.u8();
          break;
        case 1:
          in.u16();
          break;
        case 2:
          RC_ASSERT(in.str().size() <= bytes.size());
          break;
        case 3:
          in.i64();
          break;
        default:
          RC_ASSERT(in.count(4) <= bytes.size() / 4);
          break;
      }
    }
  }));
}

}  // namespace
}  // namespace gantry
