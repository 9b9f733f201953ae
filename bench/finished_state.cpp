// Makes a state directory with many finished tasks, as if gantry had run them, for
// bench/opening.py:
//
//   finished_state FOLDER RUNS TASKS
//
// Study N is FOLDER/study-N.yaml; the same commands go on with its run.
#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include "base/fd.hpp"
#include "driver/content_cache.hpp"
#include "driver/old_results.hpp"
#include "driver/recovery.hpp"
#include "spec/spec.hpp"
#include "store/store.hpp"

namespace gantry {
namespace {

constexpr std::uint32_t kGroup = 100'000;  ///< ends in a commit
constexpr std::int64_t kBegan = 1'700'000'000'000'000'000;
constexpr std::int64_t kMillisecond = 1'000'000;

store::RunRecord record_of(const Application& application, const SpecSource& source) {
  store::RunRecord record;
  record.name = application.name();
  record.digest = application.digest();
  record.study = application.study_digest();
  record.source = source;
  record.parameter_names = application.parameter_names();
  record.result_names = application.result_names();
  record.result_rules = driver::recorded_rules(application);
  record.state = store::RunState::finished;
  record.created = record.updated = from_ns(kBegan);
  record.counts.total = record.counts.done = application.size();
  return record;
}

AttemptEnded end_of(RunId run, const Task& task, const Fingerprint& print) {
  AttemptEnded ended;
  ended.report.key = {run, task.id, AttemptId(1)};
  ended.report.started = from_ns(kBegan + kMillisecond * task.id.value());
  ended.report.ended = ended.report.started + Duration(kMillisecond);
  ended.report.usage = {Duration(600'000), Duration(400'000), 3 << 20};
  ended.host = HostId(1);
  ended.host_name = "here";
  ended.parameters = task.parameters;
  ended.fingerprint = print;
  return ended;
}

Result<> finish(store::Store& store, driver::ContentCache& contents, const Application& application,
                const SpecSource& source) {
  TRY_ASSIGN(const RunId run, store.create_run(record_of(application, source)));
  TRY(store.append(
      run, TasksAdded{run, application.batches().front(), application.points(0), from_ns(kBegan)}));
  TRY(store.append(run, RunClosed{run, from_ns(kBegan)}));
  Task task;
  for (std::uint32_t i = 1; i <= application.size(); ++i) {
    application.fill_task(TaskId(i), task);
    TRY_ASSIGN(const Fingerprint print, contents.fingerprint(task));
    TRY(store.append(run, end_of(run, task, print)));
    if (i % kGroup == 0) TRY(store.commit());
  }
  TRY(store.commit());
  const driver::DrivenRun driven{run, &application};
  TRY(driver::keep_snapshots(store, std::span(&driven, 1)));
  return store.index_results();
}

Result<> make(const std::filesystem::path& folder, int runs, int tasks) {
  TRY_ASSIGN(store::Store store, store::Store::open(folder / ".gantry", store::Access::read_write));
  driver::ContentCache contents(store);
  for (int run = 1; run <= runs; ++run) {
    const auto file = folder / fmt::format("study-{}.yaml", run);
    TRY(write_file_atomic(file, fmt::format("command: /bin/true {} {{x}}\n"
                                            "parameters: {{x: 1..{}}}\n",
                                            run, tasks)));
    TRY_ASSIGN(auto study, spec::load_sweep(file));
    TRY(finish(store, contents, Application(std::move(study.sweep)), study.source));
  }
  return {};
}

}  // namespace
}  // namespace gantry

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fputs("finished_state FOLDER RUNS TASKS\n", stderr);
    return 2;
  }
  const auto made = gantry::make(argv[1], std::atoi(argv[2]), std::atoi(argv[3]));
  if (!made) std::fprintf(stderr, "%s\n", made.error().message.c_str());
  return made ? 0 : 1;
}
