#include <gmock/gmock.h>

#include "store/database.hpp"
#include "store/store_fixture.hpp"

namespace gantry::store {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

AttemptEnded failed_end(RunId run, std::uint32_t task, std::uint32_t attempt) {
  AttemptEnded e = plain_end(run, task, attempt);
  e.report.cause = FailureCause::exit_code;
  e.report.code = 3;
  e.results.clear();
  return e;
}

class StoreQueries : public StoreTest {
 protected:
  /// One run with a task of each sort.
  void SetUp() override {
    run_ = new_run(store_);
    const auto add = [&](Event e) { must(store_.append(run_, std::move(e))); };
    add(plain_end(run_, 4));
    add(failed_end(run_, 1, 1));
    add(failed_end(run_, 1, 2));
    add(plain_end(run_, 3));
    add(TaskReused{RunId(1),
                   TaskId(2),
                   RunId(7),
                   TaskId(8),
                   AttemptId(9),
                   {{"seed", "2"}},
                   {{"pi", "3"}},
                   print_of(2),
                   from_ns(50)});
    add(CancelRequested{RunId(1), false, {TaskId(1), TaskId(4)}, from_ns(60)});
    add(TaskInvalidated{RunId(1), TaskId(3), "input mesh.dat changed", from_ns(70)});
    add(plain_end(run_, 1, 3));
    add(TaskInvalidated{RunId(1), TaskId(9), "never ended", from_ns(80)});
    AttemptEnded cancelled = plain_end(run_, 5);
    cancelled.report.cause = FailureCause::cancelled;
    add(std::move(cancelled));
    must(store_.commit());
  }
  /// The fingerprints from 1 to 9 that there is a result for, and where it is.
  std::vector<std::string> reusable_list(RunId except) {
    std::vector<Fingerprint> prints;
    for (std::uint64_t n = 1; n <= 9; ++n) prints.push_back(print_of(n));
    std::vector<std::string> list;
    const auto earlier = must(store_.earlier_results(prints, except));
    for (std::size_t i = 0; i < prints.size(); ++i) {
      if (!earlier[i].same) continue;
      const Reusable& r = *earlier[i].same;
      list.push_back(std::to_string(i + 1) + ":" + std::to_string(r.run.value()) + "/" +
                     std::to_string(r.task.value()) + "/" + std::to_string(r.attempt.value()));
    }
    return list;
  }

  Store::Earlier earlier(const Fingerprint& print) {
    return must(store_.earlier_results(std::span(&print, 1))).front();
  }

