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
#include "store/live_state.hpp"
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
std::vector<std::string> written_files(std::span<const Job> jobs, const Options& options) {
  std::vector<std::string> files;
  if (!options.job_log.empty())
    files.push_back(std::filesystem::absolute(options.job_log).string());
  Task task;
  for (const Job& job : jobs) {
    for (std::uint32_t i = 1; i <= job.sweep.size(); ++i) {
      job.sweep.fill_task(TaskId(i), task);
      for (const auto* list : {&task.outputs, &task.collect})
        files.insert(files.end(), list->begin(), list->end());
    }
  }
  return files;
}

/// Waits for a gantry that drives runs here, if the person wants that. `left`: what one that was
/// killed has left, which can be told only while nobody holds the lock.
Result<store::RunLock> lock_state(const Options& options, const Observer& observer,
                                  std::optional<store::LiveState>& left) {
  left = store::read_left_live(options.state_dir);
  auto lock = store::RunLock::acquire(options.state_dir);
  if (!options.wait || lock || lock.error().code != ErrorCode::busy) return lock;
  if (observer.notice) observer.notice(lock.error().message + "; waiting for it to end");
  constexpr auto kLook = std::chrono::milliseconds(100);
  while (!lock && lock.error().code == ErrorCode::busy) {
    std::this_thread::sleep_for(kLook);
    left = store::read_left_live(options.state_dir);
    lock = store::RunLock::acquire(options.state_dir);
  }
  return lock;
}

Result<> check_different(std::span<const Job> jobs) {
  std::set<std::string> seen;
  for (const Job& job : jobs)
    if (!seen.insert(job.sweep.digest().hex()).second)
      return fail(ErrorCode::usage, "the same study is named twice: " + job.source.path,
                  "name each study once");
  return {};
}

/// Those that a gantry which was killed had at sites.
std::set<std::string> far_hosts(const store::LiveState& left) {
  std::set<std::string> names;
  for (const store::LiveHost& host : left.hosts) {
    const bool is_far = host.site < left.sites.size() && left.sites[host.site].name != kHomeSite;
    if (is_far && host.condition == HostCondition::up) names.insert(host.name);
  }
  return names;
}

}  // namespace

Result<std::vector<Summary>> drive(std::span<const Job> jobs, const Options& options,
                                   const Observer& observer, const Clock& clock) {
  TRY(check_different(jobs));
  TRY(make_state_dir(options.state_dir));
  std::optional<store::LiveState> left;
  TRY_ASSIGN(const auto lock, lock_state(options, observer, left));
  TRY_ASSIGN(auto store, store::Store::open(options.state_dir, store::Access::read_write));
  ContentCache contents(store, options.state_dir);
  contents.leave_out([&] { return written_files(jobs, options); });
  UndrivenRuns others(store, options);
  TRY_ASSIGN(auto sites, GridLaunch::make(options));
  std::set<RunId> ours;
  for (const Job& job : jobs) {
    TRY_ASSIGN(const auto run, run_to_continue(store, job.sweep, options));
    if (run) ours.insert(run->id);
  }
  TRY_ASSIGN(const auto earlier, store.runs());
  const bool all_finished = std::ranges::all_of(
      earlier, [](const store::RunRecord& run) { return run.state == store::RunState::finished; });
  Hub hub(options, observer, store, contents, sites, others, clock);
  TRY_ASSIGN(auto opened,
             take_over(sites.sites(), all_finished ? Leftovers::none : Leftovers::possible, store,
                       others, jobs, ours, observer, clock));
  for (const Job& job : jobs) {
    TRY(hub.add(job));
  }
  if (left) hub.expect(RunId(left->run), far_hosts(*left));
  return hub.run(std::move(opened));
}

std::uint32_t cores_here() {
  return usable_cores();
}

}  // namespace gantry::driver
