#include "store/snapshot_bytes.hpp"

#include <gtest/gtest.h>

namespace gantry::store {
namespace {

SnapshotContent varied() {
  SnapshotContent content;
  RunSnapshot& state = content.state;
  state.ever_succeeded = true;
  state.tasks = {{1, TaskStanding::done},
                 {1, TaskStanding::done},
                 {0, TaskStanding::reused},
                 {0xffff'ffff, TaskStanding::cancelled},
                 {2, TaskStanding::failed, true}};
  state.unheard = {{TaskId(1), AttemptId(2)}};
  state.run_times = {{TaskId(5), Duration(1)}, {TaskId(1), Duration(-7)}};
  state.memory = {{TaskId(1), std::uint64_t{1} << 63}};
  state.deaths = {{TaskId(4), 7, std::uint64_t{1} << 40}};
  content.prints = {1, 0, 0xffff'ffff'ffff'ffff, 3, 5};
  return content;
}

TEST(SnapshotBytes, ComeBackAsTheyWere) {
  for (const auto& content : {varied(), SnapshotContent{}}) {
    const auto back = decode_snapshot(encode_snapshot(content));
    ASSERT_TRUE(back && *back);
    EXPECT_EQ((*back)->state, content.state);
    EXPECT_EQ((*back)->prints, content.prints);
  }
}

TEST(SnapshotBytes, OfAMillionEqualTasksAreFew) {
  SnapshotContent content;
  content.state.tasks.assign(1'000'000, {1, TaskStanding::done});
  EXPECT_LT(encode_snapshot(content).size(), 100U);
}

TEST(SnapshotBytes, AreRefusedWithAnyBitOrByteWrong) {
  const std::string good = encode_snapshot(varied());
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x10);
    const auto back = decode_snapshot(bad);
    EXPECT_TRUE(!back || (i == 0 && !*back)) << i;  // the first byte is the version
    EXPECT_FALSE(decode_snapshot(good.substr(0, i))) << i;
  }
  EXPECT_FALSE(decode_snapshot(good + "x"));
}

TEST(SnapshotBytes, OfAnotherVersionAreLeftAlone) {
  std::string other = encode_snapshot(varied());
  ++other[0];
  const auto back = decode_snapshot(other);
  ASSERT_TRUE(back);
  EXPECT_FALSE(*back);
}

}  // namespace
}  // namespace gantry::store
