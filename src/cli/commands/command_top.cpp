// gantry top: what sites, hosts and links do while a run goes on.
#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "cli/commands/commands.hpp"
#include "cli/commands/top_screen.hpp"
#include "cli/terminal/error_report.hpp"
#include "cli/terminal/full_screen.hpp"
#include "query/run_status.hpp"
#include "query/stored_run.hpp"
#include "store/live_state.hpp"
#include "store/run_lock.hpp"

namespace gantry::cli {
namespace {

using namespace std::chrono_literals;

constexpr Duration kRefresh = 1s;
/// For a gantry that has just been started to show something.
constexpr Duration kPatience = 1s;
constexpr Duration kLookEvery = 50ms;

struct TopOptions {
  bool json = false;
  bool once = false;
};

/// Waits a little while somebody is about to begin.
std::optional<store::LiveState> first_look(const Context& context) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  for (;;) {
    if (auto state = store::read_live(context.state_dir)) return state;
    if (!store::RunLock::holder(context.state_dir)) return std::nullopt;
    if (std::chrono::steady_clock::now() > deadline) return std::nullopt;
    std::this_thread::sleep_for(kLookEvery);
  }
}

/// Nothing can be shown: why, and what to do.
Result<int> explain_nothing(Context& context) {
  if (const auto holder = store::RunLock::holder(context.state_dir)) {
    context.note(fmt::format(
        "gantry (process {}) drives a run in {} but shows nothing yet: it may be waiting for tasks "
        "of another run, or connecting to hosts. Try again in a moment",
        *holder, context.state_dir.string()));
    return kExitTasksFailed;
  }
  TRY_ASSIGN(const query::StoredRun run, query::open_run(context.state_dir, "last"));
  TRY_ASSIGN(const auto left, query::AgentView(context.state_dir).count(run.store, run.record.id));
  if (query::phase_of(run.record, std::nullopt) == query::RunPhase::interrupted)
    context.note(fmt::format(
        "no run is in progress here: run {} was interrupted, {}and the same gantry run again "
        "continues it. gantry status says more",
        run.record.id.value(),
        left.running + left.unseen > 0 ? "some of its tasks may still run, " : ""));
  else
    context.note(fmt::format(
        "no run is in progress here: run {} has ended. gantry status and gantry results say more",
        run.record.id.value()));
  return kExitTasksFailed;
}

void print_once(Context& context, const store::LiveState& state) {
  for (const auto& line : top_lines(state, RealClock{}.now(), context.table_style()))
    context.out.line(line);
}

/// Until the person leaves or nobody drives the run any more.
Result<int> watch_top(Context& context, store::LiveState state) {
  bool ended = false;
  {
    TRY_ASSIGN(FullScreen screen, FullScreen::open(context.out));
    do {
      if (auto news = store::read_live(context.state_dir))
        state = std::move(*news);
      else
        ended = !store::RunLock::holder(context.state_dir);
      screen.draw(
          fit_rows(top_lines(state, RealClock{}.now(), context.table_style()), screen.rows()));
    } while (!ended && !context.out.closed() && screen.wait(kRefresh));
  }
  if (!ended) return kExitOk;
  print_once(context, state);
  context.note(
      fmt::format("run {} is no longer in progress: gantry status says how it ended", state.run));
  return kExitOk;
}

Result<int> run_top(Context& context, const TopOptions& options) {
  auto state = first_look(context);
  if (!state) return explain_nothing(context);
  if (options.json)
    context.out.write(store::live_text(*state));
  else if (options.once || !context.terminal.stdout_is_tty)
    print_once(context, *state);
  else
    return watch_top(context, std::move(*state));
  return kExitOk;
}

}  // namespace

void add_top(CLI::App& app, Action& action) {
  const auto [command, options] =
      add_command(app, action, "top", "Watch the sites, hosts and links of a run", run_top);
  command->add_flag("--once", options->once, "Print it once, as without a terminal");
  command->add_flag("--json", options->json, "One JSON document (docs/formats/live.md)");
  command->footer(
      "Shows a run that another gantry drives, refreshed each second; q or Ctrl-C\n"
      "quits. A site has: hosts that are up, slots in use, shared files that are there,\n"
      "and the traffic on its link. A host has: its state, running tasks and for how\n"
      "long, how many have ended there, how long a task takes (pace), and what is left\n"
      "of its cores, memory and disk.\n"
      "\n"
      "Examples:\n"
      "  gantry top\n"
      "  gantry top --json | jq '.hosts[] | select(.state == \"lost\")'");
}

}  // namespace gantry::cli
