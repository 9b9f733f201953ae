// A desk with a batch system that is a few files: what it submits, what it tells gantry, and what
// it knows after it was killed.
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <chrono>
#include <functional>
#include <map>

#include "agent/job_desk_impl.hpp"
#include "agent/job_element.hpp"
#include "base/fd.hpp"
#include "base/scratch_dir.hpp"

namespace gantry::agent {
namespace {

class JobDeskTest : public ::testing::Test {
 protected:
  JobDeskTest() {
    config_.state_dir = dir_ / "state";
    config_.name = "n";
    config_.rate = 100;
    const std::string dir = dir_.path();
    config_.submit = "echo @BATCH@ @COUNT@ >>" + dir + "/submits; echo 7";
    config_.queue = "cat " + dir + "/queue";
    config_.cancel = "echo >>" + dir + "/cancels";
    std::filesystem::create_directories(config_.state_dir / "agent");
    set_queue("");
  }
  ~JobDeskTest() override { kill_desk(); }

  void open_desk() {
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    UniqueFd its(ends[1]);
    gantry_ = FrameStream(UniqueFd(ends[0]));
    pid_ = ::fork();
    if (pid_ == 0) {
      gantry_.close();
      JobDesk desk(config_, std::move(its), UniqueFd());
      const bool good = desk.recover() && desk.serve();
      std::_Exit(good ? 0 : 1);
    }
    encode(gantry_.outbox(), Hello{});
    welcome_.reset();
    ASSERT_TRUE(hear_until([&] { return welcome_.has_value(); }));
  }
  void kill_desk() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = -1;
  }

  void start(std::uint32_t task, const std::string& script, std::uint32_t cores = 1,
             std::uint64_t memory = 0) {
    Start start;
    start.cores = cores;
    start.memory = memory;
    start.key = {1, task, 1};
    start.argv = {"/bin/sh", "-c", script};
    start.workdir = dir_.path();
    encode(gantry_.outbox(), start);
  }
  /// As the batch system would.
  void run_element(std::uint32_t batch, std::uint32_t index) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      const auto ran = run_job_element(config_.state_dir / "jobs" / std::to_string(batch), index,
                                       config_.state_dir / "output", {});
      std::_Exit(ran ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
  }
  void set_queue(const std::string& text) { ASSERT_TRUE(write_file_atomic(dir_ / "queue", text)); }
  std::string said(const char* name) { return read_file(dir_ / name).value_or(""); }

  bool hear_until(const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(90);
    while (std::chrono::steady_clock::now() < deadline) {
      gantry_.send();
      if (gantry_.receive(1 << 16) == FrameStream::Received::end) return false;
      while (const auto frame = gantry_.next()) hear(*frame);
      if (done()) return true;
      pollfd fd{gantry_.fd(), POLLIN, 0};
      ::poll(&fd, 1, 20);
    }
    return false;
  }
  void hear(const Frame& frame) {
    if (frame.type == MessageType::welcome) welcome_ = decode<Welcome>(frame.body);
    if (frame.type == MessageType::returned) returned_.insert(decode<AttemptKey>(frame.body)->task);
    if (frame.type == MessageType::started) started_.insert(decode<Started>(frame.body)->key.task);
    if (frame.type == MessageType::refused) refused_.push_back(*decode<Refused>(frame.body));
    if (frame.type == MessageType::resting) resting_.push_back(*decode<Resting>(frame.body));
    if (frame.type == MessageType::notice) notices_.push_back(decode<Notice>(frame.body)->text);
    if (frame.type != MessageType::ended) return;
    auto ended = decode_ended(frame.body);
    ASSERT_TRUE(ended);
    receipt_ = ended->first;
    const std::uint32_t task = ended->second.key.task;
    ended_[task] = std::move(ended->second);
  }
  [[nodiscard]] static bool has_cause(const Ended& ended, Cause cause) {
    return ended.cause == static_cast<std::uint8_t>(cause);
  }

