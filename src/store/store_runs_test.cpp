#include <gmock/gmock.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/database.hpp"
#include "store/run_lock.hpp"
#include "store/store_fixture.hpp"

namespace gantry::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

RunRecord full_record() {
  RunRecord r;
  r.name = "na\xffme";
  r.digest = {0x0123456789abcdef, 0xfedcba9876543210};
  r.source = {true,
              "/p/sweep.yaml",
              std::string("te\0xt\xfe", 6),
              {"--", "./sim", "{}", ":::", "\xff", ""},
              "/p"};
  r.parameter_names = {"seed", "ge\"om"};
  r.result_names = {"pi"};
  r.created = from_ns(1);
  r.updated = from_ns(2);
  r.counts = {6, 5, 4, 3, 2, 1};
  r.eta = {Duration(77), Duration(70), Duration(90)};
  r.pid = 4242;
  return r;
}

void expect_same_run(const RunRecord& a, const RunRecord& b) {
  EXPECT_EQ(a.name, b.name);
  EXPECT_EQ(a.digest, b.digest);
  EXPECT_EQ(a.source.one_liner, b.source.one_liner);
  EXPECT_EQ(a.source.path, b.source.path);
  EXPECT_EQ(a.source.text, b.source.text);
  EXPECT_EQ(a.source.args, b.source.args);
  EXPECT_EQ(a.source.base_dir, b.source.base_dir);
  EXPECT_EQ(a.parameter_names, b.parameter_names);
  EXPECT_EQ(a.result_names, b.result_names);
  EXPECT_EQ(a.state, b.state);
  EXPECT_EQ(a.created, b.created);
  EXPECT_EQ(a.updated, b.updated);
  EXPECT_EQ(a.eta, b.eta);
  EXPECT_EQ(a.pid, b.pid);
  const auto numbers = [](const Counts& c) {
    return std::tie(c.total, c.done, c.reused, c.failed, c.cancelled, c.running);
  };
  EXPECT_EQ(numbers(a.counts), numbers(b.counts));
}

TEST_F(StoreTest, TheLastRunIsTheOneDrivenMostRecently) {
  Store store = open();
  const RunId first = must(store.create_run(full_record()));
  const RunId second = must(store.create_run(full_record()));
  EXPECT_EQ(must(store.last_run())->id, second);
  must(store.mark_driven(first));
  must(store.commit());
  EXPECT_EQ(must(store.last_run())->id, first);
  EXPECT_EQ(must(open(Access::read_only).last_run())->id, first);
  const RunId third = must(store.create_run(full_record()));
  EXPECT_EQ(must(store.last_run())->id, third);
}

TEST_F(StoreTest, RunsThatAreDrivenTogetherAreAllTheLastOnes) {
  Store store = open();
  const RunId first = must(store.create_run(full_record()));
  const RunId second = must(store.create_run(full_record()));
  const RunId third = must(store.create_run(full_record()));
  must(store.mark_driven(second));
  must(store.mark_driven(first));
  must(store.commit());
  const auto order = [&](RunId run) { return must(store.run(run))->driven; };
  EXPECT_LT(order(third), order(second));
  EXPECT_LT(order(second), order(first));
  must(store.mark_driven(third));
  must(store.mark_driven(second));
  must(store.remove_run(third));
  must(store.commit());
  EXPECT_EQ(must(store.last_run())->id, second);
}

TEST_F(StoreTest, KeepsARunRecordExactly) {
  const RunRecord record = full_record();
  {
    Store store = open();
    EXPECT_EQ(must(store.last_run()), std::nullopt);
    EXPECT_EQ(must(store.create_run(record)), RunId(1));
    EXPECT_EQ(must(store.create_run(RunRecord{})), RunId(2));
  }
  Store store = open(Access::read_only);
  expect_same_run(must(store.run(RunId(1))).value(), record);
  expect_same_run(must(store.last_run_with(record.digest)).value(), record);
  expect_same_run(must(store.last_run()).value(), RunRecord{});
  EXPECT_EQ(must(store.run(RunId(3))), std::nullopt);
  EXPECT_EQ(must(store.last_run_with(Digest{5, 5})), std::nullopt);
  const auto runs = must(store.runs());
  ASSERT_THAT(runs, SizeIs(2));
  EXPECT_EQ(runs[0].id, RunId(1));
  EXPECT_EQ(runs[0].source.base_dir, "/p");
  EXPECT_EQ(runs[0].source.args.size(), 0U) << "a list of runs leaves what may be large out";
}

