#include "query/remote_outputs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "query/query_fixture.hpp"

namespace gantry::query {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Two runs, each of which has made an output of task 1 that stayed at the site lab.
class RemoteOutputsTest : public QueryTest {
 protected:
  RemoteOutputsTest() : first_(create_run(2)), second_(create_run(2)) {
    make(first_, 1, "/study/a.bin");
    make(second_, 1, "/study/b.bin");
  }

  void make(RunId run, std::uint32_t task, const std::string& path) {
    AttemptEnded event = ended(run, task);
    event.report.remote_files.push_back(
        {path, "lab", "out/" + path, 10, Digest{1, 1}, "grid.yaml"});
    append(run, event);
  }
  static std::vector<std::string> paths(const RemoteOutputs& outputs) {
    std::vector<std::string> found;
    for (const auto& output : outputs) found.push_back(output.file.path);
    return found;
  }
  static Result<Application> no_study(const store::RunRecord&) {
    return fail(ErrorCode::usage, "the study has changed");
  }

  RunId first_;
  RunId second_;
};

TEST_F(RemoteOutputsTest, BelongToTheRunThatMadeThem) {
  const auto all = store_.remote_outputs().value();
  EXPECT_THAT(paths(outputs_of(record(first_), {}, all, no_study)), ElementsAre("/study/a.bin"));
  EXPECT_THAT(paths(outputs_of(record(first_), TaskSelector::parse("2").value(), all, no_study)),
              IsEmpty());
}

TEST_F(RemoteOutputsTest, AreToldApartFromThoseOfOtherRuns) {
  const auto of_first = outputs_at_sites(store_, record(first_), no_study).value();
  EXPECT_THAT(paths(of_first.of_run), ElementsAre("/study/a.bin"));
  EXPECT_THAT(paths(of_first.of_others), ElementsAre("/study/b.bin"));
  EXPECT_FALSE(of_first.is_last_run);
  EXPECT_TRUE(outputs_at_sites(store_, record(second_), no_study)->is_last_run);
}

TEST_F(RemoteOutputsTest, ATaskTellsWhichSiteHasThem) {
  make(first_, 2, "/study/c.bin");
  EXPECT_THAT(output_sites(store_, first_).value(),
              ElementsAre(testing::Pair(TaskId{1}, "lab"), testing::Pair(TaskId{2}, "lab")));
}

TEST_F(RemoteOutputsTest, TheStudyIsReadOnlyWhenAnotherRunHasMadeSome) {
  int read = 0;
  const auto reload = [&](const store::RunRecord& run) {
    ++read;
    return no_study(run);
  };
  auto ours = store_.remote_outputs().value();
  std::erase_if(ours, [&](const auto& output) { return output.made_by.run != first_; });
  outputs_of(record(first_), {}, ours, reload);
  EXPECT_EQ(read, 0);
  outputs_of(record(first_), {}, store_.remote_outputs().value(), reload);
  EXPECT_EQ(read, 1);
}

}  // namespace
}  // namespace gantry::query