  ScratchDir dir_;
  DeskConfig config_;
  FrameStream gantry_;
  pid_t pid_ = -1;
  std::optional<Welcome> welcome_;
  std::map<std::uint32_t, Ended> ended_;
  std::set<std::uint32_t> returned_;
  std::set<std::uint32_t> started_;
  std::vector<std::string> notices_;
  std::vector<Refused> refused_;
  std::vector<Resting> resting_;
  std::uint64_t receipt_ = 0;
};

TEST_F(JobDeskTest, TasksBecomeElementsOfOneArray) {
  open_desk();
  for (const std::uint32_t task : {11U, 12U, 13U}) start(task, "echo $GANTRY_X task");
  set_queue("7|1|PENDING|Resources|n-1\n7|2|PENDING|Resources|n-1\n7|3|PENDING|Resources|n-1\n");
  ASSERT_TRUE(hear_until([&] { return said("submits") == "1 3\n"; }));
  run_element(1, 2);
  ASSERT_TRUE(hear_until([&] { return ended_.contains(12); }));
  EXPECT_TRUE(has_cause(ended_[12], Cause::none)) << ended_[12].detail;
  EXPECT_EQ(ended_[12].out.text, "task\n");
  run_element(1, 2);  // a batch system that starts it again
  run_element(1, 1);
  run_element(1, 3);
  ASSERT_TRUE(hear_until([&] { return ended_.size() == 3; }));
  encode(gantry_.outbox(), Ack{receipt_});
  EXPECT_TRUE(
      hear_until([&] { return !std::filesystem::exists(config_.state_dir / "jobs" / "1"); }));
}

TEST_F(JobDeskTest, GantryIsWelcomeWhateverTheBatchSystemDoes) {
  for (std::string* command : {&config_.submit, &config_.queue, &config_.cancel})
    *command = "sleep 600";
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  gantry_ = FrameStream(UniqueFd(ends[0]));
  UniqueFd its(ends[1]);
  pid_ = ::fork();
  if (pid_ == 0) {
    gantry_.close();
    std::_Exit(serve_desk(config_, its.get(), ::dup(its.get())) ? 0 : 1);
  }
  its.reset();
  encode(gantry_.outbox(), Hello{});
  EXPECT_TRUE(hear_until([&] { return welcome_.has_value(); }));
  gantry_.close();  // it leaves by itself
}

TEST_F(JobDeskTest, NoMoreJobsThanAllowed) {
  config_.most = 2;
  open_desk();
  set_queue("7|1|PENDING|Resources|n-1\n7|2|PENDING|Resources|n-1\n7|1|PENDING|Resources|n-2\n");
  for (const std::uint32_t task : {1U, 2U, 3U}) start(task, "true");
  ASSERT_TRUE(hear_until([&] { return said("submits") == "1 2\n"; }));
  run_element(1, 1);
  EXPECT_TRUE(hear_until([&] { return said("submits") == "1 2\n2 1\n"; }));
}

TEST_F(JobDeskTest, WhatIsTakenBackIsNeverStarted) {
  open_desk();
  set_queue("7|1|PENDING|Resources|n-1\n7|2|PENDING|Resources|n-1\n");
  start(1, "true");
  start(2, "touch " + (dir_ / "ran").string());
  ASSERT_TRUE(hear_until([&] { return said("submits") == "1 2\n"; }));
  run_element(1, 1);
  ASSERT_TRUE(hear_until([&] { return ended_.contains(1); }));
  encode(gantry_.outbox(), Recall{});
  ASSERT_TRUE(hear_until([&] { return returned_.contains(2) && !said("cancels").empty(); }));
  EXPECT_EQ(said("cancels"), "7_2\n");
  run_element(1, 2);  // it was too late to cancel it
  EXPECT_FALSE(std::filesystem::exists(dir_ / "ran"));
}

TEST_F(JobDeskTest, ADeskThatWasKilledKnowsItsJobsAgain) {
  open_desk();
  set_queue("7|1|RUNNING|None|n-1\n7|2|PENDING|Resources|n-1\n");
  start(1, "true");
  start(2, "true");
  ASSERT_TRUE(hear_until([&] { return said("submits") == "1 2\n"; }));
  run_element(1, 1);
  ASSERT_TRUE(hear_until([&] { return ended_.contains(1); }));
  kill_desk();
  ended_.clear();
  open_desk();
  EXPECT_EQ(welcome_->reports, 1U);
  ASSERT_EQ(welcome_->running.size(), 1U);
  EXPECT_EQ(welcome_->running[0].key.task, 2U);
  ASSERT_TRUE(hear_until([&] { return ended_.contains(1); }));
  run_element(1, 2);
  ASSERT_TRUE(hear_until([&] { return ended_.contains(2); }));
  start(3, "true");
  EXPECT_TRUE(hear_until([&] { return said("submits") == "1 2\n2 1\n"; }));
}

TEST_F(JobDeskTest, WhatIsCancelledBeforeItsJobIsKnownIsCancelledThen) {
  open_desk();
  start(1, "true");
  ASSERT_TRUE(hear_until([&] { return said("submits") == "1 1\n"; }));
  kill_desk();
  std::filesystem::remove(dir_ / "queue");  // the next desk cannot ask yet
  open_desk();
  encode(gantry_.outbox(), Cancel{{1, 1, 1}});
  ASSERT_TRUE(hear_until([&] { return ended_.contains(1); }));
  EXPECT_TRUE(has_cause(ended_[1], Cause::cancelled));
  encode(gantry_.outbox(), Ack{receipt_});
  ASSERT_TRUE(hear_until([&] { return !notices_.empty(); }));
  set_queue("7|1|PENDING|Resources|n-1\n");
  ASSERT_TRUE(hear_until([&] { return !said("cancels").empty(); }));
  EXPECT_EQ(said("cancels"), "7_1\n");
  set_queue("");
  EXPECT_TRUE(hear_until([&] { return !std::filesystem::exists(config_.state_dir / "jobs/1"); }));
}

TEST_F(JobDeskTest, JobsThatVanishAreGivenBackOrLost) {
  open_desk();
  start(1, "true");
  start(2, "true");
  ASSERT_TRUE(hear_until([&] { return said("submits") == "1 2\n"; }));
  // Somebody began the first one, and nobody heard of its end.
  ASSERT_TRUE(JobFolder(config_.state_dir / "jobs" / "1").claim(1, 1).value_or(false));
  ASSERT_TRUE(hear_until([&] { return ended_.contains(1) && returned_.contains(2); }));
  EXPECT_TRUE(has_cause(ended_[1], Cause::lost));
  EXPECT_TRUE(started_.contains(1));
}

TEST_F(JobDeskTest, JobsWhoseFolderSomebodyRemovedAreLost) {
  open_desk();
  start(1, "true");
  set_queue("7|1|PENDING|Resources|n-1\n");
  ASSERT_TRUE(hear_until([&] { return said("submits") == "1 1\n"; }));
  std::filesystem::remove_all(config_.state_dir / "jobs/1");
  set_queue("");
  ASSERT_TRUE(hear_until([&] { return ended_.contains(1); }));
  EXPECT_TRUE(has_cause(ended_[1], Cause::lost));
  ASSERT_EQ(notices_.size(), 1U);
  EXPECT_NE(notices_[0].find("No such file"), std::string::npos) << notices_[0];
}

TEST_F(JobDeskTest, WhatCannotBeWrittenWaits) {
  ASSERT_TRUE(write_file_atomic(config_.state_dir / "jobs", "in the way"));
  open_desk();
  start(1, "true");
  ASSERT_TRUE(hear_until([&] { return !notices_.empty(); }));
  std::filesystem::remove(config_.state_dir / "jobs");
  EXPECT_TRUE(hear_until([&] { return !said("submits").empty(); }));
  EXPECT_TRUE(returned_.empty() && ended_.empty());
}

TEST_F(JobDeskTest, WhatNobodyUnderstandsIsRefusedInTheEnd) {
  config_.patience = std::chrono::milliseconds(1);
  config_.rest = std::chrono::milliseconds(20);
  config_.most_rests = 2;
  config_.submit = "echo the moon is full; false";
  open_desk();
  for (const std::uint32_t task : {1U, 2U, 3U}) {
    EXPECT_TRUE(refused_.empty());
    start(task, "true");
    ASSERT_TRUE(hear_until([&] { return returned_.contains(task); }));
    // It rests, and goes on; but for the last.
    ASSERT_TRUE(hear_until([&] { return resting_.size() >= 2 * std::min(task, 2U); }));
  }
  ASSERT_EQ(refused_.size(), 1U);
  EXPECT_EQ(refused_[0].why, "the moon is full");
  EXPECT_EQ(resting_.size(), 4U);
}

TEST_F(JobDeskTest, WhatCannotBeSubmittedWaits) {
  config_.submit = "test -e " + (dir_ / "open").string() + " && echo @BATCH@ >>" +
                   dir_.path().string() + "/submits && echo 7 || { echo no room; false; }";
  open_desk();
  set_queue("7|1|PENDING|Resources|n-2\n7|1|PENDING|Resources|n-3\n");
  start(1, "true");
  ASSERT_TRUE(hear_until([&] { return !notices_.empty(); }));
  EXPECT_EQ(notices_[0], "no job can be submitted: no room");
  ASSERT_TRUE(write_file_atomic(dir_ / "open", ""));
  EXPECT_TRUE(hear_until([&] { return !said("submits").empty(); }));
  EXPECT_TRUE(returned_.empty() && ended_.empty());
}

TEST_F(JobDeskTest, ALimitOfJobsIsToldOnceAndWhatWaitsGoesBackInTheEnd) {
  config_.patience = std::chrono::milliseconds(1);  // so that the second refusal is one too many
  config_.rest = std::chrono::milliseconds(300);
  // The number in it is another each time, as Grid Engine counts.
  config_.submit = "test -e " + (dir_ / "open").string() + " && echo @BATCH@ >>" +
                   dir_.path().string() + "/submits && echo 7 || { echo >>" + dir_.path().string() +
                   "/refusals; echo \"job rejected: only 5 jobs are allowed per user (current job "
                   "count: $(wc -l <" +
                   dir_.path().string() + "/refusals))\"; false; }";
  open_desk();
  start(1, "true");
  start(2, "true");
  ASSERT_TRUE(hear_until([&] { return returned_.size() == 2; }));
  ASSERT_TRUE(hear_until([&] { return resting_.size() == 2; }));
  EXPECT_TRUE(resting_[0].now);
  EXPECT_NE(resting_[0].why.find("only 5 jobs are allowed"), std::string::npos);
  EXPECT_FALSE(resting_[1].now) << "after a while it is tried again";
  EXPECT_EQ(notices_.size(), 1U);
  EXPECT_GE(said("refusals").size(), 2U);

  ASSERT_TRUE(write_file_atomic(dir_ / "open", ""));
  start(3, "true");
  EXPECT_TRUE(hear_until([&] { return !said("submits").empty(); }));
  EXPECT_FALSE(returned_.contains(3));
  EXPECT_TRUE(ended_.empty());
}

TEST_F(JobDeskTest, WhatNoNodeHasTheMemoryForIsRefusedAndLessIsNot) {
  config_.submit =
      "case '@MEMORY@' in *M) echo 'Memory specification can not be satisfied'; false;; "
      "*) echo @BATCH@ @COUNT@ >>" +
      dir_.path().string() + "/submits; echo 7;; esac";
  open_desk();
  set_queue("7|1|PENDING|Resources|n-2\n");
  start(1, "true", 1, std::uint64_t{64} << 30);
  ASSERT_TRUE(hear_until([&] { return returned_.contains(1); }));
  ASSERT_EQ(refused_.size(), 1U);
  EXPECT_EQ(refused_[0].cores, 1U);
  EXPECT_EQ(refused_[0].memory, std::uint64_t{64} << 30);
  start(2, "true", 1, std::uint64_t{65} << 30);
  start(3, "true");
  EXPECT_TRUE(hear_until([&] { return returned_.contains(2) && said("submits") == "2 1\n"; }));
  EXPECT_FALSE(returned_.contains(3));
}

TEST_F(JobDeskTest, GridEngineSaysBeforehandThatNoHostHasSoManyCores) {
  config_.system = BatchSystem::sge;
  config_.submit =
      "[ @NEW@ -lt 8 ] || { echo 'cannot run because it only offers 0 slots'; echo 'verification: "
      "no "
      "suitable queues'; exit 1; }; echo @BATCH@ @COUNT@ @NEW@ >>" +
      dir_.path().string() + "/submits; echo 7.1-1:1";
  open_desk();
  start(1, "true", 8);
  ASSERT_TRUE(hear_until([&] { return returned_.contains(1); }));
  ASSERT_EQ(refused_.size(), 1U);
  EXPECT_EQ(refused_[0].why, "cannot run because it only offers 0 slots");
  start(2, "true", 2);
  EXPECT_TRUE(hear_until([&] { return said("submits") == "2 1 2\n"; }));
}

TEST_F(JobDeskTest, WhatCanNeverBeSubmittedIsRefusedAndTheRestGoesOn) {
  config_.submit =
      "if [ @CORES@ -ge 8 ]; then echo 'Requested node configuration is not available'; "
      "false; else echo @BATCH@ @COUNT@ >>" +
      dir_.path().string() + "/submits; echo 7; fi";
  open_desk();
  set_queue("7|1|PENDING|Resources|n-2\n");
  start(1, "true", 8);
  ASSERT_TRUE(hear_until([&] { return returned_.contains(1); }));
  ASSERT_EQ(refused_.size(), 1U);
  EXPECT_EQ(refused_[0].cores, 8U);
  EXPECT_EQ(refused_[0].why, "Requested node configuration is not available");
  start(2, "true", 9);  // nobody is asked
  start(3, "true", 2);
  EXPECT_TRUE(hear_until([&] { return returned_.contains(2) && said("submits") == "2 1\n"; }));
  EXPECT_EQ(refused_.size(), 1U);
  EXPECT_FALSE(returned_.contains(3));
}

TEST_F(JobDeskTest, WhatTheBatchSystemTakesButCanNeverStartIsRefused) {
  open_desk();
  set_queue("7|1|PENDING|PartitionConfig|n-1\n7|1|PENDING|ReqNodeNotAvail|n-2\n");
  start(1, "true", 8);
  start(2, "true");
  ASSERT_TRUE(hear_until([&] { return returned_.contains(1) && !said("cancels").empty(); }));
  EXPECT_EQ(said("cancels"), "7_1\n");
  ASSERT_EQ(refused_.size(), 1U);
  EXPECT_EQ(refused_[0].why, "a job as large can never start (PartitionConfig)");
  EXPECT_FALSE(returned_.contains(2));
}

}  // namespace
}  // namespace gantry::agent
