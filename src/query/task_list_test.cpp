#include "query/task_list.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "query/query_fixture.hpp"

namespace gantry::query {
namespace {

using testing::ElementsAre;

/// A run of 300 tasks, more than are looked up one by one: 1 done, 2 failed, 3 cancelled while it
/// ran, 5 done and to be done again, the others never ended.
class TaskList : public QueryTest {
 protected:
  static constexpr std::uint32_t kTasks = 300;

  TaskList() : run_(create_run(kTasks)) {
    end(run_, 1);
    end(run_, 2, 1, FailureCause::exit_code);
    end(run_, 3, 1, FailureCause::cancelled);
    end(run_, 5);
    append(run_, TaskInvalidated{run_, TaskId{5}, "asked to", from_ns(5)});
    count_cancelled(0);
  }

  void count_cancelled(std::uint32_t cancelled) {
    update(run_, store::RunState::open, {.total = kTasks, .cancelled = cancelled});
  }
  std::vector<std::uint32_t> tasks(const TaskFilter& filter) {
    std::vector<std::uint32_t> found;
    EXPECT_TRUE(for_each_task(store_, record(run_), filter,
                              [&](TaskId task, TaskState state, const auto* row) {
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
  append(run_, CancelRequested{run_, false, {TaskId{7}, TaskId{2}, TaskId{999}}, from_ns(6)});
  count_cancelled(2);
  EXPECT_THAT(tasks(only(&TaskFilter::cancelled)), ElementsAre(3, 7));
  append(run_, CancelRequested{run_, true, {}, from_ns(7)});
  end(run_, 8, 1, FailureCause::exit_code);
  count_cancelled(297);
  EXPECT_EQ(tasks(only(&TaskFilter::cancelled)).size(), kTasks - 3U);  // all but 1, 2 and 8
  EXPECT_THAT(tasks(only(&TaskFilter::failed)), ElementsAre(2, 8));
  count_cancelled(0);  // somebody went on with the run
  EXPECT_THAT(tasks(only(&TaskFilter::cancelled)), ElementsAre(3));
}

TEST_F(TaskList, TheAgentTellsWhatRunsOrMay) {
  const auto states = [&](const AgentView& agent) {
    std::vector<TaskState> found;
    EXPECT_TRUE(for_each_task(
        store_, record(run_), {.selector = TaskSelector::parse("1-4").value()},
        [&](TaskId, TaskState state, const auto*) { found.push_back(state); }, agent));
    return found;
  };
  EXPECT_THAT(states({}), ElementsAre(TaskState::done, TaskState::failed, TaskState::cancelled,
                                      TaskState::pending));
  // Task 2 was tried again there, 3 had not begun, 4's outputs were on their way.
  write_live(live_example(run_));
  EXPECT_THAT(
      states(AgentView(dir_.path())),
      ElementsAre(TaskState::done, TaskState::unknown, TaskState::cancelled, TaskState::unknown));
}

}  // namespace
}  // namespace gantry::query
