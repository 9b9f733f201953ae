#include "driver/run_setup.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include "driver/driver_fixture.hpp"

namespace gantry::driver {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class RunSetupTest : public DriverTest {
 protected:
  struct Ready : PreparedRun {
    engine::Engine engine{};
    [[nodiscard]] engine::RunView view() const { return engine.run(id); }
  };

  Ready prepare(store::Store& store, Application& study) {
    ContentCache contents(store);
    const auto ours = run_to_continue(store, study, options_);
    if (!ours) throw std::runtime_error(ours.error().message);
    Ready ready;
    auto prepared = prepare_run(store, ready.engine, {study, source_}, *ours, options_, contents,
                                from_ns(1), files_);
    if (!prepared) throw std::runtime_error(prepared.error().message);
    static_cast<PreparedRun&>(ready) = std::move(*prepared);
    return ready;
  }

  /// A run of the study, each task done.
  void finish(Application study) {
    auto store = open_store();
    ContentCache contents(store);
    const RunId run = prepare(store, study).id;
    for (std::uint32_t i = 1; i <= study.size(); ++i) {
      AttemptEnded ended;
      ended.report.key = {run, TaskId(i), AttemptId(1)};
      ended.fingerprint = contents.fingerprint(study.task(TaskId(i))).value();
      ASSERT_TRUE(store.append(run, ended));
    }
    ASSERT_TRUE(store.commit());
  }

  SpecSource source_;
  TaskFiles files_;
};

TEST_F(RunSetupTest, ARunIsThereWithAllThatItReusesOrNotAtAll) {
  finish(sweep({"echo", "{}", ":::", "a", "b"}));
  auto grown = sweep({"echo", "{}", ":::", "a", "b", "c"});
  RunId first;
  {  // Killed before anything else is committed.
    auto store = open_store();
    const auto run = prepare(store, grown);
    EXPECT_EQ(run.view().counts().reused, 2U);
    first = run.id;
  }
  auto store = open_store();
  EXPECT_EQ(store.run(first).value()->counts.reused, 2U) << "for status";
  const auto again = prepare(store, grown);
  EXPECT_EQ(again.id, first);
  EXPECT_EQ(again.view().counts().reused, 2U);
  EXPECT_EQ(again.unchanged, 2U);
}

TEST_F(RunSetupTest, AFreshRunReusesNothingAlsoWhenItIsResumed) {
  finish(sweep({"echo", "{}", ":::", "a", "b"}));
  auto grown = sweep({"echo", "{}", ":::", "a", "b", "c"});
  options_.fresh = true;
  {
    auto store = open_store();
    EXPECT_EQ(prepare(store, grown).view().counts().reused, 0U);
  }
  options_.fresh = false;
  auto store = open_store();
  EXPECT_EQ(prepare(store, grown).view().counts().reused, 0U);
}

/// Studies that a person edits.
class EditedStudyTest : public RunSetupTest {
 protected:
  void SetUp() override {
    RunSetupTest::SetUp();
    options_.reload = [](const store::RunRecord& record) -> Result<Application> {
      TRY_ASSIGN(auto loaded, spec::reload(record.source));
      Application study(std::move(loaded.sweep));
      EXPECT_TRUE(study.number_tasks(record.batches, record.numbering));
      return study;
    };
  }

  Application study(std::vector<std::string> values) {
    std::vector<std::string> words{"echo", "{}", "{#}", ":::"};
    words.insert(words.end(), values.begin(), values.end());
    auto loaded = spec::parse_one_liner(words, dir_, {});
    source_ = loaded->source;
    return Application(std::move(loaded->sweep));
  }

  /// The commands of all tasks, by number.
  static std::vector<std::string> commands(const Application& study) {
    std::vector<std::string> list;
    for (std::uint32_t i = 1; i <= study.size(); ++i) {
      const Task task = study.task(TaskId(i));
      list.push_back(task.argv[1] + " " + task.argv[2]);
    }
    return list;
  }

  /// The first task and how many, of each batch.
  static std::vector<std::pair<std::uint32_t, std::uint32_t>> batches(const store::Store& store,
                                                                      RunId run) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> list;
    EXPECT_TRUE(store.replay(run, [&](const Event& event) {
      if (const auto* added = std::get_if<TasksAdded>(&event))
        list.emplace_back(added->batch.first.value(), added->batch.count);
    }));
    return list;
  }
};

