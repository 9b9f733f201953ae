// Connections that break, and sites that do not come back.
#include <gtest/gtest.h>

#include "actuate/move/mover_fixture.hpp"

namespace gantry {
namespace {

using StreamMoverBrokenTest = MoverTest;

TEST_F(StreamMoverBrokenTest, WhatWasUnderWayGoesOnWhereItStopped) {
  const std::string up = large_content(12'000'000);
  const std::string down = large_content(12'000'000, 2);
  make_remote("work/out", down);
  open();
  const auto put = mover_->put(make_file("large", up));
  const auto get = mover_->get({"work/out", dir_ / "out"});
  // Until something has arrived on both sides; all of it is more than one poll() takes.
  const auto part = [](const std::filesystem::path& path) {
    std::error_code none;
    const auto size = std::filesystem::file_size(path, none);
    return none ? 0 : size;
  };
  const auto there = site() / "depot/partial" / (hash_bytes(up).hex() + ".test");
  ASSERT_TRUE(poll_until([&] {
    return part(there) > 1'000'000 &&
           part(dir_ / (".gantry-" + hash_bytes("out").hex())) > 1'000'000;
  }));
  break_connection();
  EXPECT_EQ(await(put), "");
  EXPECT_EQ(await(get), "");
  EXPECT_EQ(connections_, 2);
  EXPECT_EQ(inventories_.size(), 2U);
  EXPECT_EQ(read_file(dir_ / "out").value(), down);
  EXPECT_TRUE(site_depot().verify(hash_bytes(up)));
  // Some pieces were under way and are sent twice, but not all.
  EXPECT_LT(done_[put].bytes, 2 * up.size() - 500'000);
  EXPECT_EQ(done_[get].bytes, down.size());
}

TEST_F(StreamMoverBrokenTest, SmallOnesAreSentAgain) {
  open();
  break_connection();
  std::vector<TransferId> ids;
  for (int i = 0; i < 10; ++i)
    ids.push_back(mover_->put(make_file("f" + std::to_string(i), std::to_string(i))));
  for (const auto id : ids) EXPECT_EQ(await(id), "");
  EXPECT_EQ(connections_, 2);
}

TEST_F(StreamMoverBrokenTest, ASiteThatHangsIsConnectedToAnew) {
  options_.silence = std::chrono::seconds(1);
  hang_ = true;
  open();
  const auto id = mover_->put(make_file("f", "x"));
  EXPECT_EQ(await(id), "");
  EXPECT_GE(connections_, 2);
  ASSERT_FALSE(interruptions_.empty());
  EXPECT_EQ(interruptions_[0], "nothing was heard from its file server for 1 s");
}

TEST_F(StreamMoverBrokenTest, ADamagedPartIsSentAgainFromTheBeginning) {
  const std::string content = large_content(900'000);
  const Put file = make_file("large", content);
  make_remote("depot/partial/" + file.content.hex() + ".test", std::string(500'000, 'x'));
  open();
  const auto id = mover_->put(file);
  EXPECT_EQ(await(id), "");
  EXPECT_EQ(done_[id].bytes, 400'000U + 900'000U);
  EXPECT_TRUE(site_depot().verify(file.content));
}

TEST_F(StreamMoverBrokenTest, APartThatIsAllThereIsOnlyVerified) {
  const std::string content = large_content(900'000);
  const Put file = make_file("large", content);
  make_remote("depot/partial/" + file.content.hex() + ".test", content);
  open();
  const auto id = mover_->put(file);
  EXPECT_EQ(await(id), "");
  EXPECT_EQ(done_[id].bytes, 0U);
}

TEST_F(StreamMoverBrokenTest, ASiteThatCannotBeReachedIsWaitedForOnlySoLong) {
  options_.patience = std::chrono::milliseconds(300);  // enough to try twice on any machine
  refuse_ = true;
  mover_ = make_stream_mover(options_);
  const auto id = mover_->put(make_file("f", "x"));
  EXPECT_EQ(await(id), "the site could not be reached for 0 s: nobody there");
  EXPECT_TRUE(failed_[id].lost_connection);
  EXPECT_GT(connections_, 1);
  // And is there for what comes later.
  refuse_ = false;
  EXPECT_EQ(await(mover_->put(make_file("f", "x"))), "");
}

TEST_F(StreamMoverBrokenTest, AnIdleMoverLeavesALostSiteAloneUntilItIsNeeded) {
  open();
  break_connection();
  for (int i = 0; i < 20; ++i) poll_once(1);
  EXPECT_EQ(connections_, 1);
  EXPECT_EQ(await(mover_->put(make_file("f", "x"))), "");
  EXPECT_EQ(connections_, 2);
}

}  // namespace
}  // namespace gantry
