#include "driver/run_setup.hpp"

#include <gtest/gtest.h>

#include "driver/driver_fixture.hpp"

namespace gantry::driver {
namespace {

class RunSetupTest : public DriverTest {
 protected:
  struct Ready {
    engine::Engine engine;
    PreparedRun run;
    [[nodiscard]] engine::RunView view() const { return engine.run(run.id); }
  };

  Ready prepare(store::Store& store, const Sweep& study) {
    ContentCache contents(store);
    Ready ready;
    auto prepared =
        prepare_run(store, ready.engine, {study, source_}, options_, contents, from_ns(1), files_);
    if (!prepared) throw std::runtime_error(prepared.error().message);
    ready.run = std::move(*prepared);
    return ready;
  }

  /// A run of the study, each task done.
  void finish(const Sweep& study) {
    auto store = open_store();
    ContentCache contents(store);
    const RunId run = prepare(store, study).run.id;
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
  const auto grown = sweep({"echo", "{}", ":::", "a", "b", "c"});
  RunId first;
  {  // Killed before anything else is committed.
    auto store = open_store();
    const auto run = prepare(store, grown);
    EXPECT_EQ(run.view().counts().reused, 2U);
    first = run.run.id;
  }
  auto store = open_store();
  EXPECT_EQ(store.run(first).value()->counts.reused, 2U) << "for status";
  const auto again = prepare(store, grown);
  EXPECT_EQ(again.run.id, first);
  EXPECT_EQ(again.view().counts().reused, 2U);
  EXPECT_EQ(again.run.unchanged, 2U);
}

TEST_F(RunSetupTest, AFreshRunReusesNothingAlsoWhenItIsResumed) {
  finish(sweep({"echo", "{}", ":::", "a", "b"}));
  const auto grown = sweep({"echo", "{}", ":::", "a", "b", "c"});
  options_.fresh = true;
  {
    auto store = open_store();
    EXPECT_EQ(prepare(store, grown).view().counts().reused, 0U);
  }
  options_.fresh = false;
  auto store = open_store();
  EXPECT_EQ(prepare(store, grown).view().counts().reused, 0U);
}

}  // namespace
}  // namespace gantry::driver
