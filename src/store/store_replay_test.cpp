#include <gmock/gmock.h>

#include "store/database.hpp"
#include "store/store_fixture.hpp"

namespace gantry::store {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

constexpr std::uint32_t kMany = 100;

class StoreReplay : public StoreTest {
 protected:
  static std::vector<Event> all(const Store& store, RunId run, std::int64_t after = 0) {
    std::vector<Event> events;
    must(store.replay(
        run, [&](const Event& e) { events.push_back(e); }, after));
    return events;
  }
  static void end_tasks(Store& store, RunId run, std::uint32_t first, std::uint32_t last) {
    for (std::uint32_t task = first; task <= last; ++task)
      must(store.append(run, plain_end(run, task)));
    must(store.commit());
  }
  /// As an engine would make it of `tasks` tasks that are done.
  static SnapshotContent content_of(std::uint32_t tasks) {
    SnapshotContent content;
    content.state.closed = true;
    content.state.tasks.assign(tasks, {1, TaskStanding::done});
    content.state.run_times = {{TaskId(3), Duration(-1)}, {TaskId(2), Duration(1'500'000'000)}};
    content.state.unheard = {{TaskId(2), AttemptId(7)}};
    content.prints.assign(tasks, 17);
    return content;
  }
  void execute(const std::string& sql) {
    must(must(Database::open(file(), SQLITE_OPEN_READWRITE)).execute(sql));
  }
};

TEST_F(StoreReplay, ABatchComesBackWithItsPoints) {
  Store store = open();
  const RunId run = new_run(store);
  const TasksAdded first{run,
                         {NodeId(0), 0, TaskId(1), 7},
                         EnumeratedPoints{{0xfedc'ba98, 2}, {{3, 5}, {0, 2}}},
                         from_ns(5)};
  const TasksAdded second{run,
                          {NodeId(4), 3, TaskId(8), 2},
                          ListedPoints{{{"a", "\xff\n\""}, {"", std::string(3, '\0')}}},
                          from_ns(6)};
  must(store.append(run, first));
  must(store.append(run, RunClosed{run, from_ns(7)}));
  must(store.append(run, second));
  must(store.append(run, TasksAdded{run, {NodeId(4), 4, TaskId(10), 0}, ListedPoints{}, {}}));
  must(store.commit());
  const auto events = all(store, run);
  ASSERT_THAT(events, SizeIs(4));
  for (const auto& [expected, index] : {std::pair(&first, 0), std::pair(&second, 2)}) {
    const auto& back = std::get<TasksAdded>(events[static_cast<std::size_t>(index)]);
    EXPECT_EQ(back.run, run);
    EXPECT_EQ(back.batch, expected->batch);
    EXPECT_EQ(back.points, expected->points);
    EXPECT_EQ(back.at, expected->at);
  }
  EXPECT_EQ(std::get<RunClosed>(events[1]).at, from_ns(7));
  EXPECT_EQ(std::get<TasksAdded>(events[3]).points, Points(ListedPoints{}));
}

TEST_F(StoreReplay, RunsOfOlderGantriesAreOneBatch) {
  Store store = open();
  const RunId run = new_run(store);  // of 10 tasks
  end_tasks(store, run, 1, 1);
  auto events = all(store, run);
  ASSERT_THAT(events, SizeIs(3));
  EXPECT_EQ(std::get<TasksAdded>(events[0]).batch, (Batch{NodeId(0), 0, TaskId(1), 10}));
  EXPECT_TRUE(std::holds_alternative<RunClosed>(events[1]));

  must(store.append(run, TasksAdded{run, {NodeId(0), 0, TaskId(11), 2}, EnumeratedPoints{}, {}}));
  must(store.update_run(run, RunState::open, {12, 1, 0, 0, 0, 0}, {}, 0, {}));
  must(store.commit());
  events = all(store, run);
  ASSERT_THAT(events, SizeIs(4));
  EXPECT_EQ(std::get<TasksAdded>(events[0]).batch.count, 10U);
  EXPECT_EQ(std::get<TasksAdded>(events[3]).batch.first, TaskId(11));
}

TEST_F(StoreReplay, DamagedBatchesAreReported) {
  Store store = open();
  const RunId run = new_run(store);
  must(store.append(run, TasksAdded{run, {NodeId(0), 0, TaskId(1), 2}, EnumeratedPoints{}, {}}));
  must(store.commit());
  for (const char* data :
       {"", "[]", "7", "{", "{\"node\":0}", "{\"node\":-1,\"iteration\":0,\"first\":1,\"count\":2}",
        "{\"node\":0,\"iteration\":0,\"first\":1,\"count\":2}",
        "{\"node\":0,\"iteration\":0,\"first\":1,\"count\":4294967296,\"sweep\":\"\",\"points\":[]"
        "}",
        "{\"node\":0,\"iteration\":0,\"first\":1,\"count\":2,\"sweep\":\"0\",\"points\":[[1]]}"}) {
    execute(std::string("UPDATE events SET data = '") + data + "' WHERE kind = 'added'");
    const auto result = store.replay(run, [](const Event&) {});
    ASSERT_FALSE(result) << data;
    EXPECT_EQ(result.error().code, ErrorCode::corrupt) << data;
  }
}

TEST_F(StoreReplay, ASnapshotSparesTheEventsBeforeIt) {
  RunId run;
  {
    Store store = open();
    run = new_run(store);
    EXPECT_FALSE(must(store.snapshot(run)));
    end_tasks(store, run, 1, kMany);
    must(store.keep_snapshot(run, content_of(kMany)));
    end_tasks(store, run, kMany + 1, kMany + 1);
  }
  Store store = open();
  const auto first = must(store.snapshot(run));
  ASSERT_TRUE(first);
  EXPECT_EQ(first->content.state, content_of(kMany).state);
  EXPECT_EQ(first->content.prints, content_of(kMany).prints);
  const auto rest = all(store, run, first->seq);
  ASSERT_THAT(rest, SizeIs(1));
  EXPECT_EQ(std::get<AttemptEnded>(rest[0]).report.key.task, TaskId(kMany + 1));

  must(store.keep_snapshot(run, content_of(kMany + 1)));
  const auto next = must(store.snapshot(run));
  EXPECT_EQ(next->content.state, content_of(kMany + 1).state);
  EXPECT_THAT(all(store, run, next->seq), SizeIs(0));
}

TEST_F(StoreReplay, PrintsAreOfTheLatestSuccesses) {
  Prints prints(5);
  note_print(plain_end(RunId(1), 4), prints);
  AttemptEnded failed = plain_end(RunId(1), 4, 2);
  failed.report.cause = FailureCause::exit_code;
  failed.fingerprint = print_of(44);
  note_print(failed, prints);
  TaskReused reused;
  reused.task = TaskId(5);
  reused.fingerprint = print_of(55);
  note_print(reused, prints);
  note_print(plain_end(RunId(1), 6), prints);  // of no task that it knows
  EXPECT_THAT(prints, ElementsAre(0, 0, 0, brief(print_of(4)), brief(print_of(55))));
}

TEST_F(StoreReplay, ADamagedSnapshotIsReported) {
  Store store = open();
  const RunId run = new_run(store);
  end_tasks(store, run, 1, kMany);
  must(store.keep_snapshot(run, content_of(kMany)));
  for (const char* data : {"substr(data, 1, length(data) - 1)",
                           "substr(data, 1, 40) || x'ee' || substr(data, 42)", "x''"}) {
    execute("CREATE TABLE whole AS SELECT data FROM snapshots");
    execute(std::string("UPDATE snapshots SET data = ") + data);
    const auto damaged = store.snapshot(run);
    ASSERT_FALSE(damaged) << data;
    EXPECT_EQ(damaged.error().code, ErrorCode::corrupt) << data;
    execute("UPDATE snapshots SET data = (SELECT data FROM whole); DROP TABLE whole");
    EXPECT_TRUE(must(store.snapshot(run)));
  }
}

TEST_F(StoreReplay, NumbersOfRemovedEventsDoNotHideBehindASnapshot) {
  Store store = open();
  const RunId first = new_run(store);
  end_tasks(store, first, 1, 1);
  const RunId second = new_run(store);
  end_tasks(store, second, 1, kMany);
  must(store.keep_snapshot(first, content_of(1)));
  must(store.remove_run(second));
  EXPECT_FALSE(must(store.snapshot(second)));
  must(store.append(first, plain_end(first, 2)));
  must(store.commit());
  const auto snapshot = must(store.snapshot(first));
  ASSERT_TRUE(snapshot);
  EXPECT_THAT(all(store, first, snapshot->seq), SizeIs(1));
}

TEST_F(StoreReplay, SeveralRunsComeInTheJournalsOrderEachFromItsOwnPlace) {
  Store store = open();
  const RunId first = new_run(store);
  const RunId other = new_run(store);
  const RunId second = new_run(store);
  for (std::uint32_t task = 1; task <= 3; ++task)
    for (const RunId run : {first, other, second}) end_tasks(store, run, task, task);
  const std::int64_t since = must(store.last_event());
  end_tasks(store, second, 4, 4);
  end_tasks(store, first, 4, 4);
  std::vector<std::pair<RunId, std::uint32_t>> ends;
  const Store::ReplayFrom wanted[] = {{second, 0}, {first, since}};
  must(store.replay(wanted, [&](RunId run, const Event& event) {
    if (const auto* ended = std::get_if<AttemptEnded>(&event)) {
      EXPECT_EQ(ended->report.key.run, run);
      ends.emplace_back(run, ended->report.key.task.value());
    }
  }));
  EXPECT_THAT(ends, ElementsAre(std::pair(second, 1U), std::pair(second, 2U), std::pair(second, 3U),
                                std::pair(second, 4U), std::pair(first, 4U)));
}

}  // namespace
}  // namespace gantry::store
