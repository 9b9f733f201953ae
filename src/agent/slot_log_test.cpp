#include "agent/slot_log.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>

#include "agent/file_limit.hpp"
#include "base/scratch_dir.hpp"

namespace gantry::agent {
namespace {

std::string started(std::uint32_t task) {
  std::string frame;
  encode(frame, Started{{1, task, 1}, 1000 + task});
  return frame;
}

std::string ended(std::uint32_t task, std::size_t output = 10) {
  Ended message;
  message.key = {1, task, 1};
  message.out.text.assign(output, 'o');
  std::string frame;
  encode(frame, 1, message);
  return frame;
}

std::vector<std::uint32_t> ended_tasks(const SlotHistory& history) {
  std::vector<std::uint32_t> tasks;
  for (const auto& body : history.ended) tasks.push_back(peek_ended_key(body)->task);
  return tasks;
}

using Tasks = std::vector<std::uint32_t>;

class SlotLogTest : public ::testing::Test {
 protected:
  SlotLog open() { return SlotLog::open(path_).value(); }
  SlotHistory recover() { return recover_slot_log(path_).value(); }
  /// What a shepherd does for one task.
  static void run_task(SlotLog& log, std::uint32_t task, std::uint64_t safe,
                       std::size_t output = 10) {
    log.begin_task(task, safe);
    ASSERT_TRUE(log.append(started(task)));
    ASSERT_TRUE(log.append(ended(task, output)));
  }
  std::uintmax_t bytes() {
    std::uintmax_t sum = 0;
    for (const auto& entry : std::filesystem::directory_iterator(dir_.path()))
      sum += entry.file_size();
    return sum;
  }

