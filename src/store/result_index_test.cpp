#include "store/result_index.hpp"

#include <gmock/gmock.h>

#include <map>
#include <optional>
#include <random>

#include "store/store_fixture.hpp"

namespace gantry::store {
namespace {

constexpr std::uint32_t kEnough = 10'000;  ///< events that become a segment

/// Journals that are large enough to be indexed.
class ResultIndexTest : public StoreTest {
 protected:
  /// Ends of tasks nobody asks for: tasks and fingerprints from 1,000,000 on.
  void fill(Store& store, RunId run, std::uint32_t count = kEnough) {
    for (std::uint32_t i = 0; i < count; ++i) {
      AttemptEnded e = plain_end(run, 1'000'000 + filled_++);
      e.parameters.clear();
      must(store.append(run, std::move(e)));
    }
    must(store.commit());
  }
  static std::optional<Reusable> find(const Store& store, std::uint64_t print) {
    const Fingerprint wanted = print_of(print);
    return must(store.earlier_results(std::span(&wanted, 1))).front().same;
  }
  [[nodiscard]] std::int64_t ask(const std::string& sql) const {
    return must(must(Database::open(file(), SQLITE_OPEN_READONLY)).integer(sql));
  }
  [[nodiscard]] std::int64_t segments() const {
    return ask("SELECT count(DISTINCT segment) FROM result_index");
  }

