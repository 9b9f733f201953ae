#include "depot/compression.hpp"

#include <gtest/gtest.h>

#include "base/codec.hpp"

namespace gantry::depot {
namespace {

constexpr std::size_t kMost = std::size_t{256} << 10;

std::string text(std::size_t bytes) {
  std::string out;
  for (int i = 0; out.size() < bytes; ++i) out += "line " + std::to_string(i) + " of a text\n";
  out.resize(bytes);
  return out;
}

std::string noise(std::size_t bytes) {
  std::string out;
  std::uint64_t seed = 1;
  while (out.size() < bytes) {
    seed = seed * 6364136223846793005U + 1442695040888963407U;
    Encoder(out).u8(static_cast<std::uint8_t>(seed >> 56U));
  }
  return out;
}

/// A link on which we wait a second for each so many bytes.
void set_speed(LinkSpeed& link, std::size_t bytes_a_second) {
  const TimePoint begin = from_ns(1'000'000'000);
  link.sent(begin, 0, true);
  link.sent(begin + std::chrono::seconds(1), bytes_a_second, false);
}

TEST(Packing, ASlowLinkGetsItSmall) {
  Packer packer;
  set_speed(packer.link(), 10'000);
  Packing file;
  const std::string content = text(kMost);
  const auto packed = packer.pack(content, file);
  ASSERT_TRUE(packed);
  EXPECT_LT(packed->size(), content.size() / 3);
  Unpacker unpacker;
  EXPECT_EQ(unpacker.unpack(*packed, kMost), content);
}

TEST(Packing, ALinkThatNeverMakesUsWaitGetsItAsItIs) {
  Packer packer;
  Packing file;
  EXPECT_FALSE(packer.pack(text(kMost), file));
  // 100 GB a second.
  set_speed(packer.link(), 100'000'000'000);
  EXPECT_FALSE(packer.pack(text(kMost), file));
}

TEST(Packing, WhatCannotBeMadeSmallerIsTriedLessAndLess) {
  Packer packer;
  set_speed(packer.link(), 100);
  Packing file;
  const std::string content = noise(1000);
  for (int i = 0; i < 10; ++i) EXPECT_FALSE(packer.pack(content, file));
  // Tried at 0, 2, 5 (after pauses of 1 and 2); the next pause is of 4, then of 8.
  EXPECT_EQ(file.next_pause, 8U);
  // But a part of the file may be of another kind.
  int attempts = 0;
  while (attempts < 100 && !packer.pack(text(1000), file)) ++attempts;
  EXPECT_LE(attempts, 4);
  EXPECT_TRUE(packer.pack(text(1000), file));
}

TEST(Packing, VerySmallOnesAreLeftAlone) {
  Packer packer;
  set_speed(packer.link(), 1'000);
  Packing file;
  EXPECT_FALSE(packer.pack(std::string(100, 'x'), file));
  EXPECT_FALSE(packer.pack("", file));
}

TEST(Packing, UnpacksOnlyWhatIsWholeAndNotTooLarge) {
  Packer packer;
  set_speed(packer.link(), 10'000);
  Packing file;
  const std::string packed(packer.pack(std::string(100'000, 'x'), file).value());
  Unpacker unpacker;
  EXPECT_TRUE(unpacker.unpack(packed, 100'000));
  EXPECT_FALSE(unpacker.unpack(packed, 99'999));
  EXPECT_FALSE(unpacker.unpack(packed + "x", 100'000));
  for (std::size_t size = 0; size < packed.size(); ++size)
    EXPECT_FALSE(unpacker.unpack(std::string_view(packed).substr(0, size), 100'000));
  EXPECT_FALSE(unpacker.unpack(noise(100), 100'000));
}

TEST(LinkSpeed, CountsOnlyTheTimeThatWeWaited) {
  LinkSpeed link;
  TimePoint now = from_ns(1'000'000'000);
  // 5 MB are taken at once, with long pauses in which nothing was to be sent.
  for (int i = 0; i < 5; ++i) {
    link.sent(now, 1'000'000, false);
    now += std::chrono::seconds(10);
  }
  EXPECT_EQ(link.seconds_per_byte(), 0);
  // 1 MB in half a second.
  link.sent(now, 0, true);
  link.sent(now + std::chrono::milliseconds(500), 1'000'000, true);
  EXPECT_NEAR(link.seconds_per_byte(), 0.5e-6, 0.2e-6);
}

}  // namespace
}  // namespace gantry::depot