TEST_F(StoreTest, ARunIsCreatedWithItsFirstEventsOrNotAtAll) {
  Store store = open();
  const RunId old = new_run(store);
  must(store.append(old, plain_end(old, 1)));
  must(store.commit());
  int given = 0;
  const auto next = [&](int most) {
    return [&, most](RunId id) -> Result<std::optional<Event>> {
      if (given == 2 && most > 2) return fail(ErrorCode::io, "no more");
      if (given == most) return std::nullopt;
      auto results = must(store.results_of({old, TaskId(1), AttemptId(1)}));
      return TaskReused{id,
                        TaskId(static_cast<std::uint32_t>(++given)),
                        old,
                        TaskId(1),
                        AttemptId(1),
                        {},
                        std::move(results),
                        print_of(1),
                        from_ns(5)};
    };
  };
  EXPECT_FALSE(store.create_run(full_record(), next(3)));
  EXPECT_THAT(must(store.runs()), SizeIs(1));
  given = 0;
  const RunId run = must(store.create_run(full_record(), next(2)));
  EXPECT_THAT(replayed(store, run), SizeIs(2));
  EXPECT_THAT(replayed(store, old), SizeIs(1));
}

TEST_F(StoreTest, ShowsTheLatestUpdateOfTheGroup) {
  Store store = open();
  const RunId run = new_run(store);
  must(store.update_run(run, RunState::open, Counts{.total = 9, .done = 1}, {Duration(5)}, 7,
                        from_ns(100)));
  must(store.update_run(run, RunState::finished, Counts{9, 8, 1, 1, 2, 3},
                        {Duration(6), Duration(4), Duration(8)}, 0, from_ns(200)));
  must(store.commit());
  RunRecord expected = must(open(Access::read_only).run(run)).value();
  EXPECT_EQ(expected.state, RunState::finished);
  EXPECT_EQ(expected.updated, from_ns(200));
  EXPECT_EQ(expected.counts.done, 8U);
  EXPECT_EQ(expected.counts.running, 3U);
  EXPECT_EQ(expected.eta, (Eta{Duration(6), Duration(4), Duration(8)}));
  EXPECT_EQ(expected.pid, 0);
  EXPECT_EQ(expected.created, from_ns(1000)) << "an update leaves the rest alone";
}

TEST_F(StoreTest, ForgetsARemovedRunAndNothingElse) {
  Store store = open();
  const RunId first = new_run(store);
  const RunId second = new_run(store);
  for (std::uint32_t i = 1; i <= 50; ++i) must(store.append(second, plain_end(second, i)));
  must(store.commit());
  const RunId third = new_run(store);  // begins after the second's events
  must(store.append(second, plain_end(second, 51)));
  must(store.append(third, plain_end(third, 1)));
  must(store.remove_run(second));
  must(store.commit());
  must(store.append(first, plain_end(first, 1)));
  must(store.append(third, plain_end(third, 2)));
  must(store.commit());
  EXPECT_THAT(replayed(store, second), IsEmpty());
  EXPECT_EQ(must(store.run(second)), std::nullopt);
  EXPECT_THAT(replayed(store, first), SizeIs(1));
  EXPECT_THAT(replayed(store, third), SizeIs(2))
      << "numbers are given out again, below where the third began";
  EXPECT_EQ(new_run(store), RunId(4)) << "a run's number is not";
  must(store.remove_run(RunId(99)));
}

