#include <gmock/gmock.h>

#include "store/store_fixture.hpp"

namespace gantry::store {
namespace {

using ::testing::SizeIs;

class RemoteFilesTest : public StoreTest {
 protected:
  static RemoteFile file(const std::string& path, const std::string& folder) {
    return {path, "lab", "work/me/kept/" + folder + path, 7, hash_bytes(folder), "/home/grid.yaml"};
  }
  static AttemptEnded end_with(RunId run, std::uint32_t task, std::uint32_t attempt,
                               const RemoteFile& kept) {
    AttemptEnded ended = plain_end(run, task, attempt);
    ended.report.remote_files = {kept};
    return ended;
  }
};

TEST_F(RemoteFilesTest, AreRecordedWithTheEndOfTheirAttempt) {
  auto store = open();
  const RunId run = new_run(store);
  const RemoteFile kept = file("/a\xff", "1.1.1");
  must(store.append(run, end_with(run, 1, 1, kept)));
  EXPECT_TRUE(must(store.knows(kept))) << "it waits for the commit";
  EXPECT_FALSE(must(store.remote_output(kept.path)));
  must(store.commit());
  const auto reader = open(Access::read_only);
  EXPECT_EQ(must(reader.remote_output(kept.path)), kept);
  EXPECT_TRUE(must(reader.knows(kept)));
  EXPECT_FALSE(must(reader.knows(file("/a\xff", "1.1.2"))));
  const auto all = must(reader.remote_outputs());
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(all[0].file, kept);
  EXPECT_EQ(all[0].made_by, (TaskKey{run, TaskId(1), AttemptId(1)}));

  must(store.forget(kept));
  EXPECT_FALSE(must(reader.remote_output(kept.path)));
  EXPECT_THAT(must(reader.remote_outputs()), SizeIs(0));
}

TEST_F(RemoteFilesTest, LaterOnesReplaceThem) {
  auto store = open();
  const RunId run = new_run(store);
  must(store.append(run, end_with(run, 1, 1, file("/a", "1.1.1"))));
  must(store.append(run, end_with(run, 2, 1, file("/b", "1.2.1"))));
  must(store.commit());
  must(store.append(run, end_with(run, 1, 2, file("/a", "1.1.2"))));
  AttemptEnded at_home = plain_end(run, 2, 2);
  at_home.replaces = {"/b"};
  must(store.append(run, std::move(at_home)));
  must(store.commit());
  EXPECT_EQ(must(store.remote_output("/a")), file("/a", "1.1.2"));
  EXPECT_FALSE(must(store.remote_output("/b")));
  std::vector<std::string> replaced;
  for (const auto& output : must(store.remote_outputs()))
    if (output.replaced) replaced.push_back(output.file.remote);
  EXPECT_EQ(replaced, (std::vector<std::string>{"work/me/kept/1.1.1/a", "work/me/kept/1.2.1/b"}));
}

TEST_F(RemoteFilesTest, OutliveTheirRun) {
  auto store = open();
  const RunId run = new_run(store);
  must(store.append(run, end_with(run, 1, 1, file("/a", "1.1.1"))));
  must(store.commit());
  must(store.remove_run(run));
  EXPECT_THAT(must(store.remote_outputs()), SizeIs(1));
}

}  // namespace
}  // namespace gantry::store