  ScratchDir dir_;
  std::filesystem::path path_ = slot_log_path(dir_.path(), 0);
};

TEST_F(SlotLogTest, TellsWhatEndedAndWhatDidNot) {
  {
    SlotLog log = open();
    run_task(log, 1, 0);
    log.begin_task(2, 0);
    ASSERT_TRUE(log.append(started(2)));
  }
  const auto history = recover();
  EXPECT_EQ(ended_tasks(history), Tasks{1});
  ASSERT_EQ(history.unfinished.size(), 1U);
  EXPECT_EQ(history.unfinished[0].key.task, 2U);
  EXPECT_EQ(history.unfinished[0].started_ns, 1002);
  ASSERT_NE(history.end_of({1, 1, 1}), nullptr);
  EXPECT_EQ(peek_ended_key(*history.end_of({1, 1, 1}))->task, 1U);
  EXPECT_EQ(history.end_of({1, 2, 1}), nullptr);
  EXPECT_TRUE(history.has_begun({1, 1, 1}));
  EXPECT_TRUE(history.has_begun({1, 2, 1}));
  EXPECT_FALSE(history.has_begun({1, 3, 1}));
}

TEST_F(SlotLogTest, NoLogIsAnEmptyHistory) {
  const auto history = recover();
  EXPECT_TRUE(history.ended.empty());
  EXPECT_TRUE(history.unfinished.empty());
  { const SlotLog log = open(); }
  EXPECT_TRUE(recover().ended.empty());
}

TEST_F(SlotLogTest, CutsATornTailAndGoesOnBehindIt) {
  {
    SlotLog log = open();
    run_task(log, 1, 0);
    run_task(log, 2, 0);
  }
  const auto whole = read_file(path_).value();
  const auto one_task = whole.size() - started(2).size() - ended(2).size();
  for (std::size_t size = one_task; size < whole.size(); ++size) {
    ASSERT_TRUE(write_file_atomic(path_, whole.substr(0, size)));
    EXPECT_EQ(ended_tasks(recover()), Tasks{1}) << size;
    SlotLog log = open();
    run_task(log, 3, 0);
    EXPECT_EQ(ended_tasks(recover()), (Tasks{1, 3})) << size;
  }
}

TEST_F(SlotLogTest, ZerosFromAPowerLossAreATornTail) {
  {
    SlotLog log = open();
    run_task(log, 1, 0);
  }
  const auto whole = read_file(path_).value();
  ASSERT_TRUE(write_file_atomic(path_, whole + std::string(5000, '\0')));
  EXPECT_EQ(ended_tasks(recover()), Tasks{1});
  EXPECT_EQ(std::filesystem::file_size(path_), whole.size());
  ASSERT_TRUE(write_file_atomic(path_, std::string(5000, '\0')));
  EXPECT_TRUE(recover().ended.empty());
  EXPECT_EQ(std::filesystem::file_size(path_), 0U);
}

TEST_F(SlotLogTest, RandomContentNeverHurts) {
  EXPECT_TRUE(rc::check([&](const std::string& bytes) {
    std::string log;
    encode(log, Hello{});
    log += started(1) + bytes;
    RC_ASSERT(write_file_atomic(path_, log).has_value());
    const auto history = recover_slot_log(path_);
    RC_ASSERT(history.has_value());
    RC_ASSERT(history->unfinished.size() + history->ended.size() >= 1U);
  }));
}

TEST_F(SlotLogTest, ALogOfAnotherVersionIsLeftAlone) {
  std::string log;
  encode(log, Hello{kProtocolVersion + 1, 0, 0, 0, {}});
  log += "records of another kind";
  ASSERT_TRUE(write_file_atomic(path_, log));
  const auto history = recover_slot_log(path_);
  ASSERT_FALSE(history);
  EXPECT_EQ(history.error().code, ErrorCode::version);
  EXPECT_NE(history.error().message.find(path_.string()), std::string::npos);
  EXPECT_EQ(read_file(path_).value(), log);
}

TEST_F(SlotLogTest, StaysShortAlthoughNeverAllIsAcknowledged) {
  SlotLog log = open();
  std::uintmax_t longest = 0;
  for (std::uint32_t n = 1; n <= 2000; ++n) {
    run_task(log, n, n > 20 ? n - 20 : 0, 1000);  // 2 MB in all
    longest = std::max(longest, bytes());
  }
  EXPECT_LT(longest, std::uintmax_t{3 * SlotLog::kSegment});
  const auto tasks = ended_tasks(recover());
  const std::set<std::uint32_t> kept(tasks.begin(), tasks.end());
  for (std::uint32_t n = 1981; n <= 2000; ++n) EXPECT_TRUE(kept.contains(n)) << n;
  EXPECT_TRUE(std::is_sorted(tasks.begin(), tasks.end()));
}

TEST_F(SlotLogTest, NeverDropsWhatIsNotAcknowledged) {
  EXPECT_TRUE(rc::check([&] {
    remove_slot_log(path_);
    auto log = SlotLog::open(path_).value();
    std::uint32_t safe = 0;
    for (std::uint32_t n = 1; n <= 60; ++n) {
      safe = std::max(safe, *rc::gen::inRange<std::uint32_t>(0, n));
      if (*rc::gen::inRange(0, 10) == 0) log = SlotLog::open(path_).value();  // a new shepherd
      run_task(log, n, safe, 30'000);
    }
    const auto tasks = ended_tasks(recover_slot_log(path_).value());
    const std::set<std::uint32_t> kept(tasks.begin(), tasks.end());
    for (std::uint32_t n = safe + 1; n <= 60; ++n) RC_ASSERT(kept.contains(n));
  }));
}

TEST_F(SlotLogTest, GrowsWithoutAcknowledgementsAndLosesNothing) {
  SlotLog log = open();
  for (std::uint32_t n = 1; n <= 100; ++n) run_task(log, n, 0, 30'000);
  EXPECT_EQ(recover().ended.size(), 100U);
}

TEST_F(SlotLogTest, AFullDiskLeavesNoHalfRecords) {
  SlotLog log = open();
  run_task(log, 1, 0);
  {
    const FileLimit limit(std::filesystem::file_size(path_) + 100);
    log.begin_task(2, 0);
    EXPECT_TRUE(log.append(started(2)));
    EXPECT_FALSE(log.append(ended(2, 1000)));
  }
  EXPECT_TRUE(log.append(ended(2, 20)));
  EXPECT_EQ(ended_tasks(recover()), (Tasks{1, 2}));
}

TEST_F(SlotLogTest, FindsTheSlotsThatHaveALog) {
  EXPECT_TRUE(logged_slots(dir_.path()).empty());
  EXPECT_TRUE(logged_slots(dir_ / "missing").empty());
  for (const char* name : {"slot-3.log", "slot-10.log.old", "slot-3.log.old", "slot-0.log",
                           "slot-.log", "slot-x.log", "slot-1.txt", "slot--1.log", "unsaved.log",
                           "slot-4294967295.log", "slot-99999999999999999999.log"}) {
    ASSERT_TRUE(write_file_atomic(dir_ / name, ""));
  }
  EXPECT_EQ(logged_slots(dir_.path()), (std::vector<unsigned>{0, 3, 10}));
  remove_slot_log(slot_log_path(dir_.path(), 3));
  EXPECT_EQ(logged_slots(dir_.path()), (std::vector<unsigned>{0, 10}));
}

}  // namespace
}  // namespace gantry::agent