  Store store_ = open();
  RunId run_;
};

TEST_F(StoreQueries, GivesTheLatestOfEachTaskInOrder) {
  std::vector<TaskRow> rows;
  must(store_.for_each_task(run_, [&](const TaskRow& row) { rows.push_back(row); }));
  ASSERT_THAT(rows, SizeIs(5));
  for (std::uint32_t i = 0; i < 5; ++i) EXPECT_EQ(rows[i].task, TaskId(i + 1));
  EXPECT_EQ(rows[0].attempt, AttemptId(3));
  EXPECT_EQ(rows[0].cause, FailureCause::none);
  EXPECT_FALSE(rows[0].invalidated);
  EXPECT_EQ(rows[0].host, "here");
  EXPECT_EQ(rows[0].stdout_size, 3U);
  EXPECT_EQ(rows[0].usage.max_rss, 4096U);
  EXPECT_TRUE(rows[1].reused);
  EXPECT_EQ(rows[1].attempt, AttemptId(9));
  EXPECT_THAT(rows[1].results, ElementsAre(std::pair("pi", "3")));
  EXPECT_TRUE(rows[2].invalidated);
  EXPECT_FALSE(rows[3].reused);
  EXPECT_EQ(rows[4].cause, FailureCause::cancelled);
}

TEST_F(StoreQueries, GivesOneTask) {
  EXPECT_EQ(must(store_.task(run_, TaskId(1)))->attempt, AttemptId(3));
  EXPECT_TRUE(must(store_.task(run_, TaskId(3)))->invalidated);
  EXPECT_EQ(must(store_.task(run_, TaskId(6))), std::nullopt);
  EXPECT_EQ(must(store_.task(run_, TaskId(9))), std::nullopt) << "never ended";
  EXPECT_EQ(must(store_.task(run_, TaskId(0))), std::nullopt);
  EXPECT_EQ(must(store_.task(RunId(5), TaskId(1))), std::nullopt);
  must(store_.append(run_, plain_end(run_, 3, 2)));
  must(store_.commit());
  EXPECT_FALSE(must(store_.task(run_, TaskId(3)))->invalidated) << "ran again";
}

TEST_F(StoreQueries, TellsATasksHistory) {
  const auto kinds = [&](std::uint32_t task) {
    std::vector<std::string> list;
    for (const HistoryRow& row : must(store_.history(run_, TaskId(task)))) list.push_back(row.kind);
    return list;
  };
  EXPECT_THAT(kinds(1), ElementsAre("ended", "ended", "cancel asked", "ended"));
  EXPECT_THAT(kinds(2), ElementsAre("reused"));
  EXPECT_THAT(kinds(3), ElementsAre("ended", "invalidated"));
  EXPECT_THAT(kinds(4), ElementsAre("ended")) << "a cancel request leaves a done task alone";
  EXPECT_THAT(kinds(77), IsEmpty());
  const auto rows = must(store_.history(run_, TaskId(1)));
  EXPECT_EQ(rows[1].attempt, AttemptId(2));
  EXPECT_EQ(rows[1].report.code, 3);
  EXPECT_EQ(rows[1].report.out.text, "ok\n");
  EXPECT_EQ(rows[2].at, from_ns(60));
  EXPECT_EQ(rows[3].fingerprint, print_of(1));
  EXPECT_EQ(must(store_.history(run_, TaskId(2)))[0].text, "run 7, task 8, attempt 9");
  EXPECT_EQ(must(store_.history(run_, TaskId(3)))[1].text, "input mesh.dat changed");
}

TEST_F(StoreQueries, OffersTheLatestSuccessesForReuse) {
  // Not task 3, whose result was taken back, nor the failed and the cancelled. Run 7, which task 2
  // was copied from, does not exist: the copy stands for itself.
  EXPECT_THAT(reusable_list(RunId{}), ElementsAre("1:1/1/3", "2:1/2/0", "4:1/4/1"));
  EXPECT_THAT(reusable_list(run_), IsEmpty());

  const RunId second = new_run(store_);
  must(store_.append(
      second,
      TaskReused{RunId(1), TaskId(40), run_, TaskId(4), AttemptId(1), {}, {}, print_of(4), {}}));
  must(store_.append(second, plain_end(second, 1)));
  must(store_.append(run_, plain_end(run_, 3, 2)));
  must(store_.commit());
  EXPECT_THAT(reusable_list(RunId{}), ElementsAre("1:2/1/1", "2:1/2/0", "3:1/3/2", "4:1/4/1"));
  EXPECT_THAT(reusable_list(run_), ElementsAre("1:2/1/1"))
      << "nor what only came from the run itself";
}

TEST_F(StoreQueries, ACopyHasTheValuesOfItsOwnRun) {
  const RunId second = new_run(store_);
  must(store_.append(second, TaskReused{RunId(1),
                                        TaskId(40),
                                        run_,
                                        TaskId(4),
                                        AttemptId(1),
                                        {},
                                        {{"tau", "6.28"}},
                                        print_of(4),
                                        {}}));
  must(store_.commit());
  const auto copy = earlier(print_of(4)).same;
  ASSERT_TRUE(copy);
  EXPECT_EQ(copy->run, run_) << "whose output it is";
  EXPECT_EQ(copy->holder(), second);
  EXPECT_THAT(must(store_.results_of(*copy)), ElementsAre(std::pair("tau", "6.28")));
}

TEST_F(StoreQueries, OffersWhatRanWellAndCouldNotBeRead) {
  AttemptEnded unread = plain_end(run_, 6);
  unread.report.cause = FailureCause::missing_result;
  must(store_.append(run_, unread));
  must(store_.commit());
  const auto found = earlier(print_of(6));
  ASSERT_TRUE(found.same);
  EXPECT_TRUE(found.same->unread);
  EXPECT_FALSE(found.similar) << "it has no values";
}

TEST_F(StoreQueries, OffersWhatHadOtherInputsAsSimilar) {
  Fingerprint other = print_of(4);
  other.inputs = {77, 77};
  EXPECT_FALSE(earlier(other).same);
  ASSERT_TRUE(earlier(other).similar);
  EXPECT_EQ(earlier(other).similar->task, TaskId(4));
  AttemptEnded meanwhile = plain_end(run_, 8);  // its inputs changed while it ran
  meanwhile.fingerprint.inputs = {};
  must(store_.append(run_, meanwhile));
  must(store_.commit());
  EXPECT_FALSE(earlier(meanwhile.fingerprint).same);
  EXPECT_TRUE(earlier(meanwhile.fingerprint).similar);
  other.environment = {77, 77};
  EXPECT_FALSE(earlier(other).similar);
}

TEST_F(StoreQueries, DoesNotOfferACopyOfAResultThatWasTakenBack) {
  const RunId second = new_run(store_);
  must(store_.append(
      second,
      TaskReused{RunId(1), TaskId(40), run_, TaskId(4), AttemptId(1), {}, {}, print_of(4), {}}));
  must(store_.append(run_, TaskInvalidated{RunId(1), TaskId(4), "retry asked for", {}}));
  must(store_.commit());
  EXPECT_THAT(reusable_list(RunId{}), ElementsAre("1:1/1/3", "2:1/2/0"));
}

TEST_F(StoreQueries, GivesTheResultsOfWhatItOffers) {
  EXPECT_THAT(must(store_.results_of({run_, TaskId(4), AttemptId(1)})),
              ElementsAre(std::pair("pi", "3.14")));
  EXPECT_THAT(must(store_.results_of({run_, TaskId(2), AttemptId(0)})),
              ElementsAre(std::pair("pi", "3")));
  AttemptEnded odd = plain_end(run_, 60);
  odd.results = {{"r", "\xff"}};
  must(store_.append(run_, odd));
  must(store_.commit());
  EXPECT_THAT(must(store_.results_of({run_, TaskId(60), AttemptId(1)})),
              ElementsAre(std::pair("r", "\xff")));
  EXPECT_FALSE(store_.results_of({run_, TaskId(4), AttemptId(2)}));
  EXPECT_FALSE(store_.results_of({RunId(9), TaskId(4), AttemptId(1)}));
}

// What people see with SQL.
// ------------------------------------------------------------------------------

class StoreViews : public StoreQueries {
 protected:
  std::string sql(const std::string& query) {
    return must(must(Database::open(file(), SQLITE_OPEN_READONLY)).string(query));
  }
};

TEST_F(StoreViews, ShowTasksAndResults) {
  EXPECT_EQ(sql("SELECT group_concat(task || ' ' || state || ' ' || attempt, ', ') FROM "
                "(SELECT * FROM tasks WHERE run = 1 ORDER BY task)"),
            "1 done 3, 2 done 9, 3 pending 1, 4 done 1, 5 cancelled 1");
  EXPECT_EQ(sql("SELECT cause || ' ' || seconds || ' ' || started || ' ' || stdout FROM tasks "
                "WHERE task = 5"),
            "cancelled 1.5 2023-11-14T22:13:20.000Z ok\n");
  EXPECT_EQ(sql("SELECT group_concat(task) FROM results WHERE run = 1 AND results->>'pi' > 3.1"),
            "1,4")
      << "numbers compare as numbers";
  EXPECT_EQ(sql("SELECT sum(parameters->>'seed') FROM results WHERE run = 1"), "7");
}

TEST_F(StoreViews, FindOneTaskByTheIndex) {
  const Database db = must(Database::open(file(), SQLITE_OPEN_READONLY));
  Statement s =
      must(db.prepare("EXPLAIN QUERY PLAN SELECT * FROM tasks WHERE run = 1 AND task = 4"));
  std::string all;
  while (must(s.step())) all += s.skip(3).string() + "\n";
  EXPECT_THAT(all, testing::HasSubstr("events_by_task (run=? AND task=?)"));
  EXPECT_THAT(all, testing::Not(testing::HasSubstr("SCAN events")));
}

TEST_F(StoreViews, StayValidWhateverTasksPrint) {
  AttemptEnded e = plain_end(run_, 50);
  e.report.out.text = std::string("\xff\0\x1b[31m", 7);
  e.report.detail = "\xfe";
  e.parameters = {{"\x80\"", "a\xff\nb"}};
  e.results = {{"r", std::string("\0", 1)}};
  must(store_.append(run_, std::move(e)));
  must(store_.commit());
  EXPECT_EQ(
      sql("SELECT count(*) FROM tasks WHERE NOT json_valid(parameters) OR NOT json_valid(results)"),
      "0");
  EXPECT_EQ(sql("SELECT group_concat(value) FROM tasks, json_each(parameters) WHERE task = 50"),
            "a\xEF\xBF\xBD\nb");
  EXPECT_EQ(sql("SELECT hex(stdout) FROM events WHERE task = 50"), "FF001B5B33316D");
}

}  // namespace
}  // namespace gantry::store
