// Files that come from another site: home's mover, the file server of the site that shall have
// them, and the agent of the one that has them.
#include <sys/socket.h>

#include <atomic>

#include "actuate/move/mover_fixture.hpp"
#include "base/child_process.hpp"
#include "depot/giver.hpp"
#include "depot/peer.hpp"

namespace gantry {
namespace {

class MoverPullTest : public MoverTest {
 protected:
  MoverPullTest() {
    pulls_.open = [this](const depot::PeerSite& site, const std::string& token) {
      return reach(site, token);
    };
  }
  ~MoverPullTest() override {
    end_servers();  // which hang up on the givers
    for (auto& giver : givers_) giver.join();
  }

  Result<FarProgram> reach(const depot::PeerSite& site, const std::string& token) {
    FdPair sockets = make_socket_pair().value();
    FdPair words = make_pipe().value();
    EXPECT_TRUE(write_all(words.theirs.get(), "Host key verification failed.\n"));
    ++reached_;
    if (site.ssh == "ada")
      givers_.emplace_back([end = std::move(sockets.theirs), folder = other(), token] {
        static_cast<void>(depot::serve_wants(end.get(), end.get(), folder, token));
      });
    // Others hang up at once.
    return FarProgram(std::move(sockets.ours), std::move(words.ours));
  }

  std::filesystem::path other() { return dir_ / "other"; }
  /// A file at home, that the other site has, too.
  Put shared_file(const std::string& name, const std::string& content, bool there = true) {
    Put put = make_file(name, content, true);
    put.from = depot::PeerSite{"ada", "/s", "gantry-agent-0"};
    const bool stored = !there || depot::Depot::open(other())->store(put.content, content, false);
    EXPECT_TRUE(stored);
    return put;
  }

  std::atomic<int> reached_ = 0;
  std::vector<std::thread> givers_;
};

TEST_F(MoverPullTest, ComesFromTheOtherSiteAndNotFromHere) {
  open();
  std::vector<Put> files;
  for (int i = 0; i < 20; ++i)
    files.push_back(shared_file("small" + std::to_string(i), std::string(50, char('a' + i))));
  files.push_back(shared_file("large", large_content(3'000'000)));
  files.push_back(shared_file("text", std::string(2'000'000, 't')));
  files.push_back(shared_file("empty", ""));
  std::uint64_t bytes = 0;
  std::vector<TransferId> ids;
  for (const Put& file : files) {
    std::filesystem::remove(file.path);  // nobody shall read it
    bytes += file.bytes;
    ids.push_back(mover_->put(file));
  }
  for (const TransferId id : ids) EXPECT_EQ(await(id), "");
  EXPECT_TRUE(sent_after_all_.empty());
  for (const Put& file : files) {
    EXPECT_TRUE(site_depot().verify(file.content)) << file.path;
    EXPECT_EQ(std::filesystem::status(site() / "depot" / depot::Depot::name_of(file.content))
                      .permissions() &
                  std::filesystem::perms::owner_exec,
              std::filesystem::perms::owner_exec);
  }
  EXPECT_EQ(reached_, 1);
  SiteGlance glance{.id = SiteId(1)};
  mover_->glance(glance);
  EXPECT_EQ(glance.pulled, bytes);
  EXPECT_LT(glance.sent, 10'000U);
}

TEST_F(MoverPullTest, WhatTheOtherSiteHasLostIsSent) {
  open();
  const TransferId lost = mover_->put(shared_file("lost", large_content(600'000), false));
  const TransferId kept = mover_->put(shared_file("kept", "kept"));
  EXPECT_EQ(await(lost), "");
  EXPECT_EQ(await(kept), "");
  EXPECT_EQ(sent_after_all_.size(), 1U);
  EXPECT_TRUE(sent_after_all_.contains(lost));
  EXPECT_FALSE(no_way_.contains(lost));
  EXPECT_TRUE(site_depot().verify(hash_bytes(large_content(600'000))));
}

TEST_F(MoverPullTest, WhatCannotBeAskedForIsSent) {
  open();
  Put put = shared_file("a", large_content(600'000));
  put.from->ssh = "nobody";
  const TransferId id = mover_->put(put);
  EXPECT_EQ(await(id), "");
  EXPECT_EQ(sent_after_all_[id], "Host key verification failed.");
  EXPECT_TRUE(no_way_.contains(id));
  EXPECT_TRUE(site_depot().verify(put.content));
}

TEST_F(MoverPullTest, ASiteWithoutAWayToOthersIsSentTo) {
  pulls_.open = nullptr;
  open();
  const Put put = shared_file("a", "content");
  const TransferId id = mover_->put(put);
  EXPECT_EQ(await(id), "");
  EXPECT_TRUE(no_way_.contains(id));
  EXPECT_TRUE(site_depot().verify(put.content));
}

TEST_F(MoverPullTest, GoesOnWithWhatIsThere) {
  const std::string content = large_content(2'000'000);
  open();
  const auto part = site() / "depot/partial" / (hash_bytes(content).hex() + ".test");
  std::ofstream(part, std::ios::binary) << content.substr(0, 1'500'000);
  const TransferId id = mover_->put(shared_file("a", content));
  EXPECT_EQ(await(id), "");
  EXPECT_TRUE(sent_after_all_.empty());
  EXPECT_TRUE(site_depot().verify(hash_bytes(content)));
}

TEST_F(MoverPullTest, AFileThatIsStagedIsNotAskedFor) {
  open();
  Put put = shared_file("a", "content");
  make_remote("datasets/a", "content");
  put.staged = site() / "datasets/a";
  EXPECT_EQ(await(mover_->put(put)), "");
  EXPECT_EQ(reached_, 0);
}

}  // namespace
}  // namespace gantry
