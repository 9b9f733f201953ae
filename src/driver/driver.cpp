#include "driver/driver.hpp"

#include <memory>
#include <system_error>

#include "actuate/launch/local_launcher.hpp"
#include "driver/content_cache.hpp"
#include "driver/run_setup.hpp"
#include "driver/session.hpp"
#include "driver/signals.hpp"
#include "store/run_lock.hpp"

namespace gantry::driver {

namespace {

std::unique_ptr<Launcher> local_site(const Options& options) {
  const std::uint32_t cores = options.jobs != 0 ? options.jobs : usable_cores();
  return make_local_launcher({options.state_dir, cores, usable_memory()});
}

Result<> make_state_dir(const std::filesystem::path& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!error) return {};
  return fail(ErrorCode::io, path.string() + ": " + error.message(),
              "choose another place for Gantry's state with --state DIR");
}

}  // namespace

Result<Summary> drive(const Sweep& sweep, const store::SpecSource& source, const Options& options,
                      const Observer& observer) {
  TRY(make_state_dir(options.state_dir));
  TRY_ASSIGN(const auto lock, store::RunLock::acquire(options.state_dir));
  TRY_ASSIGN(auto store, store::Store::open(options.state_dir, store::Access::read_write));
  const RealClock clock;
  ContentCache contents(store);
  TRY_ASSIGN(auto signals, StopSignals::watch());
  TRY_ASSIGN(auto run, prepare_run(store, sweep, source, options, contents, clock.now()));
  const auto launcher = local_site(options);
  Session session(sweep, options, observer, store, contents, *launcher, clock, std::move(run));
  return session.run(signals);
}

std::uint32_t cores_here() {
  return usable_cores();
}

Result<> cancel_undriven(const Sweep& sweep, const Options& options,
                         const store::Request& request) {
  TRY_ASSIGN(const auto lock, store::RunLock::acquire(options.state_dir));
  TRY_ASSIGN(auto store, store::Store::open(options.state_dir, store::Access::read_write));
  const RealClock clock;
  ContentCache contents(store);
  Options continued = options;
  continued.continue_run = request.run;
  TRY_ASSIGN(auto run, prepare_run(store, sweep, {}, continued, contents, clock.now()));
  const auto launcher = local_site(options);
  Session session(sweep, options, {}, store, contents, *launcher, clock, std::move(run));
  return session.cancel(request);
}

}  // namespace gantry::driver
