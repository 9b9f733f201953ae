#include "cli/commands/explain_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace gantry::cli {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::Not;

struct Fixture {
  query::TaskStory story;

  Fixture() {
    story.run = RunId{3};
    story.run_name = "epidemic";
    story.task = TaskId{17};
    story.state = query::TaskState::failed;
    story.row.emplace();
    story.row->task = TaskId{17};
    story.row->cause = FailureCause::exit_code;
    story.row->code = 3;
    Task task;
    task.argv = {"./sim", "a b"};
    task.workdir = "/work";
    task.inputs = {"/work/mesh.dat"};
    task.timeout = std::chrono::seconds(60);
    story.definition = task;
    story.history.push_back(attempt(1, FailureCause::none, Digest{1, 1}));
    store::HistoryRow again;
    again.kind = "invalidated";
    again.text = "input mesh.dat changed";
    story.history.push_back(again);
    story.history.push_back(attempt(2, FailureCause::exit_code, Digest{2, 2}));
    story.history.back().report.err.text = "reading\nbad mesh\n";
    story.history.back().report.out = {1 << 20, "tail", "run-3/slot-1.out", 512, false};
  }

  static store::HistoryRow attempt(std::uint32_t number, FailureCause cause, Digest inputs) {
    store::HistoryRow row;
    row.kind = "ended";
    row.attempt = AttemptId{number};
    row.report.cause = cause;
    row.report.code = cause == FailureCause::none ? 0 : 3;
    row.report.started = from_ns(1'700'000'000'000'000'000);
    row.report.ended = row.report.started + std::chrono::milliseconds(1500);
    row.fingerprint = {Digest{7, 7}, Digest{8, 8}, inputs};
    return row;
  }
};

TEST(Explain, TellsOfAttemptsThatTheJournalHasNoEndOf) {
  Fixture fixture;
  EXPECT_THAT(explain(fixture.story, ".gantry/output"), Not(Contains(HasSubstr("is not known"))));
  fixture.story.history.push_back(Fixture::attempt(5, FailureCause::none, Digest{2, 2}));
  fixture.story.history.push_back(Fixture::attempt(4, FailureCause::exit_code, Digest{2, 2}));
  EXPECT_THAT(explain(fixture.story, ".gantry/output"),
              Contains(HasSubstr("  how attempt 3 ended is not known")));
}

TEST(Explain, TellsWhatHappenedAndWhatComesNext) {
  const Fixture fixture;
  const auto lines = explain(fixture.story, ".gantry/output");
  EXPECT_EQ(lines[0], "task 17 of run 3 (epidemic): failed");
  EXPECT_EQ(lines[1], "  because: exit code 3");
  EXPECT_THAT(lines, Contains("  command     ./sim 'a b'"));
  EXPECT_THAT(lines, Contains("  resources   1 core, timeout 1m00s"));
  EXPECT_THAT(lines, Contains(HasSubstr("attempt 1: succeeded after 1.50 s")));
  EXPECT_THAT(lines, Contains(HasSubstr("has to run again: input mesh.dat changed")));
  EXPECT_THAT(lines,
              Contains(HasSubstr("changed since the attempt before: contents of the inputs")));
  EXPECT_THAT(lines, Contains(HasSubstr("it said: bad mesh")));
  EXPECT_THAT(lines, Contains("  in .gantry/output/run-3/slot-1.out from byte 512"));
  EXPECT_THAT(lines.back(), HasSubstr("tries it again"));
}

TEST(Explain, TellsTheMemoryThatWasLearnt) {
  Fixture fixture;
  fixture.story.definition->resources.learn_memory = true;
  EXPECT_THAT(explain(fixture.story, ".gantry/output"),
              Contains("  resources   1 core, memory as it is learnt, timeout 1m00s"));
  fixture.story.memory = {512U << 20U, 40};
  EXPECT_THAT(explain(fixture.story, ".gantry/output"),
              Contains("  resources   1 core, memory as it is learnt (512 "
                       "MiB by 40 tasks), timeout 1m00s"));
  std::string out;
  append_explain_json(out, fixture.story);
  EXPECT_EQ(nlohmann::json::parse(out)["learnt_memory"], 512U << 20U);
}

TEST(Explain, JsonIsValidAndComplete) {
  const Fixture fixture;
  std::string out;
  append_explain_json(out, fixture.story);
  const auto json = nlohmann::json::parse(out);
  EXPECT_EQ(json["state"], "failed");
  EXPECT_EQ(json["command"], (nlohmann::json{"./sim", "a b"}));
  ASSERT_EQ(json["history"].size(), 3U);
  EXPECT_EQ(json["history"][2]["code"], 3);
}

TEST(WhatComesNext, DependsOnTheState) {
  Fixture fixture;
  fixture.story.state = query::TaskState::done;
  EXPECT_THAT(what_comes_next(fixture.story), HasSubstr("keeps this result"));
  fixture.story.state = query::TaskState::pending;
  EXPECT_THAT(what_comes_next(fixture.story), HasSubstr("starts it"));
  fixture.story.driven = true;
  EXPECT_THAT(what_comes_next(fixture.story), HasSubstr("waits for its turn"));
  fixture.story.definition.reset();
  EXPECT_THAT(what_comes_next(fixture.story), HasSubstr("new run"));
}

TEST(ChangedText, NamesTheParts) {
  EXPECT_EQ(changed_text({.command = true, .inputs = true}),
            "command, contents of the inputs or the program");
  EXPECT_EQ(changed_text({}), "");
}

TEST(Explain, TellsTheDetailOfAnEndAfterItsFigures) {
  Fixture fixture;
  auto& report = fixture.story.history.back().report;
  report.cause = FailureCause::out_of_memory;
  report.detail = "limit 64 MiB; tried again with 128 MiB";
  report.usage.max_rss = 64U << 20U;
  EXPECT_THAT(explain(fixture.story, ""),
              Contains(HasSubstr("attempt 2: out of memory after 1.50 s, at most 64 MiB: "
                                 "limit 64 MiB; tried again with 128 MiB")));
  report.cause = FailureCause::none;
  report.detail = "an input changed while it ran: mesh.dat";
  EXPECT_THAT(explain(fixture.story, ""),
              Contains(HasSubstr("attempt 2: succeeded after 1.50 s, at most 64 MiB, but an input "
                                 "changed while it ran: mesh.dat")));
}

}  // namespace
}  // namespace gantry::cli