  std::uint32_t filled_ = 0;
};

TEST_F(ResultIndexTest, FewEventsAreReadAndManyAreIndexed) {
  Store store = open();
  const RunId run = new_run(store);
  must(store.append(run, plain_end(run, 1)));
  must(store.commit());
  EXPECT_EQ(find(store, 1)->task, TaskId(1));
  EXPECT_EQ(segments(), 0);
  fill(store, run);
  EXPECT_EQ(find(store, 1)->task, TaskId(1));
  EXPECT_EQ(segments(), 1);
  must(store.append(run, plain_end(run, 2)));
  must(store.commit());
  EXPECT_EQ(find(store, 2)->task, TaskId(2)) << "after the segment";
  EXPECT_EQ(find(store, 1'000'777)->task, TaskId(1'000'777));
  EXPECT_EQ(find(store, 3), std::nullopt);
  EXPECT_EQ(segments(), 1);
  const Store reader = open(Access::read_only);
  EXPECT_EQ(find(reader, 1)->task, TaskId(1));
}

TEST_F(ResultIndexTest, SegmentsAreMergedWithLargerOnes) {
  Store store = open();
  const RunId run = new_run(store);
  std::vector<std::int64_t> counts;
  for (std::uint32_t round = 0; round < 8; ++round) {
    must(store.append(run, plain_end(run, round + 1)));
    fill(store, run);
    EXPECT_EQ(find(store, round + 1)->task, TaskId(round + 1));
    counts.push_back(segments());
  }
  // As of a counter in binary digits: 1, 10, 11, 100 …
  EXPECT_THAT(counts, testing::ElementsAre(1, 1, 2, 1, 2, 2, 3, 1));
  for (std::uint32_t task = 1; task <= 8; ++task) EXPECT_EQ(find(store, task)->task, TaskId(task));
}

TEST_F(ResultIndexTest, AllResultsOfOneCommandAreFound) {
  Store store = open();
  const RunId run = new_run(store);
  for (std::uint32_t task = 1; task <= 5'000; ++task) {
    AttemptEnded e = plain_end(run, task);
    e.fingerprint = print_of(1);
    e.fingerprint.inputs = {task, task};
    must(store.append(run, std::move(e)));
  }
  fill(store, run);
  Fingerprint wanted = print_of(1);
  for (const std::uint32_t task : {1U, 2'048U, 2'049U, 5'000U}) {
    wanted.inputs = {task, task};
    const auto found = must(store.earlier_results(std::span(&wanted, 1))).front();
    EXPECT_EQ(found.same->task, TaskId(task));
    EXPECT_EQ(found.similar->task, TaskId(5'000)) << "the latest";
  }
  EXPECT_EQ(segments(), 1);
}

TEST_F(ResultIndexTest, NumbersOfRemovedEventsAreGivenAgain) {
  Store store = open();
  const RunId first = new_run(store);
  must(store.append(first, plain_end(first, 1)));
  fill(store, first);
  const RunId second = new_run(store);
  must(store.append(second, plain_end(second, 2)));
  fill(store, second);
  EXPECT_EQ(find(store, 2)->run, second);
  must(store.remove_run(second));
  EXPECT_EQ(find(store, 2), std::nullopt);
  const RunId third = new_run(store);
  must(store.append(third, plain_end(third, 3)));
  must(store.commit());
  EXPECT_EQ(find(store, 3)->run, third);
  EXPECT_EQ(find(store, 1)->run, first);
  must(store.remove_run(third));
  must(store.remove_run(first));
  EXPECT_EQ(ask("SELECT count(*) FROM result_index WHERE segment > 0"), 0);
  const RunId last = new_run(store);
  must(store.append(last, plain_end(last, 4)));
  must(store.commit());
  EXPECT_EQ(find(store, 4)->run, last);
}

TEST_F(ResultIndexTest, DamageCostsResultsAtTheMost) {
  {
    Store store = open();
    const RunId run = new_run(store);
    must(store.append(run, plain_end(run, 1)));
    fill(store, run);
    EXPECT_TRUE(find(store, 1));
  }
  const auto db = must(Database::open(file(), SQLITE_OPEN_READWRITE));
  for (const char* damage : {"zeroblob(length(entries))", "randomblob(length(entries))",
                             "randomblob(17)", "zeroblob(0)", "'text'"}) {
    must(db.execute(std::string("UPDATE result_index SET entries = ") + damage));
    Store store = open();
    EXPECT_EQ(find(store, 1), std::nullopt) << damage;
    EXPECT_EQ(find(store, 2), std::nullopt) << damage;
  }
}

/// Against a walk over the whole journal, backwards in time.
TEST_F(ResultIndexTest, AgreesWithTheJournal) {
  std::mt19937 random(17);
  const auto pick = [&](std::uint32_t from, std::uint32_t to) {
    return std::uniform_int_distribution(from, to)(random);
  };
  Store store = open();
  std::vector<RunId> runs;
  for (int i = 0; i < 3; ++i) runs.push_back(new_run(store));
  struct Result {
    TaskKey made_by;
    std::uint64_t print;
    bool stands = true;
  };
  std::vector<Result> results;  // in the order of the journal
  std::map<std::pair<RunId, TaskId>, std::uint32_t> attempts;
  const auto latest = [&](std::uint64_t print) {
    const auto found = std::find_if(results.rbegin(), results.rend(),
                                    [&](const Result& r) { return r.stands && r.print == print; });
    return found == results.rend() ? std::nullopt : std::optional(found->made_by);
  };
  for (int round = 0; round < 40; ++round) {
    if (round % 10 == 5) fill(store, runs[0]);
    for (int i = 0; i < 20; ++i) {
      const RunId run = runs[pick(0, 2)];
      const TaskId task(pick(1, 12));
      const std::uint64_t print = pick(1, 8);
      const std::uint32_t what = pick(0, 9);
      if (what < 6) {
        const std::uint32_t attempt = ++attempts[{run, task}];
        AttemptEnded e = plain_end(run, task.value(), attempt);
        e.fingerprint = print_of(print);
        if (what < 2) e.report.cause = FailureCause::exit_code;
        must(store.append(run, e));
        if (what >= 2) results.push_back({e.report.key, print});
      } else if (what < 8) {
        must(store.append(run, TaskInvalidated{run, task, "asked for", {}}));
        for (Result& r : results)
          if (r.made_by.run == run && r.made_by.task == task) r.stands = false;
      } else if (const auto origin = latest(print); origin && origin->run != run) {
        TaskReused copy;
        copy.task = TaskId(100 + pick(1, 12));
        copy.from_run = origin->run;
        copy.from_task = origin->task;
        copy.from_attempt = origin->attempt;
        copy.fingerprint = print_of(print);
        must(store.append(run, copy));
        results.push_back({*origin, print});
      }
    }
    must(store.commit());
    for (std::uint64_t print = 1; print <= 8; ++print) {
      const auto found = find(store, print);
      const auto expected = latest(print);
      ASSERT_EQ(found.has_value(), expected.has_value()) << round << " " << print;
      if (found) {
        EXPECT_EQ((TaskKey{found->run, found->task, found->attempt}), *expected);
      }
    }
  }
  EXPECT_GE(segments(), 1);
}

}  // namespace
}  // namespace gantry::store
