#include "spec/sweep_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include "spec/spec.hpp"

namespace gantry::spec {
namespace {

using ::testing::ElementsAre;
using Words = std::vector<std::string>;

LoadedSweep load(const std::string& text) {
  auto loaded = parse_sweep(text, "s.yaml", "/tmp");
  if (!loaded) throw std::runtime_error(loaded.error().message);
  return std::move(*loaded);
}

/// The second argument of every task.
Words values(const std::string& parameters) {
  const auto loaded = load("command: [e, '{x}']\nparameters: {" + parameters + "}");
  Words result;
  for (std::uint32_t i = 1; i <= loaded.sweep.size(); ++i)
    result.push_back(loaded.sweep.task(TaskId(i)).argv[1]);
  return result;
}

TEST(SweepFile, ReadsTheBasicKeys) {
  const auto loaded = load(R"(
name: study
description: two seeds
command: ./sim --seed {seed} 'a b' {{x}}
parameters:
  seed: 1..2
environment: {OMP_NUM_THREADS: 2, OUT: "o{seed}"}
outputs: out_{seed}.dat
resources: {cores: 2, memory: 2 GiB, walltime: 1h30m}
checkpoint: {signal: USR1, before: 2m}
retries: {count: 3, backoff: 2s, factor: 3, max: 1m}
timeout: 00:10:00
)");
  const auto& sweep = loaded.sweep;
  EXPECT_EQ(sweep.name(), "study");
  ASSERT_EQ(sweep.size(), 2U);
  const Task task = sweep.task(TaskId(2));
  EXPECT_THAT(task.argv, ElementsAre("./sim", "--seed", "2", "a b", "{x}"));
  EXPECT_THAT(task.environment, ElementsAre(Binding{"OMP_NUM_THREADS", "2"}, Binding{"OUT", "o2"}));
  EXPECT_THAT(task.outputs, ElementsAre("/tmp/out_2.dat"));
  EXPECT_EQ(task.workdir, "/tmp");
  EXPECT_FALSE(task.make_workdir);
  EXPECT_EQ(task.resources.cores, 2U);
  EXPECT_EQ(task.resources.memory, std::uint64_t{2} << 30U);
  EXPECT_EQ(task.resources.walltime, std::chrono::minutes(90));
  EXPECT_EQ(task.checkpoint, (Checkpoint{SIGUSR1, std::chrono::minutes(2)}));
  EXPECT_EQ(task.timeout, std::chrono::minutes(10));
  EXPECT_EQ(sweep.retry_policy(),
            (RetryPolicy{3, std::chrono::seconds(2), 3, std::chrono::minutes(1)}));
}

TEST(SweepFile, AWorkingDirectoryOfItsOwn) {
  const auto loaded =
      load("command: ./sim\nparameters: {a: 1..3}\nworkdir: runs/{a}\noutputs: [out, '/abs/{a}']");
  const Task task = loaded.sweep.task(TaskId(3));
  EXPECT_EQ(task.workdir, "/tmp/runs/3");
  EXPECT_TRUE(task.make_workdir);
  EXPECT_THAT(task.argv, ElementsAre("/tmp/sim"));
  EXPECT_THAT(task.outputs, ElementsAre("/tmp/runs/3/out", "/abs/3"));
}

TEST(SweepFile, ValuesOfAParameter) {
  EXPECT_THAT(values("x: 1..3"), ElementsAre("1", "2", "3"));
  EXPECT_THAT(values("x: 0..1 step 0.25"), ElementsAre("0", "0.25", "0.5", "0.75", "1"));
  EXPECT_THAT(values("x: {from: 3, to: 1, step: -1}"), ElementsAre("3", "2", "1"));
  EXPECT_THAT(values("x: 08..10"), ElementsAre("08", "09", "10"));
  EXPECT_THAT(values("x: [1, 2.50, abc, '3..4', 5..6, 'it''s']"),
              ElementsAre("1", "2.50", "abc", "3..4", "5", "6", "it's"));
  EXPECT_THAT(values("x: 5"), ElementsAre("5"));
  EXPECT_THAT(values("x: ../up"), ElementsAre("../up"));
  EXPECT_THAT(values("x: {linspace: [0, 1, 4]}"),
              ElementsAre("0", "0.333333333333333", "0.666666666666667", "1"));
  EXPECT_THAT(values("x: {logspace: [0.001, 1000, 7]}"),
              ElementsAre("0.001", "0.01", "0.1", "1", "10", "100", "1000"));
  EXPECT_THAT(values("x: {integer: [3, 5]}"), ElementsAre("3", "4", "5"));
  EXPECT_THAT(values("x: {choice: [a, b]}"), ElementsAre("a", "b"));
}

TEST(SweepFile, TenthsAreExact) {
  const auto list = values("x: 0..100 step 0.1");
  ASSERT_EQ(list.size(), 1001U);
  EXPECT_EQ(list[3], "0.3");
  EXPECT_EQ(list[999], "99.9");
}

TEST(SweepFile, Combinations) {
  const auto pairs = [](const std::string& rest) {
    const auto loaded =
        load("command: 'e {a}{b}{c}'\nparameters: {a: [1, 2], b: [x, y], c: [p, q]}\n" + rest);
    Words result;
    for (std::uint32_t i = 1; i <= loaded.sweep.size(); ++i)
      result.push_back(loaded.sweep.task(TaskId(i)).argv[1]);
    return result;
  };
  EXPECT_THAT(pairs(""), ElementsAre("1xp", "1xq", "1yp", "1yq", "2xp", "2xq", "2yp", "2yq"));
  EXPECT_THAT(pairs("combine: zip"), ElementsAre("1xp", "2yq"));
  EXPECT_THAT(pairs("combine: [[a, c]]"), ElementsAre("1xp", "1yp", "2xq", "2yq"));
  EXPECT_THAT(pairs("combine: [[a, c], b]"), ElementsAre("1xp", "1yp", "2xq", "2yq"));
}

TEST(SweepFile, FiltersDerivesAndWeighs) {
  const auto loaded = load(R"(
command: e {n} {half} {area} {geom}
parameters:
  n: 1..4
  geom: [sphere, cube]
derived:
  half: n / 2
  area: half * 4 + 0.1
when: n % 2 == 0 and geom != "sphere" or n == 1
cost: n * n
)");
  Words result;
  std::vector<double> costs;
  for (std::uint32_t i = 1; i <= loaded.sweep.size(); ++i) {
    const auto task = loaded.sweep.task(TaskId(i));
    result.push_back(task.argv[1] + " " + task.argv[2] + " " + task.argv[3] + " " + task.argv[4]);
    costs.push_back(loaded.sweep.cost(TaskId(i)));
  }
  EXPECT_THAT(result,
              ElementsAre("1 0.5 2.1 sphere", "1 0.5 2.1 cube", "2 1 4.1 cube", "4 2 8.1 cube"));
  EXPECT_THAT(costs, ElementsAre(1, 1, 4, 16));
  EXPECT_TRUE(loaded.sweep.has_cost());
  EXPECT_THAT(loaded.sweep.parameter_names(), ElementsAre("n", "geom", "half", "area"));
  EXPECT_THAT(loaded.sweep.parameters(TaskId(4)),
              ElementsAre(Binding{"n", "4"}, Binding{"geom", "cube"}, Binding{"half", "2"},
                          Binding{"area", "8.1"}));
}

TEST(SweepFile, ResourcesMayDependOnParameters) {
  const auto loaded = load(R"(
command: e
parameters: {threads: [1, 8]}
derived: {gib: threads * 2}
resources: {cores: '{threads}', memory: '{gib} GiB', walltime: '{threads}h'}
timeout: '{threads}m'
)");
  EXPECT_EQ(loaded.sweep.resources(TaskId(1)),
            (Resources{1, std::uint64_t{2} << 30U, std::chrono::hours(1)}));
  EXPECT_EQ(loaded.sweep.task(TaskId(2)).resources,
            (Resources{8, std::uint64_t{16} << 30U, std::chrono::hours(8)}));
  EXPECT_EQ(loaded.sweep.task(TaskId(2)).timeout, std::chrono::minutes(8));
}

TEST(SweepFile, MemoryMayBeLearnt) {
  const auto all = load("command: e\nresources: {memory: learn, cores: 2}\n");
  EXPECT_TRUE(all.sweep.learns_memory());
  const Resources wanted{.cores = 2, .learn_memory = true};
  EXPECT_EQ(all.sweep.resources(TaskId(1)), wanted);
  EXPECT_EQ(all.sweep.task(TaskId(1)).resources, wanted);

  const auto some =
      load("command: e\nparameters: {m: [1 GiB, learn]}\nresources: {memory: '{m}'}\n");
  EXPECT_TRUE(some.sweep.learns_memory());
  EXPECT_EQ(some.sweep.resources(TaskId(1)), (Resources{1, std::uint64_t{1} << 30U}));
  EXPECT_EQ(some.sweep.resources(TaskId(2)), (Resources{.learn_memory = true}));

  EXPECT_FALSE(load("command: e\nresources: {memory: 1 GiB}\n").sweep.learns_memory());
}

TEST(SweepFile, Results) {
  const auto loaded = load(R"(
command: e
parameters: {seed: 1..2}
workdir: runs/{seed}
results:
  energy: 'E = (\S+)'
  steps: {json: out.json, key: stats.steps}
  name: {json: out.json}
  last: {csv: 'trace_{seed}.csv', column: t, row: last}
  first: {csv: 'trace_{seed}.csv', column: t, row: first, optional: true}
)");
  const auto& sweep = loaded.sweep;
  EXPECT_TRUE(sweep.reads_stdout());
  EXPECT_THAT(sweep.result_names(), ElementsAre("energy", "steps", "name", "last", "first"));
  const Task task = sweep.task(TaskId(2));
  EXPECT_THAT(task.collect, ElementsAre("/tmp/runs/2/out.json", "/tmp/runs/2/trace_2.csv"));
  EXPECT_THAT(sweep.result_rules(), ::testing::SizeIs(5));

  AttemptReport report;
  report.key.task = TaskId(2);
  report.collected = {{"/tmp/runs/2/out.json", R"({"stats": {"steps": 12}, "name": "n"})"},
                      {"/tmp/runs/2/trace_2.csv", "t\n1\n2\n"}};
  const auto values = sweep.extract(report, "E = 1\nE = -3.5\n");
  ASSERT_TRUE(values) << values.error().message;
  EXPECT_EQ(
      *values,
      (ResultValues{
          {"energy", "-3.5"}, {"steps", "12"}, {"name", "n"}, {"last", "2"}, {"first", "1"}}));
  report.collected.pop_back();
  EXPECT_EQ(sweep.extract(report, "E = 1").error().message,
            "'last': /tmp/runs/2/trace_2.csv is not there");
  report.key.task = TaskId(3);
  EXPECT_FALSE(sweep.extract(report, ""));
}

TEST(SweepFile, AShellCommandQuotesEveryValue) {
  const auto loaded = load(R"(
command: echo {x} '{x}' "{x}" > out{#}
shell: true
parameters: {x: ["it's $HOME"]}
)");
  EXPECT_THAT(loaded.sweep.task(TaskId(1)).argv,
              ElementsAre("/bin/sh", "-c",
                          R"(echo 'it'\''s $HOME' 'it'\''s $HOME' "it's \$HOME" > out'1')"));
}

TEST(SweepFile, Samples) {
  const std::string base =
      "command: 'e {x} {k}'\nparameters: {x: {uniform: [2, 4]}, k: [a, b, c]}\n";
  const auto all = [](const std::string& text) {
    const auto loaded = load(text);
    Words result;
    for (std::uint32_t i = 1; i <= loaded.sweep.size(); ++i) {
      const auto task = loaded.sweep.task(TaskId(i));
      result.push_back(task.argv[1] + task.argv[2]);
    }
    return result;
  };
  const auto random = all(base + "sample: {n: 5, seed: 7}");
  EXPECT_EQ(random.size(), 5U);
  EXPECT_EQ(random, all(base + "sample: {method: random, n: 5, seed: 7}"));
  EXPECT_NE(random, all(base + "sample: {method: random, n: 5, seed: 8}"));
  EXPECT_NE(random, all(base + "sample: {method: sobol, n: 5, seed: 7}"));
  // Only x is sampled: every point meets every k.
  EXPECT_EQ(all(base + "sample: {method: latin-hypercube, n: 5, parameters: [x]}").size(), 15U);
}

TEST(SweepFile, WarnsOfAParameterThatIsNotUsed) {
  const auto loaded = load("command: e\nparameters: {seed: 1..2}");
  EXPECT_THAT(
      loaded.warnings,
      ElementsAre(
          "parameter 'seed' is not used in the command; tasks see it as $GANTRY_PARAM_seed"));
}

TEST(SweepFile, TheDigestKnowsWhatDefinesTheTasks) {
  const std::string base = "command: 'e {a}'\nparameters: {a: [1, 2]}\n";
  const auto digest = [](const std::string& text) { return load(text).sweep.digest(); };
  EXPECT_EQ(digest(base),
            digest(base + "description: x\nretries: 3\ntimeout: 5\nresources: {cores: 4}\n"));
  EXPECT_NE(digest(base), digest(base + "environment: {X: 1}\n"));
  EXPECT_NE(digest(base), digest(base + "outputs: o{a}\n"));
  EXPECT_EQ(digest(base + "outputs: ['o{a}']\n"),
            digest(base + "outputs: [{file: 'o{a}', keep: remote}]\n"));
  EXPECT_NE(digest(base), digest("command: 'e {a}'\nparameters: {a: [1, 3]}\n"));
  EXPECT_NE(digest(base), digest("command: 'e  x {a}'\nparameters: {a: [1, 2]}\n"));
}

}  // namespace
}  // namespace gantry::spec
