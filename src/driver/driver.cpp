#include "driver/driver.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <string>
#include <system_error>
#include <thread>

#include "base/machine.hpp"
#include "driver/content_cache.hpp"
#include "driver/grid_launch.hpp"
#include "driver/hub.hpp"
#include "driver/run_setup.hpp"
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

/// Waits for a gantry that drives runs here, if the person wants that.
Result<store::RunLock> lock_state(const Options& options, const Observer& observer) {
  auto lock = store::RunLock::acquire(options.state_dir);
  if (!options.wait || lock || lock.error().code != ErrorCode::busy) return lock;
  if (observer.notice) observer.notice(lock.error().message + "; waiting for it to end");
  constexpr auto kLook = std::chrono::milliseconds(100);
  while (!lock && lock.error().code == ErrorCode::busy) {
    std::this_thread::sleep_for(kLook);
    lock = store::RunLock::acquire(options.state_dir);
  }
  return lock;
}

tl::unexpected<Error> fail_twice(const Job& job) {
  return fail(ErrorCode::usage, "the same study is named twice: " + job.source.path,
              "name each study once");
}

Result<> check_different(std::span<const Job> jobs) {
  std::set<std::string> seen;
  for (const Job& job : jobs)
    if (!seen.insert(job.application.digest().hex()).second) return fail_twice(job);
  return {};
}

}  // namespace

Result<std::vector<Summary>> drive(std::span<const Job> jobs, const Options& options,
                                   const Observer& observer, const Clock& clock) {
  TRY(check_different(jobs));
  TRY(check_apart(jobs));
  TRY(make_state_dir(options.state_dir));
  TRY_ASSIGN(const auto lock, lock_state(options, observer));
  TRY_ASSIGN(auto store, store::Store::open(options.state_dir, store::Access::read_write));
  ContentCache contents(store, options.state_dir);
  if (!options.job_log.empty())
    contents.leave_out(
        [&] { return std::vector{std::filesystem::absolute(options.job_log).string()}; });
  UndrivenRuns others(store, options);
  TRY_ASSIGN(auto sites, GridLaunch::make(options));
  std::set<RunId> ours;
  std::vector<std::optional<ContinuedRun>> continued;
  for (const Job& job : jobs) {
    TRY_ASSIGN(auto run, run_to_continue(store, job.application, options));
    if (run && !ours.insert(run->record.id).second) return fail_twice(job);
    continued.push_back(std::move(run));
  }
  TRY_ASSIGN(const auto earlier, store.runs());
  const bool all_finished = std::ranges::all_of(
      earlier, [](const store::RunRecord& run) { return run.state == store::RunState::finished; });
  Hub hub(options, observer, store, contents, sites, others, clock);
  TRY_ASSIGN(auto opened,
             take_over(sites.sites(), all_finished ? Leftovers::none : Leftovers::possible, store,
                       others, jobs, ours, observer, clock));
  for (std::size_t i = 0; i < jobs.size(); ++i) TRY(hub.add(jobs[i], continued[i], options));
  auto summaries = hub.run(std::move(opened));
  static_cast<void>(store.index_results());  // or else the next call does
  return summaries;
}

std::uint32_t cores_here() {
  return usable_cores();
}

}  // namespace gantry::driver