TEST_F(StoreTest, KeepsOfARemovedRunWhatOthersReferTo) {
  Store store = open();
  const RunId first = new_run(store);
  AttemptEnded large = plain_end(first, 2);
  large.report.out = {100'000, "the end", "run-1/slot-1.out", 7, false};
  must(store.append(first, plain_end(first, 1)));
  must(store.append(first, large));
  must(store.commit());
  const auto copy = [&](RunId to) {
    must(store.append(
        to,
        TaskReused{RunId(1), TaskId(5), first, TaskId(2), AttemptId(1), {}, {}, print_of(2), {}}));
    must(store.commit());
  };
  const RunId second = new_run(store);
  copy(second);
  must(store.remove_run(first));
  EXPECT_EQ(must(store.run(first)), std::nullopt);
  EXPECT_THAT(must(store.history(first, TaskId(1))), IsEmpty());
  const auto kept = must(store.history(first, TaskId(2)));
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_EQ(kept[0].kind, "ended");
  EXPECT_EQ(kept[0].report.out.text, "the end");
  EXPECT_THAT(must(store.packs_of_removed_runs()), ElementsAre("run-1/slot-1.out"));
  EXPECT_EQ(must(must(Database::open(file(), SQLITE_OPEN_READONLY))
                     .string("SELECT group_concat(DISTINCT run) FROM tasks")),
            "2")
      << "a removed run is not shown";

  // A copy of the copy refers to the same attempt, and each of them holds it.
  const std::vector prints{print_of(1), print_of(2)};
  const auto offered = must(store.earlier_results(prints));
  EXPECT_FALSE(offered[0].same);
  ASSERT_TRUE(offered[1].same);
  EXPECT_EQ(offered[1].same->run, first);
  EXPECT_EQ(offered[1].same->attempt, AttemptId(1));
  EXPECT_EQ(offered[1].same->holder(), second);
  const RunId third = new_run(store);
  copy(third);
  must(store.remove_run(second));
  EXPECT_THAT(must(store.history(first, TaskId(2))), SizeIs(1));
  must(store.remove_run(third));
  EXPECT_THAT(must(store.history(first, TaskId(2))), IsEmpty());
  EXPECT_THAT(must(store.packs_of_removed_runs()), IsEmpty());
}

TEST_F(StoreTest, GivesSpaceBack) {
  Store store = open();
  const RunId run = new_run(store);
  for (std::uint32_t i = 1; i <= 3000; ++i) {
    AttemptEnded e = plain_end(run, i);
    e.report.out.text = std::string(5000, 'x');
    must(store.append(run, std::move(e)));
  }
  must(store.commit());
  must(must(Database::open(file(), SQLITE_OPEN_READWRITE))
           .string("PRAGMA wal_checkpoint(TRUNCATE)"));
  ASSERT_GT(std::filesystem::file_size(file()), 10'000'000U);
  must(store.remove_run(run));
  EXPECT_LT(std::filesystem::file_size(file()), 1'000'000U);
}

// Requests.
// ----------------------------------------------------------------------------------------------

TEST_F(StoreTest, HandsRequestsOverOnce) {
  Store driver = open();
  const RunId run = new_run(driver);
  EXPECT_THAT(must(driver.take_requests()), IsEmpty());
  {
    Store other = open();
    must(other.post({0, run, false, {TaskId(3), TaskId(5)}}));
    must(other.post({0, run, true, {}}));
  }
  const auto requests = must(driver.take_requests());
  ASSERT_THAT(requests, SizeIs(2));
  EXPECT_EQ(requests[0].run, run);
  EXPECT_FALSE(requests[0].all);
  EXPECT_THAT(requests[0].tasks, ElementsAre(TaskId(3), TaskId(5)));
  EXPECT_TRUE(requests[1].all);
  EXPECT_GT(requests[1].id, requests[0].id);
  EXPECT_THAT(must(driver.take_requests()), IsEmpty());
  must(open().post({0, run, false, {TaskId(9)}}));
  EXPECT_THAT(must(driver.take_requests()), SizeIs(1));
}

TEST_F(StoreTest, HandsOverWhichSitesAreToJoinAndToLeave) {
  Store driver = open();
  const RunId run = new_run(driver);
  Store other = open();
  must(other.post({.run = run, .join = {"lab", "c 1"}, .grid = "/my grids/grid.yaml"}));
  must(other.post({.run = run, .leave = {"lab"}}));
  EXPECT_FALSE(other.post({.run = run, .leave = {"lab\njoin evil"}}));
  const auto requests = must(driver.take_requests());
  ASSERT_THAT(requests, SizeIs(2));
  EXPECT_THAT(requests[0].join, ElementsAre("lab", "c 1"));
  EXPECT_EQ(requests[0].grid, "/my grids/grid.yaml");
  EXPECT_THAT(requests[0].leave, IsEmpty());
  EXPECT_THAT(requests[0].tasks, IsEmpty());
  EXPECT_THAT(requests[1].join, IsEmpty());
  EXPECT_THAT(requests[1].leave, ElementsAre("lab"));
}

TEST_F(StoreTest, TellsWhoeverPostedARequestWhatBecameOfIt) {
  Store driver = open();
  const RunId run = new_run(driver);
  Store other = open();
  const auto taken = must(other.post({0, run, true, {}}));
  EXPECT_TRUE(must(other.is_waiting(taken)));
  EXPECT_EQ(must(other.cancels_asked(run)), 0);
  EXPECT_THAT(must(driver.take_requests()), SizeIs(1));
  must(driver.append(run, CancelRequested{RunId(1), true, {}, from_ns(5)}));
  EXPECT_TRUE(must(other.is_waiting(taken))) << "not committed yet";
  must(driver.commit());
  EXPECT_FALSE(must(other.is_waiting(taken)));
  EXPECT_FALSE(must(other.withdraw(taken)));
  EXPECT_EQ(must(other.cancels_asked(run)), 1);
  EXPECT_EQ(must(other.cancels_asked(RunId(run.value() + 1))), 0);

  const auto withdrawn = must(other.post({0, run, true, {}}));
  EXPECT_TRUE(must(other.withdraw(withdrawn)));
  EXPECT_THAT(must(driver.take_requests()), IsEmpty());
}

TEST_F(StoreTest, ARequestThatWasNotActedOnComesBackAfterACrash) {
  {
    Store driver = open();
    new_run(driver);
    must(open().post({0, RunId(1), true, {}}));
    ASSERT_THAT(must(driver.take_requests()), SizeIs(1));
    // dies before the commit
  }
  Store driver = open();
  ASSERT_THAT(must(driver.take_requests()), SizeIs(1));
  must(driver.append(RunId(1), CancelRequested{RunId(1), true, {}, from_ns(1)}));
  must(driver.commit());
  Store next = open();
  EXPECT_THAT(must(next.take_requests()), IsEmpty());
  EXPECT_THAT(replayed(next, RunId(1)), SizeIs(1));
}

// File digests.
// ------------------------------------------------------------------------------------------

TEST_F(StoreTest, KnowsAnUnchangedFile) {
  const std::string odd = "/a\xff b";
  const Digest digest{7, 8};
  {
    Store store = open();
    EXPECT_EQ(must(store.known_digest(odd, 1, 2, 3)), std::nullopt);
    must(store.remember_digest(odd, 1, 2, 0xffff'ffff'ffff'ffff, Digest{1, 1}));
    must(store.remember_digest(odd, 1, 2, 3, digest));
    EXPECT_EQ(must(store.known_digest(odd, 1, 2, 3)), digest) << "before the commit too";
    must(store.commit());
    must(store.remember_digest("/other", 1, -2, 3, digest));
    must(store.commit());
  }
  const Store store = open(Access::read_only);
  EXPECT_EQ(must(store.known_digest(odd, 1, 2, 3)), digest);
  EXPECT_EQ(must(store.known_digest("/other", 1, -2, 3)), digest);
  EXPECT_EQ(must(store.known_digest(odd, 9, 2, 3)), std::nullopt);
  EXPECT_EQ(must(store.known_digest(odd, 1, 9, 3)), std::nullopt);
  EXPECT_EQ(must(store.known_digest(odd, 1, 2, 9)), std::nullopt);
  EXPECT_EQ(must(store.known_digest("/a", 1, 2, 3)), std::nullopt);
}

// Readers and writers at once.
// ---------------------------------------------------------------------------

TEST_F(StoreTest, ReadersAndPostersNeverMakeTheDriverFail) {
  {
    Store store = open();
    new_run(store);
  }
  constexpr int kPosts = 15;
  const auto read_and_post = [&] {
    std::size_t seen = 0;
    for (int i = 0; i < kPosts; ++i) {
      const Store reader = open(Access::read_only);
      const std::size_t now = replayed(reader, RunId(1)).size();
      if (now < seen || now % 10 != 0)
        throw std::runtime_error("half a group, or less than before");
      seen = now;
      must(must(reader.last_run()) ? Result<>{} : fail(ErrorCode::io, "no run"));
      must(open().post({0, RunId(1), false, {TaskId(1)}}));
    }
  };
  const RunLock lock = must(RunLock::acquire(directory_.path()));
  // Processes, as in life: SQLite's locks are per process.
  std::vector<pid_t> children;
  for (int i = 0; i < 2; ++i) {
    children.push_back(::fork());
    if (children.back() != 0) continue;
    try {
      read_and_post();
    } catch (const std::exception& e) {
      static_cast<void>(::write(2, e.what(), std::string_view(e.what()).size()));
      ::_exit(1);
    }
    ::_exit(0);
  }
  Store store = open();
  std::uint32_t task = 0;
  std::size_t requests = 0;
  std::size_t alive = children.size();
  while (alive > 0) {
    for (int i = 0; i < 10; ++i) must(store.append(RunId(1), plain_end(RunId(1), ++task)));
    requests += must(store.take_requests()).size();
    must(store.commit());
    ::usleep(2000);
    for (pid_t& child : children) {
      int status = 0;
      if (child == 0 || ::waitpid(child, &status, WNOHANG) == 0) continue;
      EXPECT_EQ(status, 0);
      child = 0;
      --alive;
    }
  }
  requests += must(store.take_requests()).size();
  EXPECT_EQ(requests, children.size() * kPosts);
  EXPECT_THAT(replayed(store, RunId(1)), SizeIs(task));
}

}  // namespace
}  // namespace gantry::store
