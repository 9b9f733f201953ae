#include "driver/driver.hpp"

#include <algorithm>
#include <string>
#include <system_error>

#include "base/machine.hpp"
#include "driver/content_cache.hpp"
#include "driver/grid_launch.hpp"
#include "driver/run_setup.hpp"
#include "driver/session.hpp"
#include "driver/shared_inputs.hpp"
#include "driver/take_over.hpp"
#include "driver/undriven_runs.hpp"
#include "store/run_lock.hpp"

namespace gantry::driver {

namespace {

Result<> make_state_dir(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error) return {};
  return fail(ErrorCode::io, path.string() + ": " + error.message(),
              "choose another place for Gantry's state with --state DIR");
}

/// Whatever tasks declare that they write, and we.
std::vector<std::string> written_files(const Sweep& sweep, const Options& options) {
  std::vector<std::string> files;
  if (!options.job_log.empty())
    files.push_back(std::filesystem::absolute(options.job_log).string());
  Task task;
  for (std::uint32_t i = 1; i <= sweep.size(); ++i) {
    sweep.fill_task(TaskId(i), task);
    for (const auto* list : {&task.outputs, &task.collect})
      files.insert(files.end(), list->begin(), list->end());
  }
  return files;
}

}  // namespace

Result<Summary> drive(const Sweep& sweep, const SpecSource& source, const Options& options,
                      const Observer& observer, const Clock& clock) {
  const TimePoint began = clock.now();
  TRY(make_state_dir(options.state_dir));
  TRY_ASSIGN(const auto lock, store::RunLock::acquire(options.state_dir));
  TRY_ASSIGN(auto store, store::Store::open(options.state_dir, store::Access::read_write));
  ContentCache contents(store, options.state_dir);
  contents.leave_out([&] { return written_files(sweep, options); });
  UndrivenRuns others(store, options);
  TRY_ASSIGN(auto sites, GridLaunch::make(options, source.base_dir));
  const SharedInputs shared = sites.travels() ? SharedInputs(sweep) : SharedInputs();
  TRY_ASSIGN(const auto ours, run_to_continue(store, sweep, options));
  TRY_ASSIGN(const auto earlier, store.runs());
  if (std::ranges::all_of(earlier, [](const store::RunRecord& run) {
        return run.state == store::RunState::finished;
      }))
    sites.launcher().expect_nothing();
  TRY_ASSIGN(auto opened, take_over(sites.launcher(), store, others, sweep,
                                    ours ? ours->id : RunId{}, observer, clock));
  TRY_ASSIGN(auto run, prepare_run(store, sweep, source, options, contents, clock.now(),
                                   sites.map(), shared));
  Session session(sweep, options, observer, store, contents, sites, shared, others, clock,
                  std::move(run), began);
  return session.run(std::move(opened));
}

std::uint32_t cores_here() {
  return usable_cores();
}

}  // namespace gantry::driver
