#include "simulate/experiment.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "simulate/paper_experiments.hpp"

namespace gantry::simulate {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;

using Outcomes = std::map<std::pair<std::size_t, std::uint32_t>, TrialOutcome>;

/// Two sites, ten hosts, sixty tasks; everything differs with the repetition.
Trial small_trial(std::size_t point, std::uint32_t repetition) {
  Trial trial;
  trial.interval = point == 0 ? 100 : schedule::kInfinite;
  for (std::uint32_t i = 0; i < 10; ++i)
    trial.grid.hosts.push_back({{.speed = 1 + (i + repetition) % 3 / 2.0}, SiteId(1 + i % 2)});
  for (const double bandwidth : {20.0, 5.0 + repetition})
    trial.grid.links.emplace_back(LinkSpec{.bandwidth = Trace(bandwidth)});
  trial.application.file_bytes = {300, 500};
  for (std::uint32_t i = 0; i < 60; ++i)
    trial.application.tasks.push_back(
        {.cost = 10.0 + i % 7, .files = {FileId(i % 2)}, .output_bytes = 3});
  return trial;
}

Experiment small(std::uint32_t repetitions, std::vector<std::string> schedulers) {
  return {.name = "small",
          .points = {"often", "once"},
          .repetitions = repetitions,
          .schedulers = std::move(schedulers),
          .trial = small_trial};
}

Outcomes outcomes(const Experiment& experiment, std::uint32_t threads) {
  Outcomes all;
  const auto done = run_experiment(
      experiment, {.threads = threads, .ended = [&](const TrialOutcome& outcome) {
                     all.emplace(std::pair(outcome.point, outcome.repetition), outcome);
                   }});
  EXPECT_TRUE(done) << done.error().message;
  return all;
}

TEST(Experiment, GivesTheSameOnAnyNumberOfThreads) {
  const Experiment experiment = small(2, {"workqueue", "xsufferage", "best"});
  const Outcomes one = outcomes(experiment, 1);
  const Outcomes three = outcomes(experiment, 3);
  ASSERT_THAT(one, SizeIs(4));
  ASSERT_THAT(three, SizeIs(4));
  for (const auto& [key, outcome] : one) {
    EXPECT_EQ(outcome.makespans, three.at(key).makespans);
    EXPECT_EQ(outcome.bytes_moved, three.at(key).bytes_moved);
  }
}

TEST(Experiment, NobodyIsFasterThanTheBound) {
  const Outcomes all = outcomes(small(3, {"workqueue", "min-min", "sufferage", "best"}), 2);
  EXPECT_THAT(all, SizeIs(2 * 3));
  for (const auto& [key, outcome] : all) {
    EXPECT_GT(outcome.compute_bound, 0);
    EXPECT_GE(outcome.data_bound, outcome.compute_bound);
    EXPECT_THAT(outcome.makespans, SizeIs(4));
    for (const double makespan : outcome.makespans) EXPECT_GE(makespan, outcome.data_bound);
  }
}

TEST(Experiment, LeavesOutWhatIsKnown) {
  const Experiment experiment = small(2, {"workqueue"});
  std::set<std::pair<std::size_t, std::uint32_t>> ran;
  const auto done = run_experiment(
      experiment,
      {.is_known = [](std::size_t point, std::uint32_t) { return point > 0; },
       .ended =
           [&](const TrialOutcome& outcome) { ran.emplace(outcome.point, outcome.repetition); }});
  ASSERT_TRUE(done);
  EXPECT_THAT(ran, ElementsAre(std::pair(0U, 0U), std::pair(0U, 1U)));
}

TEST(Experiment, StopsWhenItIsTold) {
  std::stop_source source;
  int ended = 0;
  const auto done = run_experiment(small(5, {"workqueue"}), {.threads = 1,
                                                             .ended =
                                                                 [&](const TrialOutcome&) {
                                                                   if (++ended == 3)
                                                                     source.request_stop();
                                                                 },
                                                             .stop = source.get_token()});
  ASSERT_TRUE(done);
  EXPECT_EQ(ended, 3);
}

TEST(Experiment, ATrialThatCannotBeDoneIsNamed) {
  Experiment hopeless = small(1, {"workqueue"});
  hopeless.trial = [](std::size_t, std::uint32_t) {
    Trial trial;
    trial.grid.hosts = {{{.outages = {{1, kForever}}}, kHome}};
    trial.application.tasks = {{.cost = 10}};
    return trial;
  };
  const auto done = run_experiment(hopeless, {});
  ASSERT_FALSE(done);
  EXPECT_THAT(done.error().message, HasSubstr("small, often, repetition 0, workqueue"));
}

TEST(PaperExperiments, NamesThatAreNotKnownAreListed) {
  const auto experiment = paper_experiment("psa");
  ASSERT_FALSE(experiment);
  EXPECT_EQ(
      experiment.error().hint,
      "choose one of: psa-table1, psa-choices, psa-learned, psa-filesize, psa-qoi, apst-sites");
  const auto scheduler = paper_experiment("psa-qoi", {.schedulers = {"fastest"}});
  ASSERT_FALSE(scheduler);
  EXPECT_THAT(scheduler.error().message, HasSubstr("'fastest'"));
}

TEST(PaperExperiments, TheFirstAndTheLastPointHaveTrials) {
  for (const PaperExperiment& entry : paper_experiments()) {
    const Experiment experiment = paper_experiment(entry.name).value();
    for (const std::size_t point : {std::size_t{0}, experiment.points.size() - 1}) {
      const Trial trial = experiment.trial(point, 0);
      EXPECT_FALSE(trial.grid.hosts.empty()) << experiment.points[point];
      EXPECT_FALSE(trial.application.tasks.empty()) << experiment.points[point];
    }
  }
}

}  // namespace
}  // namespace gantry::simulate