TEST_F(EditedStudyTest, MoreValuesContinueTheRunWithNewTasksAppended) {
  finish(study({"b", "c"}));
  Application edited = study({"a", "b", "bb", "c"});
  auto store = open_store();
  const auto run = prepare(store, edited);
  EXPECT_EQ(run.id, RunId(1));
  EXPECT_FALSE(run.is_new);
  EXPECT_EQ(run.view().counts().total, 4U);
  EXPECT_EQ(run.unchanged, 2U);
  EXPECT_THAT(run.notices, ElementsAre("run 1 goes on with 2 new tasks"));
  EXPECT_THAT(commands(edited), ElementsAre("b 1", "c 2", "a 3", "bb 4"));
  EXPECT_THAT(batches(store, run.id), ElementsAre(std::pair(1, 2), std::pair(3, 2)));
  const auto record = store.run(run.id).value();
  EXPECT_EQ(record->counts.total, 4U);
  EXPECT_EQ(record->state, store::RunState::open);
  EXPECT_THAT(commands(options_.reload(*record).value()), ElementsAre("b 1", "c 2", "a 3", "bb 4"));
}

TEST_F(EditedStudyTest, TheEditedStudyIsThatRunFromThenOn) {
  finish(study({"b"}));
  {  // Killed before anything else is committed.
    auto store = open_store();
    Application edited = study({"a", "b"});
    prepare(store, edited);
  }
  auto store = open_store();
  Application again = study({"a", "b"});
  EXPECT_EQ(prepare(store, again).id, RunId(1));
  EXPECT_THAT(commands(again), ElementsAre("b 1", "a 2"));
  Application more = study({"a", "aa", "b"});
  EXPECT_EQ(prepare(store, more).id, RunId(1));
  EXPECT_THAT(commands(more), ElementsAre("b 1", "a 2", "aa 3"));
  EXPECT_THAT(batches(store, RunId(1)),
              ElementsAre(std::pair(1, 1), std::pair(2, 1), std::pair(3, 1)));
}

TEST_F(EditedStudyTest, AnotherOrderChangesNothing) {
  finish(study({"a", "b"}));
  Application edited = study({"b", "a"});
  auto store = open_store();
  const auto run = prepare(store, edited);
  EXPECT_EQ(run.id, RunId(1));
  EXPECT_EQ(run.unchanged, 2U);
  EXPECT_THAT(run.notices, IsEmpty());
  EXPECT_THAT(batches(store, run.id), ElementsAre(std::pair(1, 2)));
}

TEST_F(EditedStudyTest, FewerValuesAreAnotherRunThatReusesResults) {
  finish(sweep({"echo", "{}", ":::", "a", "b", "c"}));
  auto fewer = spec::parse_one_liner({"echo", "{}", ":::", "a", "b", "d"}, dir_, {});
  auto store = open_store();
  Application study(std::move(fewer->sweep));
  const auto run = prepare(store, study);
  EXPECT_EQ(run.id, RunId(2));
  EXPECT_TRUE(run.is_new);
  EXPECT_EQ(run.view().counts().reused, 2U);
}

TEST_F(EditedStudyTest, NewTasksReuseWhatOtherRunsHave) {
  const auto plain = [&](std::vector<std::string> values) {
    std::vector<std::string> words{"echo", "{}", ":::"};
    words.insert(words.end(), values.begin(), values.end());
    auto loaded = spec::parse_one_liner(words, dir_, {});
    source_ = loaded->source;
    return Application(std::move(loaded->sweep));
  };
  finish(plain({"z"}));
  finish(plain({"a"}));
  Application edited = plain({"z", "a"});
  auto store = open_store();
  const auto run = prepare(store, edited);
  EXPECT_EQ(run.id, RunId(2)) << "the last one of the study";
  EXPECT_EQ(run.view().counts().reused, 1U);
  EXPECT_EQ(run.unchanged, 2U);
}

TEST_F(EditedStudyTest, RunsOfAnOlderGantryGrowToo) {
  finish(study({"a", "b"}));
  {
    auto store = open_store();
    ASSERT_TRUE(store.commit());
  }
  sqlite3* db = nullptr;
  ASSERT_EQ(sqlite3_open((options_.state_dir / "gantry.db").c_str(), &db), SQLITE_OK);
  ASSERT_EQ(sqlite3_exec(db,
                         "UPDATE runs SET study = ''; "
                         "DELETE FROM events WHERE kind IN ('added', 'closed')",
                         nullptr, nullptr, nullptr),
            SQLITE_OK);
  sqlite3_close(db);
  Application edited = study({"c", "a", "b"});
  auto store = open_store();
  const auto run = prepare(store, edited);
  EXPECT_EQ(run.id, RunId(1));
  EXPECT_EQ(run.unchanged, 2U);
  EXPECT_THAT(batches(store, run.id), ElementsAre(std::pair(1, 2), std::pair(3, 1)));
}

}  // namespace
}  // namespace gantry::driver
