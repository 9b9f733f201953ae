#include "store/store.hpp"

#include <gmock/gmock.h>

#include "store/store_fixture.hpp"

namespace gantry::store {
namespace {

using namespace std::string_literals;

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const std::string kHostile = "a\0\xff\xfe\"\\\n\x1b[31m'; DROP TABLE events; --$(x)"s;

AttemptEnded hostile_end(RunId run) {
  AttemptEnded e;
  e.report.key = {run, TaskId(4'000'000'000), AttemptId(3'000'000'000)};
  e.report.cause = FailureCause::signal;
  e.report.code = -11;
  e.report.detail = kHostile;
  e.report.started = from_ns(-5);
  e.report.ended = from_ns(1'700'000'000'123'456'789);
  e.report.usage = {Duration(7), Duration(8), 0xffff'ffff'ffff'ffff};
  e.report.out = {0xffff'ffff'ffff'fff0, kHostile, kHostile, 0x8000'0000'0000'0001, true};
  e.report.err = {5, "12345", "", 0, false};
  e.host = HostId(7);
  e.host_name = kHostile;
  e.parameters = {
      {"p", kHostile}, {kHostile, "1"}, {"n", "007"}, {"big", std::string(100'000, 'x')}};
  e.results = {{"r", "1e3"}, {"", ""}, {"bad", "\x80"}};
  e.fingerprint = {Digest{1, 0}, Digest{0, 0}, Digest{0xffff'ffff'ffff'ffff, 3}};
  return e;
}

void expect_same(const AttemptReport& a, const AttemptReport& b) {
  EXPECT_EQ(a.key, b.key);
  EXPECT_EQ(a.cause, b.cause);
  EXPECT_EQ(a.code, b.code);
  EXPECT_EQ(a.detail, b.detail);
  EXPECT_EQ(a.started, b.started);
  EXPECT_EQ(a.ended, b.ended);
  EXPECT_EQ(a.usage.user, b.usage.user);
  EXPECT_EQ(a.usage.system, b.usage.system);
  EXPECT_EQ(a.usage.max_rss, b.usage.max_rss);
  for (const auto& [x, y] : {std::pair(&a.out, &b.out), std::pair(&a.err, &b.err)}) {
    EXPECT_EQ(x->size, y->size);
    EXPECT_EQ(x->pack, y->pack);
    EXPECT_EQ(x->offset, y->offset);
    EXPECT_EQ(x->truncated, y->truncated);
  }
}

TEST_F(StoreTest, KeepsAnEndWithHostileBytesExactly) {
  Store store = open();
  const RunId run = new_run(store);
  const AttemptEnded e = hostile_end(run);
  must(store.append(run, e));
  must(store.commit());
  const auto events = replayed(store, run);
  ASSERT_THAT(events, SizeIs(1));
  const auto& back = std::get<AttemptEnded>(events[0]);
  EXPECT_EQ(back.report.key, e.report.key);
  EXPECT_EQ(back.report.cause, e.report.cause);
  EXPECT_EQ(back.report.code, e.report.code);
  EXPECT_EQ(back.report.started, e.report.started);
  EXPECT_EQ(back.report.ended, e.report.ended);
  EXPECT_EQ(back.report.usage.max_rss, e.report.usage.max_rss);
  EXPECT_EQ(back.host, e.host);
  EXPECT_EQ(back.fingerprint, e.fingerprint);
  const auto row = must(store.task(run, e.report.key.task));
  ASSERT_TRUE(row);
  EXPECT_EQ(row->host, e.host_name);
  EXPECT_EQ(row->detail, e.report.detail);
  EXPECT_EQ(row->parameters, e.parameters);
  EXPECT_EQ(row->results, e.results);
  const auto history = must(store.history(run, e.report.key.task));
  ASSERT_THAT(history, SizeIs(1));
  expect_same(history[0].report, e.report);
  EXPECT_EQ(history[0].report.out.text, e.report.out.text);
  EXPECT_EQ(history[0].report.err.text, e.report.err.text);
}

TEST_F(StoreTest, ReplaysTheOtherEventsInOrderAndIgnoresWhatIsNotJournalled) {
  Store store = open();
  const RunId run = new_run(store);
  const RunId other = new_run(store, "other");
  const TaskReused reused{RunId(1),        TaskId(2),    RunId(9),    TaskId(8),  AttemptId(7),
                          {{"a", "\xff"}}, {{"b", "2"}}, print_of(5), from_ns(50)};
  must(store.append(run, HostUp{}));
  must(store.append(run, DrainRequested{RunId(1), "x"}));
  must(store.append(run, reused));
  must(store.append(other, plain_end(other, 1)));
  must(store.append(run, TaskInvalidated{RunId(1), TaskId(2), kHostile, from_ns(60)}));
  must(store.append(
      run, CancelRequested{RunId(1), false, {TaskId(1), TaskId(4'294'967'295)}, from_ns(70)}));
  must(store.append(run, CancelRequested{RunId(1), true, {}, from_ns(80)}));
  must(store.append(run, CancelRequested{RunId(1), false, {}, from_ns(90)}));
  must(store.commit());

  const auto events = replayed(store, run);
  ASSERT_THAT(events, SizeIs(5));
  const auto& r = std::get<TaskReused>(events[0]);
  EXPECT_EQ(
      std::tie(r.task, r.from_run, r.from_task, r.from_attempt, r.at),
      std::tie(reused.task, reused.from_run, reused.from_task, reused.from_attempt, reused.at));
  EXPECT_EQ(r.fingerprint, reused.fingerprint);
  const auto& i = std::get<TaskInvalidated>(events[1]);
  EXPECT_EQ(i.task, TaskId(2));
  EXPECT_EQ(i.reason, kHostile);
  EXPECT_EQ(i.at, from_ns(60));
  const auto& some = std::get<CancelRequested>(events[2]);
  EXPECT_FALSE(some.all);
  EXPECT_THAT(some.tasks, ElementsAre(TaskId(1), TaskId(4'294'967'295)));
  EXPECT_TRUE(std::get<CancelRequested>(events[3]).all);
  EXPECT_FALSE(std::get<CancelRequested>(events[4]).all);
  EXPECT_EQ(replayed(store, other).size(), 1U);
}

TEST_F(StoreTest, RecordsAnEndOnceHoweverOftenItIsReported) {
  {
    Store store = open();
    const RunId run = new_run(store);
    must(store.append(run, plain_end(run, 1)));
    must(store.append(run, plain_end(run, 1)));  // in the same group
    must(store.commit());
    AttemptEnded late = plain_end(run, 1);
    late.report.cause = FailureCause::lost;
    must(store.append(run, late));  // in a later one
    must(store.append(run, plain_end(run, 1, 2)));
    must(store.commit());
  }
  Store store = open();
  must(store.append(RunId(1), plain_end(RunId(1), 1, 2)));  // by another process
  must(store.commit());
  const auto events = replayed(store, RunId(1));
  ASSERT_THAT(events, SizeIs(2));
  EXPECT_EQ(std::get<AttemptEnded>(events[0]).report.cause, FailureCause::none)
      << "the first report counts";
  EXPECT_EQ(std::get<AttemptEnded>(events[1]).report.key.attempt, AttemptId(2));
}

TEST_F(StoreTest, NothingCountsBeforeTheCommit) {
  Store store = open();
  const RunId run = new_run(store);
  must(store.append(run, plain_end(run, 1)));
  must(store.update_run(run, RunState::finished, {}, {}, 0, from_ns(5)));
  EXPECT_THAT(replayed(store, run), IsEmpty());
  Store reader = open(Access::read_only);
  EXPECT_THAT(replayed(reader, run), IsEmpty());
  EXPECT_EQ(must(reader.run(run))->state, RunState::open);
  must(store.commit());
  EXPECT_THAT(replayed(reader, run), SizeIs(1));
  EXPECT_EQ(must(reader.run(run))->state, RunState::finished);
}

}  // namespace
}  // namespace gantry::store
