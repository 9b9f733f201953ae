#include "driver/outdated.hpp"

#include <gtest/gtest.h>

#include "driver/driver_fixture.hpp"

namespace gantry::driver {
namespace {

TEST(Outdated, TasksAreCountedByReasonWhateverTheirFilesAreCalled) {
  OutdatedTasks outdated;
  add_outdated(outdated, {OutdatedBy::output_missing, "a: b.txt"});
  add_outdated(outdated, {OutdatedBy::output_missing, "a: c.txt"});
  add_outdated(outdated, {OutdatedBy::output_missing, "a: b.txt"});
  add_outdated(outdated, {OutdatedBy::environment});
  ASSERT_EQ(outdated.size(), 2U);
  const Outdated& missing = outdated[OutdatedBy::output_missing];
  EXPECT_EQ(missing.tasks, 3U);
  EXPECT_EQ(missing.other_names, 1U);
  EXPECT_EQ(outdated_text(OutdatedBy::output_missing, missing),
            "its output is not there: a: b.txt (something else for 1 of them)");
  EXPECT_EQ(outdated_text(OutdatedBy::environment, outdated[OutdatedBy::environment]),
            "its environment changed");
}

TEST(Outdated, AFileThatChangedIsNamedFirst) {
  EXPECT_EQ(outdated_text(OutdatedBy::input, {.tasks = 1, .example = "mesh.dat"}),
            "mesh.dat changed");
  EXPECT_EQ(outdated_text(OutdatedBy::input_meanwhile, {.tasks = 1, .example = "mesh.dat"}),
            "mesh.dat changed while it ran");
  EXPECT_EQ(outdated_text(OutdatedBy::input_meanwhile, {.tasks = 1}),
            "an input changed while it ran");
}

TEST(Outdated, FingerprintsTellWhatChanged) {
  Task task;
  task.workdir = "/study";
  const Fingerprint now{Digest{1, 1}, Digest{2, 2}, Digest{3, 3}};
  const auto changed = [&](const Fingerprint& print, const std::string& input = "") {
    return what_changed({print, from_ns(1), input}, now, task);
  };
  EXPECT_EQ(changed({}).by, OutdatedBy::unknown);
  EXPECT_EQ(changed({Digest{9, 9}, now.environment, now.inputs}).by, OutdatedBy::older_gantry);
  EXPECT_EQ(changed({now.command, Digest{9, 9}, now.inputs}).by, OutdatedBy::environment);
  EXPECT_EQ(changed({now.command, now.environment, Digest{9, 9}}).by, OutdatedBy::input_list);
  const Fingerprint meanwhile{now.command, now.environment, {}};
  EXPECT_EQ(changed(meanwhile).name, "");
  EXPECT_EQ(changed(meanwhile, "/study/mesh.dat").by, OutdatedBy::input_meanwhile);
  EXPECT_EQ(changed(meanwhile, "/study/mesh.dat").name, "mesh.dat");
}

class LatestMakingTest : public DriverTest {};

TEST_F(LatestMakingTest, ATaskThatChangesItsInputsMayAlwaysHaveMadeThem) {
  store::RunRecord record;
  record.counts.total = 1;
  const RunId run = open_store().create_run(record).value();
  const auto end = [&](std::uint32_t attempt, Digest inputs) {
    AttemptEnded ended;
    ended.report.key = {run, TaskId(1), AttemptId(attempt)};
    ended.report.started = from_ns(10 * attempt);
    ended.report.ended = from_ns(10 * attempt + 5);
    ended.fingerprint = {Digest{1, 1}, Digest{2, 2}, inputs};
    auto store = open_store();
    ASSERT_TRUE(store.append(run, ended));
    ASSERT_TRUE(store.commit());
  };
  end(1, Digest{3, 3});
  EXPECT_EQ(latest_making(open_store(), run, TaskId(1))->ended, from_ns(15));
  end(2, {});  // an input changed while it ran
  EXPECT_EQ(latest_making(open_store(), run, TaskId(1))->ended, from_ns(25));
  end(3, Digest{4, 4});
  EXPECT_EQ(latest_making(open_store(), run, TaskId(1))->ended, TimePoint::max());
}

}  // namespace
}  // namespace gantry::driver
