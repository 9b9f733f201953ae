#include "base/hash.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <vector>

#include "base/fd.hpp"
#include "base/scratch_dir.hpp"

namespace gantry {
namespace {

Digest of_fields(const std::vector<std::string>& fields) {
  Hasher hasher;
  for (const auto& field : fields) hasher.add(field);
  return hasher.digest();
}

TEST(Hash, FieldsAreFramed) {
  EXPECT_NE(of_fields({"ab", "c"}), of_fields({"a", "bc"}));
  EXPECT_NE(of_fields({"", "a"}), of_fields({"a", ""}));
  EXPECT_NE(of_fields({"a"}), of_fields({"a", ""}));
  EXPECT_NE(of_fields({"abc"}), hash_bytes("abc"));
}

TEST(Hash, DifferentFieldsGiveDifferentDigests) {
  EXPECT_TRUE(rc::check([](const std::vector<std::string>& a, const std::vector<std::string>& b) {
    RC_ASSERT((a == b) == (of_fields(a) == of_fields(b)));
  }));
}

TEST(Hash, RawContentDoesNotDependOnThePieces) {
  EXPECT_TRUE(rc::check([](const std::string& a, const std::string& b) {
    Hasher hasher;
    hasher.add_raw(a).add_raw(b);
    RC_ASSERT(hasher.digest() == hash_bytes(a + b));
  }));
}

TEST(Hash, ResetForgetsEverything) {
  Hasher hasher;
  hasher.add("something").add(std::uint64_t{7});
  hasher.reset();
  hasher.add("x");
  EXPECT_EQ(hasher.digest(), of_fields({"x"}));
}

TEST(Hash, AFileHashesLikeItsContent) {
  const ScratchDir dir;
  const std::string content(700'000, 'z');  // more than one read
  ASSERT_TRUE(write_file_atomic(dir / "f", content));
  EXPECT_EQ(hash_file(dir / "f").value(), hash_bytes(content));
  EXPECT_FALSE(hash_file(dir / "missing"));
  EXPECT_FALSE(hash_file(dir.path()));
}

TEST(Digest, TextGoesThereAndBack) {
  EXPECT_TRUE(rc::check([](std::uint64_t high, std::uint64_t low) {
    const Digest d{high, low};
    RC_ASSERT(d.hex().size() == 32U);
    RC_ASSERT(Digest::from_hex(d.hex()).value() == d);
  }));
  EXPECT_EQ((Digest{0x1, 0xab}).hex(), "000000000000000100000000000000ab");
}

TEST(Digest, RefusesWhatIsNotADigest) {
  for (const char* bad :
       {"", "12", "0000000000000001000000000000000", "000000000000000100000000000000000",
        "g0000000000000010000000000000000", "-0000000000000010000000000000000",
        "0x000000000000010000000000000000", " 0000000000000010000000000000000"}) {
    EXPECT_FALSE(Digest::from_hex(bad)) << bad;
  }
}

}  // namespace
}  // namespace gantry
