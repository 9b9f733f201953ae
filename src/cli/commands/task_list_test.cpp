#include "cli/commands/task_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/scratch_dir.hpp"

namespace gantry::cli {
namespace {

using testing::ElementsAre;

/// A run of 300 tasks, more than are looked up one by one: 1 done, 2 failed, 3 cancelled while it
/// ran, 5 done and to be done again, the others never ended.
class TaskList : public testing::Test {
 protected:
  static constexpr std::uint32_t kTasks = 300;

  TaskList() : store_(open(dir_.path())) {
    store::RunRecord record;
    record.name = "study";
    record.digest = Digest{1, 2};
    record.counts.total = kTasks;
    run_ = store_.create_run(record).value();
    end(1, FailureCause::none);
    end(2, FailureCause::exit_code);
    end(3, FailureCause::cancelled);
    end(5, FailureCause::none);
    append(TaskInvalidated{RunId(1), TaskId{5}, "asked to", from_ns(5)});
    commit(0);
  }

  static store::Store open(const std::filesystem::path& dir) {
    return store::Store::open(dir, store::Access::read_write).value();
  }
  void append(const Event& event) { ASSERT_TRUE(store_.append(run_, event)); }
  void end(std::uint32_t task, FailureCause cause) {
    AttemptEnded ended;
    ended.report.key = {run_, TaskId{task}, AttemptId{1}};
    ended.report.cause = cause;
    append(ended);
  }
  void commit(std::uint32_t cancelled) {
    store::Counts counts;
    counts.total = kTasks;
    counts.cancelled = cancelled;
    ASSERT_TRUE(store_.update_run(run_, store::RunState::open, counts, {}, 0, from_ns(9)));
    ASSERT_TRUE(store_.commit());
  }
  std::vector<std::uint32_t> tasks(const TaskFilter& filter) {
    const auto record = store_.run(run_).value().value();
    std::vector<std::uint32_t> found;
    EXPECT_TRUE(
        for_each_task(store_, record, filter, [&](TaskId task, TaskState state, const auto* row) {
          EXPECT_TRUE(filter.takes(state));
          EXPECT_TRUE(row == nullptr || row->task == task);
          found.push_back(task.value());
        }));
    return found;
  }
  static TaskFilter only(bool TaskFilter::*state, const char* selector = "all") {
    TaskFilter filter;
    filter.*state = true;
    filter.selector = TaskSelector::parse(selector).value();
    return filter;
  }

  ScratchDir dir_;
  store::Store store_;
  RunId run_;
};

TEST_F(TaskList, FindsTasksByState) {
  EXPECT_THAT(tasks(only(&TaskFilter::done)), ElementsAre(1));
  EXPECT_THAT(tasks(only(&TaskFilter::failed)), ElementsAre(2));
  EXPECT_THAT(tasks(only(&TaskFilter::cancelled)), ElementsAre(3));
  EXPECT_EQ(tasks(only(&TaskFilter::pending)).size(), kTasks - 3);
  EXPECT_EQ(tasks({}).size(), kTasks);
}

TEST_F(TaskList, LooksUpAFewTasksAlone) {
  EXPECT_THAT(tasks(only(&TaskFilter::pending, "1-6")), ElementsAre(4, 5, 6));
  EXPECT_THAT(tasks(only(&TaskFilter::done, "2,3")), ElementsAre());
}

TEST_F(TaskList, TasksCancelledBeforeTheyStartedAreCancelled) {
  append(CancelRequested{RunId(1), false, {TaskId{7}, TaskId{2}, TaskId{999}}, from_ns(6)});
  commit(2);
  EXPECT_THAT(tasks(only(&TaskFilter::cancelled)), ElementsAre(3, 7));
  append(CancelRequested{RunId(1), true, {}, from_ns(7)});
  end(8, FailureCause::exit_code);
  commit(297);
  EXPECT_EQ(tasks(only(&TaskFilter::cancelled)).size(), kTasks - 3U);  // all but 1, 2 and 8
  EXPECT_THAT(tasks(only(&TaskFilter::failed)), ElementsAre(2, 8));
  commit(0);  // somebody went on with the run
  EXPECT_THAT(tasks(only(&TaskFilter::cancelled)), ElementsAre(3));
}

}  // namespace
}  // namespace gantry::cli
