// Pilots of a batch system that is a few scripts on this machine: how often they are tried again.
#include "actuate/launch/pilot_pool.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>

#include <cstdlib>
#include <functional>
#include <utility>

#include "base/fd.hpp"
#include "base/scratch_dir.hpp"

namespace gantry {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

class PilotPoolTest : public ::testing::Test {
 protected:
  PilotPoolTest() {
    // Commands are run by a login shell: it finds what its profile says.
    if (const char* home = std::getenv("HOME")) home_ = home;
    ::setenv("HOME", dir_.path().c_str(), 1);
    write(".profile", "PATH=" + dir_.path().string() + ":$PATH\n");
    write("squeue", "#!/bin/sh\ncat " + (dir_ / "queue").string() + "\n");
    write("queue", "");
    write("scancel", "#!/bin/sh\n");
    site_.name = "c1";
    site_.hosts = {{HostId(1), "c1-1", 1}};
    site_.batch.emplace();
    site_.scratch = dir_ / "scratch";
    site_.holder = "me";
    binary_.content = "#!/bin/sh\n";
    binary_.image = {"agent", binary_.content.size(), ""};
  }
  ~PilotPoolTest() override { ::setenv("HOME", home_.c_str(), 1); }

  void write(const std::string& name, const std::string& text) {
    ASSERT_TRUE(write_file_atomic(dir_ / name, text));
    ::chmod((dir_ / name).c_str(), 0700);
  }
  /// What sbatch does, its `n`th time.
  void set_sbatch(const std::string& script) {
    const std::string log = dir_ / "submits";
    write("sbatch", "#!/bin/sh\necho x >>" + log + "; n=$(wc -l <" + log + ")\n" + script + "\n");
  }
  std::size_t submits() { return read_file(dir_ / "submits").value_or("").size() / 2; }

  bool poll_until(PilotPool& pool, const std::function<bool()>& done) {
    const auto deadline = PilotPool::Clock::now() + 90s;
    std::vector<LauncherEvent> events;
    while (PilotPool::Clock::now() < deadline) {
      pool.want(1);
      pool.poll(PilotPool::Clock::now(), events);
      for (const auto& event : std::exchange(events, {}))
        if (const auto* notice = std::get_if<LauncherNotice>(&event)) told_.push_back(notice->text);
      if (done()) return true;
      ::poll(nullptr, 0, 2);
    }
    return false;
  }

  ScratchDir dir_;
  std::string home_;
  RemoteSite site_;
  AgentBinary binary_;
  std::vector<std::string> told_;
};

TEST_F(PilotPoolTest, FiveJobsInARowMayEndBeforeTheyAreUsed) {
  set_sbatch("echo $n");
  PilotPool pool(site_, binary_, {2ms, 1ms});
  ASSERT_TRUE(poll_until(pool, [&] { return !pool.expects(0); }));
  EXPECT_EQ(submits(), 5U);
  ASSERT_FALSE(told_.empty());
  EXPECT_THAT(told_.back(), HasSubstr("its jobs end before they can be used, the last was 5"));
}

TEST_F(PilotPoolTest, WhatCouldNotBeSubmittedIsNoJobThatEnded) {
  set_sbatch("[ $n -gt 6 ] || { echo 'a limit of submitted jobs' >&2; exit 1; }; echo $n");
  PilotPool pool(site_, binary_, {2ms, 1ms});
  ASSERT_TRUE(poll_until(pool, [&] { return !pool.expects(0); }));
  EXPECT_EQ(submits(), 11U);
}

TEST_F(PilotPoolTest, WhatNobodyUnderstandsIsNotTriedForEver) {
  set_sbatch("echo 'the moon is full' >&2; exit 1");
  PilotPool pool(site_, binary_, {2ms, 1us});
  ASSERT_TRUE(poll_until(pool, [&] { return !pool.expects(0); }));
  EXPECT_EQ(submits(), 21U);
  EXPECT_THAT(told_.back(), HasSubstr("no job can be submitted: the moon is full; it is left out"));
}

TEST_F(PilotPoolTest, WhatMayPassIsTriedForEver) {
  set_sbatch("echo 'a limit of submitted jobs' >&2; exit 1");
  PilotPool pool(site_, binary_, {2ms, 1us});
  ASSERT_TRUE(poll_until(pool, [&] { return submits() > 30; }));
  EXPECT_TRUE(pool.expects(0));
}

TEST_F(PilotPoolTest, AJobThatIsSubmittedAtTheEndIsCancelled) {
  write("scancel", "#!/bin/sh\necho $* >>" + (dir_ / "cancels").string() + "\n");
  set_sbatch("while ! test -e " + (dir_ / "go").string() + "; do sleep 0.01; done; echo $n");
  PilotPool pool(site_, binary_, {2ms, 1ms});
  ASSERT_TRUE(poll_until(pool, [&] { return submits() == 1; }));
  pool.release({false});
  EXPECT_FALSE(pool.is_released());
  write("go", "");
  ASSERT_TRUE(poll_until(pool, [&] { return pool.is_released(); }));
  EXPECT_EQ(read_file(dir_ / "cancels").value_or(""), "1\n");
}

TEST_F(PilotPoolTest, AJobThatCanNeverStartIsCancelled) {
  set_sbatch("echo $n");
  write("queue", "1|N/A|PENDING|PartitionConfig|gantry-me-c1-1\n");
  PilotPool pool(site_, binary_, {2ms, 1ms});
  ASSERT_TRUE(poll_until(pool, [&] { return !pool.expects(0); }));
  EXPECT_EQ(submits(), 0U);
  EXPECT_THAT(told_.back(), HasSubstr("job 1 can never start (PartitionConfig)"));
}

}  // namespace
}  // namespace gantry
