#include "driver/recovery.hpp"

#include <optional>

#include "driver/driver_fixture.hpp"

namespace gantry::driver {
namespace {

class RecoveryTest : public DriverTest {
 protected:
  static constexpr std::uint32_t kTasks = kWorthASnapshot + 5;

  void SetUp() override {
    DriverTest::SetUp();
    store::RunRecord record;
    record.counts.total = kTasks;
    store_.emplace(open_store());
    run_ = store_->create_run(record).value();
  }

  static Fingerprint print_of(std::uint32_t task, std::uint32_t attempt) {
    Fingerprint print;
    print.command = {1, 16 * task + 2 * attempt};
    return print;
  }
  void end(std::uint32_t task, std::uint32_t attempt, FailureCause cause = FailureCause::none) {
    AttemptEnded ended;
    ended.report.key = {run_, TaskId(task), AttemptId(attempt)};
    ended.report.cause = cause;
    ended.fingerprint = print_of(task, attempt);
    ASSERT_TRUE(store_->append(run_, ended));
  }
  void end_most() {
    for (std::uint32_t i = 1; i <= kWorthASnapshot; ++i) end(i, 1);
    ASSERT_TRUE(store_->commit());
  }
  /// The run, as a new process would find it.
  Recovered open(engine::Engine& engine) {
    engine.add_run(run_, {.count = kTasks}, {});
    return recover(*store_, engine, run_, kTasks).value();
  }
  void keep() {
    engine::Engine engine;
    const Recovered recovered = open(engine);
    ASSERT_TRUE(keep_if_worth(*store_, engine, run_, recovered));
  }
  [[nodiscard]] bool is_kept() const { return store_->snapshot(run_).value().has_value(); }

  std::optional<store::Store> store_;
  RunId run_;
};

TEST_F(RecoveryTest, FewEventsAreNotWorthASnapshot) {
  for (std::uint32_t i = 1; i < kWorthASnapshot - 2; ++i) end(i, 1);  // and two for the batch
  ASSERT_TRUE(store_->commit());
  keep();
  EXPECT_FALSE(is_kept());
  end(kTasks, 1);
  ASSERT_TRUE(store_->commit());
  keep();
  EXPECT_TRUE(is_kept());
}

TEST_F(RecoveryTest, OnlyWhatHappenedSinceTheSnapshotIsRead) {
  end_most();
  keep();
  ASSERT_TRUE(store_->append(run_, TaskInvalidated{run_, TaskId(7), "asked for", from_ns(1)}));
  end(7, 2, FailureCause::exit_code);
  end(kTasks, 1);
  ASSERT_TRUE(store_->commit());
  engine::Engine engine;
  const Recovered recovered = open(engine);
  EXPECT_EQ(recovered.replayed, 3U);
  EXPECT_FALSE(recovered.damaged);
  EXPECT_EQ(engine.run(run_).counts().done, kWorthASnapshot);
  EXPECT_EQ(engine.run(run_).state(TaskId(7)), engine::TaskState::failed);
  EXPECT_EQ(engine.run(run_).state(TaskId(kTasks)), engine::TaskState::done);
  EXPECT_EQ(recovered.prints[0], brief(print_of(1, 1)));
  EXPECT_EQ(recovered.prints[6], brief(print_of(7, 1))) << "of its last success";
  EXPECT_EQ(recovered.prints[kTasks - 2], 0U);
  EXPECT_EQ(recovered.prints[kTasks - 1], brief(print_of(kTasks, 1)));
}

TEST_F(RecoveryTest, ADamagedSnapshotIsReplacedAfterReadingTheWholeJournal) {
  end_most();
  keep();
  store::SnapshotContent wrong;  // of more tasks than the run has
  wrong.state.tasks.assign(kTasks + 1, {9, TaskStanding::failed});
  ASSERT_TRUE(store_->keep_snapshot(run_, wrong));
  {
    engine::Engine engine;
    const Recovered recovered = open(engine);
    EXPECT_TRUE(recovered.damaged);
    EXPECT_EQ(engine.run(run_).counts().done, kWorthASnapshot);
    ASSERT_TRUE(keep_if_worth(*store_, engine, run_, recovered));
  }
  engine::Engine engine;
  const Recovered recovered = open(engine);
  EXPECT_FALSE(recovered.damaged);
  EXPECT_EQ(recovered.replayed, 0U);
  EXPECT_EQ(engine.run(run_).counts().done, kWorthASnapshot);
}

}  // namespace
}  // namespace gantry::driver
