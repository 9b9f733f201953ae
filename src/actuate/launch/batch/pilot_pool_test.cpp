// Pilots of a batch system that is a few scripts on this machine: how often they are tried again.
#include "actuate/launch/batch/pilot_pool.hpp"

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

/// Time in which a job that is in no answer is not gone, whatever the machine does.
constexpr PilotPool::Clock::duration kPatient = 1h;

class PilotPoolTest : public ::testing::Test {
 protected:
  PilotPoolTest() {
    // Commands are run by a login shell: it finds what its profile says.
    if (const char* home = std::getenv("HOME")) home_ = home;
    ::setenv("HOME", dir_.path().c_str(), 1);
    write(".profile", "PATH=" + dir_.path().string() + ":$PATH\n");
    write("squeue", "#!/bin/sh\necho x >>" + (dir_ / "looks").string() + "\ncat " +
                        (dir_ / "queue").string() + "\n");
    set_queue("");
    write("scancel", "#!/bin/sh\necho $* >>" + (dir_ / "cancels").string() + "\n");
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
  void set_queue(const std::string& jobs) {
    write("queue", "ARRAY_JOB_ID|ARRAY_TASK_ID|STATE|REASON|NAME\n" + jobs);
  }
  std::size_t looks() { return read_file(dir_ / "looks").value_or("").size() / 2; }
  std::string cancels() { return read_file(dir_ / "cancels").value_or(""); }
  /// What sbatch does, its `n`th time.
  void set_sbatch(const std::string& script) {
    const std::string log = dir_ / "submits";
    write("sbatch", "#!/bin/sh\necho x >>" + log + "; n=$(wc -l <" + log + ")\n" + script + "\n");
  }
  std::size_t submits() { return read_file(dir_ / "submits").value_or("").size() / 2; }

  bool poll_until(PilotPool& pool, const std::function<bool()>& done) {
    const auto deadline = PilotPool::Clock::now() + 90s;
    std::vector<News> events;
    while (PilotPool::Clock::now() < deadline) {
      pool.want(1);
      pool.poll(PilotPool::Clock::now(), events);
      for (const auto& event : std::exchange(events, {})) {
        if (const auto* notice = find_in<Notice>(event)) told_.push_back(notice->text);
        if (const auto* left = find_in<QueueWaited>(event)) waits_.push_back(left->seconds);
        if (const auto* host = find_in<HostQueued>(event)) awaited_ = host->since != kNever;
      }
      if (done()) return true;
      ::poll(nullptr, 0, 2);
    }
    return false;
  }

  /// What a person is told at the end, without the site.
  static std::string last_words(PilotPool& pool) {
    std::vector<News> events;
    pool.close(events);
    if (events.empty()) return {};
    const std::string text = std::get<Notice>(events.back()).text;
    return text.substr(text.find("): ") + 3);
  }

  ScratchDir dir_;
  std::string home_;
  RemoteSite site_;
  AgentBinary binary_;
  std::vector<std::string> told_;
  std::vector<double> waits_;  ///< in the queue
  bool awaited_ = false;
};

TEST_F(PilotPoolTest, FiveJobsInARowMayEndBeforeTheyAreUsed) {
  set_sbatch("echo $n");
  PilotPool pool(site_, binary_, {2ms, 1ms, 0s, 0s});
  ASSERT_TRUE(poll_until(pool, [&] { return !pool.expects(0); }));
  EXPECT_EQ(submits(), 5U);
  ASSERT_FALSE(told_.empty());
  EXPECT_THAT(told_.back(), HasSubstr("its jobs end before they can be used, the last was 5"));
}

TEST_F(PilotPoolTest, WhatCouldNotBeSubmittedIsNoJobThatEnded) {
  set_sbatch("[ $n -gt 6 ] || { echo 'a limit of submitted jobs' >&2; exit 1; }; echo $n");
  PilotPool pool(site_, binary_, {2ms, 1ms, 0s, 0s});
  ASSERT_TRUE(poll_until(pool, [&] { return !pool.expects(0); }));
  EXPECT_EQ(submits(), 11U);
}

TEST_F(PilotPoolTest, WhatNobodyUnderstandsIsNotTriedForEver) {
  set_sbatch("echo 'the moon is full' >&2; exit 1");
  PilotPool pool(site_, binary_, {2ms, 1us, 0s, 0s});
  ASSERT_TRUE(poll_until(pool, [&] { return !pool.expects(0); }));
  EXPECT_EQ(submits(), 21U);
  EXPECT_THAT(told_.back(), HasSubstr("no job can be submitted: the moon is full; it is left out"));
}

TEST_F(PilotPoolTest, WhatMayPassIsTriedForEver) {
  set_sbatch("echo 'a limit of submitted jobs' >&2; exit 1");
  PilotPool pool(site_, binary_, {2ms, 1us, 0s, 0s});
  ASSERT_TRUE(poll_until(pool, [&] { return submits() > 30; }));
  EXPECT_TRUE(pool.expects(0));
}

TEST_F(PilotPoolTest, AJobThatIsSubmittedAtTheEndIsCancelled) {
  set_sbatch("while ! test -e " + (dir_ / "go").string() + "; do sleep 0.01; done; echo $n");
  PilotPool pool(site_, binary_, {2ms, 1ms, 0s, 0s});
  ASSERT_TRUE(poll_until(pool, [&] { return submits() == 1; }));
  pool.release({false});
  EXPECT_FALSE(pool.is_released());
  write("go", "");
  ASSERT_TRUE(poll_until(pool, [&] { return pool.is_released(); }));
  EXPECT_EQ(cancels(), "1\n");
}

TEST_F(PilotPoolTest, AJobThatIsNotSubmittedInTimeIsTold) {
  set_sbatch("while ! test -e " + (dir_ / "go").string() + "; do sleep 0.01; done; echo $n");
  PilotPool pool(site_, binary_, {2ms, 1ms, 0s, 0s});
  ASSERT_TRUE(poll_until(pool, [&] { return submits() == 1; }));
  pool.release({false});
  EXPECT_EQ(last_words(pool),
            "nobody knows whether its job gantry-me-c1-1 was submitted; if it is "
            "in the queue, cancel it there: scancel --name=gantry-me-c1-1");
  write("go", "");
}

TEST_F(PilotPoolTest, JobsThatCannotBeCancelledAreTold) {
  set_sbatch("echo 41");
  write("scancel", "#!/bin/sh\necho 'scancel: error: the controller sleeps' >&2; exit 1\n");
  PilotPool pool(site_, binary_, {2ms, 1ms, kPatient, kPatient});
  ASSERT_TRUE(poll_until(pool, [&] { return pool.is_queued(0); }));
  pool.release({false});
  ASSERT_TRUE(poll_until(pool, [&] { return pool.is_released(); }));
  ASSERT_FALSE(told_.empty());
  EXPECT_THAT(told_.back(),
              HasSubstr("jobs may be left in its queue: scancel: error: the controller "
                        "sleeps; cancel them there: scancel 41"));
  EXPECT_EQ(last_words(pool), "");
}

TEST_F(PilotPoolTest, JobsThatHadEndedNeedNotBeCancelled) {
  set_sbatch("echo 41");
  write("scancel",
        "#!/bin/sh\necho 'scancel: error: Kill job error on job id 41: Invalid job id "
        "specified' >&2; exit 1\n");
  PilotPool pool(site_, binary_, {2ms, 1ms, kPatient, kPatient});
  ASSERT_TRUE(poll_until(pool, [&] { return pool.is_queued(0); }));
  pool.release({false});
  ASSERT_TRUE(poll_until(pool, [&] { return pool.is_released(); }));
  EXPECT_THAT(told_, testing::IsEmpty());
}

TEST_F(PilotPoolTest, AJobThatNoAnswerHasYetIsNotSubmittedAgain) {
  set_sbatch("echo $n");
  PilotPool pool(site_, binary_, {2ms, 1ms, 0s, kPatient});  // the queue is an old answer
  ASSERT_TRUE(poll_until(pool, [&] { return submits() == 1; }));
  const std::size_t before = looks();
  ASSERT_TRUE(poll_until(pool, [&] { return looks() > before + 10; }));
  EXPECT_EQ(submits(), 1U);
  EXPECT_TRUE(pool.is_queued(0));
  set_queue("1|N/A|RUNNING|None|gantry-me-c1-1\n");
  ASSERT_TRUE(poll_until(pool, [&] { return pool.lends(0); }));
  EXPECT_EQ(submits(), 1U);
  EXPECT_EQ(cancels(), "");
}

TEST_F(PilotPoolTest, HowLongAJobWaitedIsToldWhenItsAgentAnswers) {
  set_sbatch("echo $n");
  PilotPool pool(site_, binary_, {2ms, 1ms, kPatient, kPatient});
  ASSERT_TRUE(poll_until(pool, [&] { return awaited_; }));
  set_queue("1|N/A|RUNNING|None|gantry-me-c1-1\n");
  ASSERT_TRUE(poll_until(pool, [&] { return pool.lends(0); }));
  EXPECT_TRUE(awaited_);
  EXPECT_THAT(waits_, testing::IsEmpty());
  pool.on_use(0, 0, PilotPool::Clock::now());
  ASSERT_TRUE(poll_until(pool, [&] { return !awaited_; }));
  const std::size_t before = looks();
  ASSERT_TRUE(poll_until(pool, [&] { return looks() > before + 2; }));
  ASSERT_EQ(waits_.size(), 1U);
  EXPECT_GT(waits_[0], 0);
}

TEST_F(PilotPoolTest, HowLongAJobOfAnotherGantryWaitedIsNotKnown) {
  set_queue("7|N/A|PENDING|Priority|gantry-me-c1-1\n");
  PilotPool pool(site_, binary_, {2ms, 1ms, kPatient, kPatient});
  ASSERT_TRUE(poll_until(pool, [&] { return awaited_; }));
  set_queue("7|N/A|RUNNING|None|gantry-me-c1-1\n");
  ASSERT_TRUE(poll_until(pool, [&] { return pool.lends(0); }));
  pool.on_use(0, 0, PilotPool::Clock::now());
  ASSERT_TRUE(poll_until(pool, [&] { return !awaited_; }));
  EXPECT_THAT(waits_, testing::IsEmpty());
}

TEST_F(PilotPoolTest, AnEmptyAnswerIsNoProof) {
  set_sbatch("echo $n");
  set_queue("7|N/A|RUNNING|None|gantry-me-c1-1\n");
  PilotPool pool(site_, binary_, {2ms, 1ms, 0s, kPatient});
  ASSERT_TRUE(poll_until(pool, [&] { return pool.lends(0); }));
  write("queue", "");
  const std::size_t before = looks();
  ASSERT_TRUE(poll_until(pool, [&] { return looks() > before + 10; }));
  EXPECT_TRUE(pool.lends(0));
  EXPECT_EQ(submits(), 0U);
  set_queue("");  // this is one
  ASSERT_TRUE(poll_until(pool, [&] { return submits() > 0; }));
  EXPECT_THAT(cancels(), HasSubstr("7\n"));  // it may be there all the same
}

TEST_F(PilotPoolTest, AJobThatIsMissingIsNotGoneAtOnce) {
  set_sbatch("echo $n");
  set_queue("7|N/A|RUNNING|None|gantry-me-c1-1\n");
  PilotPool pool(site_, binary_, {2ms, 1ms, kPatient, kPatient});
  ASSERT_TRUE(poll_until(pool, [&] { return pool.lends(0); }));
  set_queue("");
  const std::size_t before = looks();
  ASSERT_TRUE(poll_until(pool, [&] { return looks() > before + 10; }));
  EXPECT_TRUE(pool.lends(0));
  EXPECT_EQ(submits(), 0U);
}

TEST_F(PilotPoolTest, AJobWhoseAgentAnswersIsThereWhateverTheQueueSays) {
  set_sbatch("echo $n");
  set_queue("7|N/A|RUNNING|None|gantry-me-c1-1\n");
  PilotPool pool(site_, binary_, {2ms, 1ms, 0s, 0s});
  ASSERT_TRUE(poll_until(pool, [&] { return pool.lends(0); }));
  pool.on_use(0, 0, PilotPool::Clock::now());
  set_queue("");
  const std::size_t before = looks();
  ASSERT_TRUE(poll_until(pool, [&] { return looks() > before + 10; }));
  EXPECT_TRUE(pool.lends(0));
  pool.on_down(0);
  ASSERT_TRUE(poll_until(pool, [&] { return submits() > 0; }));
}

TEST_F(PilotPoolTest, AJobThatIsListedAsEndedIsReplacedAtOnce) {
  set_sbatch("[ $n = 1 ] && echo 8");
  set_queue("7|N/A|RUNNING|None|gantry-me-c1-1\n");
  PilotPool pool(site_, binary_, {2ms, 1ms, kPatient, kPatient});
  ASSERT_TRUE(poll_until(pool, [&] { return pool.lends(0); }));
  set_queue("7|N/A|FAILED|None|gantry-me-c1-1\n");
  ASSERT_TRUE(poll_until(pool, [&] { return submits() == 1; }));
  const std::size_t before = looks();
  ASSERT_TRUE(poll_until(pool, [&] { return looks() > before + 5; }));
  EXPECT_TRUE(pool.is_queued(0));  // that the one before it is listed means nothing
  EXPECT_EQ(submits(), 1U);
}

TEST_F(PilotPoolTest, ASuspendedJobIsKeptAndCancelledAtTheEnd) {
  set_sbatch("echo $n");
  set_queue("7|N/A|RUNNING|None|gantry-me-c1-1\n");
  PilotPool pool(site_, binary_, {2ms, 1ms, 0s, 0s});
  ASSERT_TRUE(poll_until(pool, [&] { return pool.lends(0); }));
  set_queue("7|N/A|SUSPENDED|None|gantry-me-c1-1\n");
  ASSERT_TRUE(poll_until(pool, [&] { return pool.is_suspended(0); }));
  const std::size_t before = looks();
  ASSERT_TRUE(poll_until(pool, [&] { return looks() > before + 5; }));
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_THAT(told_[0], HasSubstr("job 7 is suspended by the cluster"));
  EXPECT_EQ(submits(), 0U);
  pool.release({false});
  ASSERT_TRUE(poll_until(pool, [&] { return pool.is_released(); }));
  EXPECT_EQ(cancels(), "7\n");
}

TEST_F(PilotPoolTest, ThatSbatchPrintsNothingIsTold) {
  set_sbatch("exit 3");
  PilotPool pool(site_, binary_, {2ms, 1us, 0s, 0s});
  ASSERT_TRUE(poll_until(pool, [&] { return !told_.empty(); }));
  EXPECT_THAT(told_[0], HasSubstr("no job can be submitted: sbatch printed nothing (exit code 3)"));
}

TEST_F(PilotPoolTest, AJobThatCanNeverStartIsCancelled) {
  set_sbatch("echo $n");
  set_queue("1|N/A|PENDING|PartitionConfig|gantry-me-c1-1\n");
  PilotPool pool(site_, binary_, {2ms, 1ms, 0s, 0s});
  ASSERT_TRUE(poll_until(pool, [&] { return !pool.expects(0); }));
  EXPECT_EQ(submits(), 0U);
  EXPECT_THAT(told_.back(), HasSubstr("job 1 can never start (PartitionConfig)"));
}

}  // namespace
}  // namespace gantry
