#include "actuate/move/stream_mover.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "actuate/move/mover_fixture.hpp"

namespace gantry {
namespace {

using StreamMoverTest = MoverTest;

TEST_F(StreamMoverTest, PutsFilesIntoTheDepotSmallOnesAndLargeOnes) {
  open();
  EXPECT_TRUE(inventories_[0].files.empty());
  EXPECT_GT(inventories_[0].total_bytes, 0U);
  const Put small = make_file("small", "a few bytes");
  const Put empty = make_file("empty", "");
  const Put large = make_file("large", large_content(1'000'000), true);
  const auto a = mover_->put(small);
  const auto b = mover_->put(large);
  const auto c = mover_->put(empty);
  EXPECT_EQ(await(a), "");
  EXPECT_EQ(await(b), "");
  EXPECT_EQ(await(c), "");
  EXPECT_EQ(done_[b].bytes, 1'000'000U);
  auto depot = site_depot();
  for (const Put& file : {small, empty, large}) {
    EXPECT_TRUE(depot.has(file.content));
    EXPECT_EQ(hash_file(depot.folder() / depot::Depot::name_of(file.content)).value(),
              file.content);
  }
  struct stat info {};
  ASSERT_EQ(::stat((depot.folder() / depot::Depot::name_of(large.content)).c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777U, 0555U);
  EXPECT_TRUE(std::filesystem::is_empty(depot.folder() / "partial"));
}

TEST_F(StreamMoverTest, TellsWhatTheDepotHas) {
  const Put file = make_file("f", "known");
  ASSERT_TRUE(site_depot().store(file.content, "known", false));
  open();
  ASSERT_EQ(inventories_[0].files.size(), 1U);
  EXPECT_EQ(inventories_[0].files[0].content, file.content);
  EXPECT_EQ(inventories_[0].files[0].bytes, 5U);
}

TEST_F(StreamMoverTest, AFileThatIsThereIsNotSentAgain) {
  const std::string content = large_content(600'000);
  const Put file = make_file("f", content);
  ASSERT_TRUE(site_depot().store(file.content, content, false));
  open();
  const auto id = mover_->put(file);
  EXPECT_EQ(await(id), "");
  EXPECT_EQ(done_[id].bytes, 0U);
}

TEST_F(StreamMoverTest, SendsTheSameContentOnce) {
  open();
  const std::string content = large_content(600'000);
  const auto a = mover_->put(make_file("a", content));
  const auto b = mover_->put(make_file("b", content));
  EXPECT_EQ(await(a), "");
  EXPECT_EQ(await(b), "");
  EXPECT_EQ(done_[a].bytes + done_[b].bytes, 600'000U);
}

TEST_F(StreamMoverTest, PutsAndDropsOfTheSameContentKeepTheirOrder) {
  open();
  const Put small = make_file("small", "content");
  const Put large = make_file("large", large_content(600'000));
  for (const Put& file : {small, large}) {
    std::vector<TransferId> ids;
    for (int i = 0; i < 3; ++i) {
      ids.push_back(mover_->put(file));
      ids.push_back(mover_->put(file));
      ids.push_back(mover_->drop(file.content));
    }
    ids.push_back(mover_->put(file));
    for (const auto id : ids) EXPECT_EQ(await(id), "");
    EXPECT_TRUE(site_depot().has(file.content));
    mover_->put(file);
    EXPECT_EQ(await(mover_->drop(file.content)), "");
    EXPECT_FALSE(site_depot().has(file.content));
  }
}

TEST_F(StreamMoverTest, WhenTheFirstOfTheSameContentFailsTheNextIsTried) {
  open();
  const Put file = make_file("b", "content");
  Put missing = file;
  missing.path = dir_ / "nowhere";
  const auto a = mover_->put(missing);
  const auto b = mover_->put(file);
  EXPECT_NE(await(a).find("nowhere"), std::string::npos);
  EXPECT_EQ(await(b), "");
}

TEST_F(StreamMoverTest, GetsFilesWholeOrInPart) {
  const std::string content = large_content(700'000);
  make_remote("work/1/out.txt", "result");
  make_remote("work/1/big", content);
  make_remote("work/1/empty", "");
  std::filesystem::permissions(site() / "work/1/big", std::filesystem::perms::owner_exec,
                               std::filesystem::perm_options::add);
  open();
  const auto a = mover_->get({"work/1/out.txt", dir_ / "here/new/out.txt"});
  const auto b = mover_->get({"work/1/big", dir_ / "here/big"});
  const auto c = mover_->get({"work/1/big", dir_ / "part", 300'000, 1000});
  const auto d = mover_->get({"work/1/big", dir_ / "past", 800'000, 1000});
  const auto e = mover_->get({"work/1/empty", dir_ / "empty"});
  for (const auto id : {a, b, c, d, e}) EXPECT_EQ(await(id), "");
  EXPECT_EQ(read_file(dir_ / "here/new/out.txt").value(), "result");
  EXPECT_EQ(read_file(dir_ / "here/big").value(), content);
  EXPECT_EQ(read_file(dir_ / "part").value(), content.substr(300'000, 1000));
  EXPECT_EQ(read_file(dir_ / "past").value(), "");
  EXPECT_EQ(read_file(dir_ / "empty").value(), "");
  struct stat info {};
  ASSERT_EQ(::stat((dir_ / "here/big").c_str(), &info), 0);
  EXPECT_NE(info.st_mode & S_IXUSR, 0U);
  ASSERT_EQ(::stat((dir_ / "part").c_str(), &info), 0);
}

TEST_F(StreamMoverTest, AFileThatIsNotWhatItHasToBeDoesNotComeHome) {
  make_remote("work/1/out", "result");
  std::ofstream(dir_ / "here") << "mine";
  open();
  const auto right = mover_->get(
      {.remote = "work/1/out", .local = dir_ / "right", .expected = {{hash_bytes("result"), 6}}});
  const auto other = mover_->get(
      {.remote = "work/1/out", .local = dir_ / "here", .expected = {{hash_bytes("other"), 5}}});
  const auto none = mover_->get({.remote = "work/1/none", .local = dir_ / "here"});
  EXPECT_EQ(await(right), "");
  EXPECT_EQ(await(other), "work/1/out: is not what it was");
  EXPECT_TRUE(failed_[other].gone);
  EXPECT_NE(await(none), "");
  EXPECT_TRUE(failed_[none].gone);
  EXPECT_EQ(read_file(dir_ / "right").value(), "result");
  EXPECT_EQ(read_file(dir_ / "here").value(), "mine");
}

TEST_F(StreamMoverTest, AFileThatIsThereIsNotSent) {
  open();
  const auto suggest = [&](const std::string& name, const std::string& content,
                           const std::string& there) {
    if (!there.empty()) make_remote("datasets/" + name, there);
    Put put = make_file(name, content);
    put.staged = site() / "datasets" / name;
    return mover_->put(put);
  };
  const std::string large = large_content(900'000);
  const auto same = suggest("same", large, large);
  const auto small = suggest("small", "x", "x");
  const auto empty = suggest("empty", "", "");
  make_remote("datasets/empty", "");
  const std::string other = large_content(900'000, 5);
  const auto changed = suggest("changed", other, large_content(900'000, 6));
  const auto longer = suggest("longer", "abc", "abcd");
  const auto missing = suggest("missing", "abcde", "");
  for (const auto id : {same, small, empty, changed, longer, missing}) EXPECT_EQ(await(id), "");
  EXPECT_EQ(done_[same].bytes + done_[small].bytes, 0U);
  EXPECT_EQ(done_[changed].bytes, 900'000U);
  for (const auto& content :
       {large, std::string("x"), other, std::string("abc"), std::string("abcde"), std::string()})
    EXPECT_TRUE(site_depot().has(hash_bytes(content)));
  EXPECT_FALSE(sent_after_all_.contains(same) || sent_after_all_.contains(small));
  EXPECT_EQ(sent_after_all_[longer], "it has another content");
  EXPECT_NE(sent_after_all_[missing].find("No such file"), std::string::npos);
  EXPECT_EQ(sent_after_all_[changed], "it has another content");
  // It is the person's: neither its time nor its permissions become those of the depot's files.
  struct stat info {};
  ASSERT_EQ(::stat((site() / "datasets/same").c_str(), &info), 0);
  EXPECT_EQ(info.st_nlink, 1U);
  EXPECT_NE(info.st_mode & S_IWUSR, 0U);
}

TEST_F(StreamMoverTest, AnotherGantryGoesOnWithAFileThatComesHome) {
  const std::string content = large_content(900'000);
  const std::string part_name = ".gantry-" + hash_bytes("big").hex();
  const Get get{.remote = "work/1/big",
                .local = dir_ / "big",
                .expected = {{hash_bytes(content), content.size()}},
                .resume = true};
  make_remote("work/1/big", content);
  open();
  // What was interrupted, of the same file, of another one, and of a longer one.
  const std::pair<std::string, std::uint64_t> parts[] = {
      {content.substr(0, 600'000), 300'000},
      {large_content(600'000, 7), 300'000 + 900'000},
      {large_content(1'000'000, 7), 900'000}};
  for (const auto& [part, sent] : parts) {
    std::filesystem::remove(dir_ / "big");
    std::ofstream(dir_ / part_name, std::ios::binary) << part;
    const auto id = mover_->get(get);
    EXPECT_EQ(await(id), "");
    EXPECT_EQ(done_[id].bytes, sent);
    EXPECT_EQ(read_file(dir_ / "big").value(), content);
    EXPECT_FALSE(std::filesystem::exists(dir_ / part_name));
  }
}

TEST_F(StreamMoverTest, SaysWhyAFileCannotBeGot) {
  make_remote("work/1/out", "x");
  make_remote("secret", "x");
  std::filesystem::create_symlink("../../secret", site() / "work/1/link");
  std::filesystem::create_symlink("out", site() / "work/1/inner");
  std::ofstream(dir_ / "file");
  open();
  const auto missing = mover_->get({"work/1/nothing", dir_ / "a"});
  const auto folder = mover_->get({"work/1", dir_ / "b"});
  const auto link = mover_->get({"work/1/link", dir_ / "c"});
  const auto inner = mover_->get({"work/1/inner", dir_ / "d"});
  const auto nowhere = mover_->get({"work/1/out", dir_ / "file/e"});
  EXPECT_EQ(await(missing), "work/1/nothing: No such file or directory");
  EXPECT_EQ(await(folder), "work/1: is not a plain file");
  EXPECT_EQ(await(link), "work/1/link: a link leads out of the work folder");
  EXPECT_EQ(await(inner), "");
  EXPECT_NE(await(nowhere), "");
  EXPECT_FALSE(std::filesystem::exists(dir_ / "c"));
}

TEST_F(StreamMoverTest, DropsVerifiesAndRemoves) {
  open();
  const Put file = make_file("f", "content");
  make_remote("work/1/a/b", "x");
  make_remote("work/2/c", "x");
  EXPECT_EQ(await(mover_->put(file)), "");
  EXPECT_EQ(await(mover_->verify(file.content)), "");
  EXPECT_EQ(await(mover_->drop(file.content)), "");
  EXPECT_NE(await(mover_->verify(file.content)), "");
  EXPECT_FALSE(site_depot().has(file.content));
  EXPECT_EQ(await(mover_->remove("work/1/a")), "");
  EXPECT_FALSE(std::filesystem::exists(site() / "work/1/a"));
  EXPECT_EQ(await(mover_->remove("work/1")), "");
  EXPECT_EQ(await(mover_->remove("work/9/9")), "") << "it is not there";
  EXPECT_TRUE(std::filesystem::exists(site() / "work/2/c"));
}

TEST_F(StreamMoverTest, AFileThatChangedIsNotTakenForWhatWasAnnounced) {
  open();
  const Put grown = make_file("grown", "four");
  make_file("grown", "more than four");
  const Put other = make_file("other", "1234");
  make_file("other", "4321");
  const Put large = make_file("large", large_content(600'000));
  make_file("large", large_content(600'000, 2));
  const auto a = mover_->put(grown);
  const auto b = mover_->put(other);
  const auto c = mover_->put(large);
  EXPECT_NE(await(a).find("grown: changed before it was sent"), std::string::npos);
  EXPECT_NE(await(b).find("other: changed while it was sent"), std::string::npos);
  EXPECT_NE(await(c).find("large: changed while it was sent"), std::string::npos);
  auto depot = site_depot();
  EXPECT_TRUE(depot.list().value().empty());
  EXPECT_TRUE(std::filesystem::is_empty(depot.folder() / "partial"));
}

TEST_F(StreamMoverTest, NothingIsHeardOfWhatWasCancelled) {
  make_remote("work/out", large_content(3'000'000));
  open();
  const auto put = mover_->put(make_file("large", large_content(2'000'000)));
  const auto get = mover_->get({"work/out", dir_ / "out"});
  const auto last = mover_->put(make_file("small", "x"));
  poll_once();
  mover_->cancel(put);
  mover_->cancel(get);
  EXPECT_EQ(await(last), "");
  EXPECT_EQ(await(mover_->put(make_file("small2", "y"))), "");
  EXPECT_FALSE(is_over(put));
  EXPECT_FALSE(is_over(get));
  for (const auto& entry : std::filesystem::directory_iterator(dir_.path()))
    EXPECT_FALSE(entry.path().filename().string().starts_with(".gantry-")) << entry;
}

TEST_F(StreamMoverTest, WhatIsToGoGoesAlsoWhenTheMoverCloses) {
  open();
  const Put file = make_file("f", "content");
  EXPECT_EQ(await(mover_->put(file)), "");
  for (int i = 0; i < 20; ++i) make_remote("work/" + std::to_string(i) + "/x", "x");
  for (int i = 0; i < 20; ++i) mover_->remove("work/" + std::to_string(i));
  mover_->drop(file.content);
  mover_->close();
  join_servers();
  EXPECT_TRUE(std::filesystem::is_empty(site() / "work"));
  EXPECT_FALSE(site_depot().has(file.content));
}

TEST_F(StreamMoverTest, ManySmallFiles) {
  open();
  std::vector<TransferId> ids;
  for (int i = 0; i < 100; ++i)
    ids.push_back(mover_->put(make_file("f" + std::to_string(i), "content " + std::to_string(i))));
  for (const auto id : ids) EXPECT_EQ(await(id), "");
  EXPECT_EQ(site_depot().list().value().size(), 100U);
}

}  // namespace
}  // namespace gantry
