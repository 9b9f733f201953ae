#include "agent/job_folder.hpp"

#include <gtest/gtest.h>

#include "base/fd.hpp"
#include "base/scratch_dir.hpp"

namespace gantry::agent {
namespace {

JobFolder::Content two_tasks() {
  JobFolder::Content content;
  content.hello.environment = {"A=b"};
  for (std::uint32_t i = 1; i <= 2; ++i) {
    Start start;
    start.key = {1, i, 1};
    start.argv = {"true"};
    content.tasks.push_back(start);
  }
  return content;
}

TEST(JobFolder, HoldsWhatItsJobsNeed) {
  const ScratchDir dir;
  const JobFolder folder(dir / "jobs/1");
  ASSERT_TRUE(folder.write(two_tasks()));
  const auto content = folder.read();
  ASSERT_TRUE(content) << content.error().message;
  EXPECT_EQ(content->hello.environment, std::vector<std::string>{"A=b"});
  ASSERT_EQ(content->tasks.size(), 2U);
  EXPECT_EQ(content->tasks[1].key.task, 2U);
  folder.remove();
  EXPECT_FALSE(folder.read());
}

TEST(JobFolder, WhoeverComesFirstDecides) {
  const ScratchDir dir;
  const JobFolder folder(dir / "1");
  ASSERT_TRUE(folder.write(two_tasks()));
  EXPECT_TRUE(folder.claim(1, 77).value_or(false));
  EXPECT_FALSE(folder.claim(1, 0).value_or(true)) << "it has been started";
  EXPECT_TRUE(folder.claim(2, 0).value_or(false));
  EXPECT_FALSE(folder.claim(2, 78).value_or(true)) << "it was withdrawn";
  EXPECT_EQ(folder.claimed_at(1), 77);
  EXPECT_EQ(folder.claimed_at(2), 0);
  ASSERT_TRUE(folder.write_report(1, "body"));
  const auto progress = folder.look();
  EXPECT_EQ(progress.claimed, (std::set<std::uint32_t>{1, 2}));
  EXPECT_EQ(progress.reported, (std::set<std::uint32_t>{1}));
  EXPECT_EQ(folder.read_report(1).value_or(""), "body");
}

TEST(JobFolder, AFileThatIsNotWrittenYetIsNoWithdrawal) {
  const ScratchDir dir;
  ASSERT_TRUE(write_file_atomic(dir / "claim.3", ""));
  EXPECT_NE(JobFolder(dir.path()).claimed_at(3), 0);
}

TEST(JobFolder, DamageIsNoticed) {
  const ScratchDir dir;
  const JobFolder folder(dir / "1");
  ASSERT_TRUE(folder.write(two_tasks()));
  const std::string whole = read_file(dir / "1/tasks").value();
  for (const std::string& text : {std::string(), std::string("x"), whole.substr(1),
                                  whole + std::string("\xff\xff\xff\xff\x01 garbage", 13)}) {
    ASSERT_TRUE(write_file_atomic(dir / "1/tasks", text));
    EXPECT_FALSE(folder.read()) << text.size();
  }
}

}  // namespace
}  // namespace gantry::agent
