// A snapshot of a run that was replayed, and the events after it, are as good as all events.
#include <rapidcheck.h>

#include <algorithm>

#include "engine/engine_memory_fixture.hpp"

namespace gantry::engine {
namespace {

constexpr std::uint32_t kTasks = 5;
constexpr std::uint32_t kAdded = 2;  ///< in the middle of the journal

TaskReused reused(TaskId task) {
  TaskReused event;
  event.run = OneRun::kId;
  event.task = task;
  return event;
}

/// Any journalled event, also ones that make little sense: ends of attempts nobody heard of,
/// results of tasks that were cancelled, batches that are told twice.
Event any_journalled() {
  const TaskId task(*rc::gen::inRange<std::uint32_t>(1, kTasks + kAdded + 1));
  switch (*rc::gen::inRange(0, 12)) {
    case 0:
      return reused(task);
    case 1:
      return TaskInvalidated{OneRun::kId, task, "", at(0)};
    case 2:
      return CancelRequested{OneRun::kId, *rc::gen::inRange(0, 4) == 0, {task}, at(0)};
    case 3:
      return TasksAdded{OneRun::kId, {NodeId(0), 0, TaskId(kTasks + 1), kAdded}, {}, at(0)};
    case 4:
      return RunClosed{OneRun::kId, at(0)};
    default:
      break;
  }
  AttemptEnded ended;
  ended.report.key = {OneRun::kId, task, AttemptId(*rc::gen::inRange<std::uint32_t>(1, 6))};
  ended.report.cause =
      *rc::gen::element(FailureCause::none, FailureCause::none, FailureCause::exit_code,
                        FailureCause::out_of_memory, FailureCause::cancelled, FailureCause::lost);
  ended.report.started = at(0);
  ended.report.ended = at(0) + std::chrono::milliseconds(*rc::gen::inRange(1, 9000));
  ended.report.usage.max_rss = *rc::gen::inRange<std::uint64_t>(1, 64) * kMebi;
  if (*rc::gen::inRange(0, 2) == 0) ended.report.detail = "limit 32 MiB";
  ended.host = HostId(1);
  return ended;
}

std::vector<StartAttempt> go_on(OneRun& engine) {
  engine.resume();
  engine.apply(HostUp{machine(1, 4, 4096)});
  return started(engine);
}

TEST(EngineRestore, AnyJournalFromAnyPlaceInIt) {
  EXPECT_TRUE(rc::check([] {
    const auto journal = *rc::gen::resize(
        300, rc::gen::container<std::vector<Event>>(rc::gen::exec(any_journalled)));
    const auto kept = journal.begin() + *rc::gen::inRange<std::ptrdiff_t>(
                                            0, static_cast<std::ptrdiff_t>(journal.size()) + 1);
    OneRun whole(learners(kTasks), {});
    std::for_each(journal.begin(), kept, [&](const Event& event) { whole.apply(event); });
    OneRun restored(learners(kTasks), {});
    restored.apply(RunRestored{OneRun::kId, whole.snapshot(OneRun::kId)});
    std::for_each(kept, journal.end(), [&](const Event& event) {
      whole.apply(event);
      restored.apply(event);
    });
    RC_ASSERT(restored.snapshot(OneRun::kId) == whole.snapshot(OneRun::kId));
    const auto expected = go_on(whole);
    const auto starts = go_on(restored);
    RC_ASSERT(starts.size() == expected.size());
    for (std::size_t i = 0; i < starts.size(); ++i) {
      RC_ASSERT(starts[i].key == expected[i].key);
      RC_ASSERT(starts[i].resources == expected[i].resources);
    }
    RC_ASSERT(restored.eta(at(3)) == whole.eta(at(3)));
    RC_ASSERT(restored.finished() == whole.finished());
  }));
}

/// More ends than forecasts remember: the oldest are forgotten in the same order.
TEST(EngineRestore, TheLatestRunTimesCount) {
  constexpr std::uint32_t kMany = 3000;
  const auto end = [](std::uint32_t task) {
    AttemptEnded ended;
    ended.report.key = {OneRun::kId, TaskId(task), AttemptId(1)};
    ended.report.started = at(0);
    ended.report.ended = at(static_cast<int>(task));
    return ended;
  };
  OneRun whole({.count = kMany + 1}, {});
  for (std::uint32_t i = 1; i <= kMany / 2; ++i) whole.apply(end(i));
  OneRun restored({.count = kMany + 1}, {});
  restored.apply(RunRestored{OneRun::kId, whole.snapshot(OneRun::kId)});
  for (std::uint32_t i = kMany / 2 + 1; i <= kMany; ++i) {
    whole.apply(end(i));
    restored.apply(end(i));
  }
  go_on(whole);
  go_on(restored);
  EXPECT_EQ(restored.counts().done, kMany);
  EXPECT_EQ(restored.eta(at(3)), whole.eta(at(3)));
  EXPECT_GT(restored.eta(at(3)).expected, Duration{0});
}

}  // namespace
}  // namespace gantry::engine
