#include "cli/commands/watched_work.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <optional>

#include "base/background.hpp"
#include "cli/terminal/error_report.hpp"
#include "cli/terminal/format.hpp"
#include "cli/terminal/redraw_block.hpp"
#include "driver/signals.hpp"

namespace gantry::cli {
namespace {

using namespace std::chrono_literals;

constexpr int kWorkLookEvery = 100;       ///< milliseconds
constexpr Duration kWorkLineEvery = 10s;  ///< where there is no terminal

/// "psa-table1  120/2000  6%  ETA 41 s  elapsed 2.6 s"
std::string work_line(const WatchedWork& work, std::size_t done, Duration elapsed, bool stopping) {
  const std::size_t percent = work.steps > 0 ? 100 * done / work.steps : 100;
  std::string line = fmt::format("{}  {}/{}  {}%", work.name, done, work.steps, percent);
  if (stopping) return line + "  stopping: finishing running trials; Ctrl-C again ends them";
  if (done > 0 && done < work.steps) {
    const double left =
        seconds(elapsed) * static_cast<double>(work.steps - done) / static_cast<double>(done);
    line += "  ETA " + (left < 60 ? fmt::format("{:.0f} s", std::max(left, 1.0))
                                  : format_duration(from_seconds(left)));
  }
  return line + "  elapsed " + format_duration(elapsed);
}

}  // namespace

Result<bool> watch_work(Context& context, const WatchedWork& work) {
  // Before the threads: they inherit that signals are for us to read.
  TRY_ASSIGN(driver::StopSignals signals, driver::StopSignals::watch());
  std::atomic<std::size_t> done = 0;
  Result<> result;
  TRY_ASSIGN(Background worker, Background::start([&](const std::stop_token& stop) {
               result = work.run(stop, [&] { ++done; });
             }));
  const TimePoint began = context.clock.now();
  RedrawBlock block(context.err, [fd = context.err.fd()] { return Terminal::columns(fd); });
  Duration last_line{0};
  int signals_seen = 0;
  for (;;) {
    std::array<pollfd, 2> fds{{{worker.done_fd(), POLLIN, 0}, {signals.fd(), POLLIN, 0}}};
    ::poll(fds.data(), fds.size(), kWorkLookEvery);
    if ((fds[0].revents & POLLIN) != 0) break;
    signals_seen += signals.take();
    if (signals_seen > 0) worker.request_stop();
    if (signals_seen > (work.keeps ? 1 : 0)) {
      block.clear();
      context.err.flush();
      std::_Exit(kExitTasksFailed);  // what is to be kept is written; the threads would go on
    }
    const Duration elapsed = context.clock.now() - began;
    const std::string line = work_line(work, done, elapsed, signals_seen > 0);
    if (context.terminal.stderr_is_tty) {
      block.draw({line});
    } else if (elapsed - last_line >= kWorkLineEvery) {
      last_line = elapsed;
      context.note(line);
    }
  }
  worker.join();
  block.clear();
  context.err.flush();
  TRY(result);
  return signals_seen > 0 && done < work.steps;
}

}  // namespace gantry::cli
