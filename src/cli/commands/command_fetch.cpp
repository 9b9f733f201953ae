// gantry fetch: brings outputs home that stayed at the sites where they were made.
#include <fmt/format.h>

#include <chrono>
#include <map>
#include <thread>
#include <utility>

#include "cli/commands/commands.hpp"
#include "cli/commands/study.hpp"
#include "cli/commands/task_options.hpp"
#include "cli/terminal/display_text.hpp"
#include "cli/terminal/error_report.hpp"
#include "cli/terminal/json_line.hpp"
#include "model/quantity.hpp"
#include "operate/fetch_outputs.hpp"
#include "query/remote_outputs.hpp"
#include "query/stored_run.hpp"
#include "spec/grid_file.hpp"
#include "store/run_lock.hpp"

namespace gantry::cli {
namespace {

constexpr auto kLookAgain = std::chrono::milliseconds(100);

struct FetchCommandOptions {
  TaskOptions tasks;
  std::string grid;
  bool all = false;
  bool json = false;
};

void print_site(Context& context, const FetchCommandOptions& options, const std::string& site,
                const operate::Fetched& fetched) {
  if (options.json) {
    JsonLine line(context.out.buffer());
    line.text("site", site).number("files", fetched.files).number("bytes", fetched.bytes);
    line.number("failed", fetched.problems.size()).close();
  } else if (fetched.files > 0 || fetched.problems.empty()) {
    context.out.line(fmt::format("fetched {} ({}) from {}", count_of(fetched.files, "file"),
                                 format_bytes(fetched.bytes), site));
  }
  for (const auto& problem : fetched.problems) context.complain("gantry: " + one_line(problem));
}

Result<query::RemoteOutputs> wanted_outputs(const Context& context,
                                            const FetchCommandOptions& options) {
  if (options.all) {
    TRY_ASSIGN(const store::Store store, query::open_store(context.state_dir));
    return store.remote_outputs();
  }
  TRY_ASSIGN(const query::StoredRun run, query::open_run(context.state_dir, options.tasks.run));
  TRY_ASSIGN(const query::TaskFilter filter, filter_of(options.tasks, run.record));
  TRY_ASSIGN(query::RemoteOutputs all, run.store.remote_outputs());
  return query::outputs_of(run.record, filter.selector, std::move(all), reload_application);
}

/// Nothing is to be fetched: why, and whether other runs have something.
Result<int> tell_nothing_is_kept(Context& context, const FetchCommandOptions& options) {
  TRY_ASSIGN(const store::Store store, query::open_store(context.state_dir));
  TRY_ASSIGN(auto others, store.remote_outputs());
  std::erase_if(others, [](const auto& output) { return output.replaced; });
  context.note(
      options.all || others.empty()
          ? std::string("none of these outputs is kept at a site")
          : fmt::format("none of these outputs is kept at a site; gantry fetch --all brings "
                        "{} of other tasks or runs",
                        others.size()));
  return kExitOk;
}

/// Two that bring the same file would write over each other, and take it away under each other.
Result<store::RunLock> wait_for_turn(Context& context) {
  bool told = false;
  for (;;) {
    auto lock = store::RunLock::acquire(context.state_dir / "fetch");
    if (lock || lock.error().code != ErrorCode::busy) return lock;
    if (!std::exchange(told, true)) {
      const auto holder = store::RunLock::holder(context.state_dir / "fetch");
      context.note(
          fmt::format("waiting for another gantry fetch (process {}) to end", holder.value_or(0)));
    }
    std::this_thread::sleep_for(kLookAgain);
  }
}

Result<int> fetch(Context& context, const FetchCommandOptions& options) {
  TRY(query::open_store(context.state_dir));  // before a folder is made
  TRY_ASSIGN(const store::RunLock turn, wait_for_turn(context));
  TRY_ASSIGN(query::RemoteOutputs outputs, wanted_outputs(context, options));
  if (outputs.empty()) return tell_nothing_is_kept(context, options);
  TRY_ASSIGN(store::Store store, query::open_store(context.state_dir, store::Access::read_write));
  std::map<std::pair<std::string, std::string>, query::RemoteOutputs> by_site;  // grid file, site
  for (auto& output : outputs) {
    const std::string& grid = options.grid.empty() ? output.file.grid : options.grid;
    by_site[{grid, output.file.site}].push_back(std::move(output));
  }
  bool fine = true;
  for (const auto& [place, theirs] : by_site) {
    auto grid = spec::load_grid(place.first);
    const operate::FetchOptions how{
        .state_dir = context.state_dir,
        .notice = [&](const std::string& text) { context.complain("gantry: " + one_line(text)); }};
    auto fetched = grid ? operate::fetch_outputs(store, *grid, place.second, theirs, how)
                        : tl::unexpected(std::move(grid).error());
    if (fetched) {
      print_site(context, options, place.second, *fetched);
    } else {
      if (options.grid.empty() && fetched.error().hint.empty())
        fetched.error().hint = "--grid FILE names another grid file";
      context.report(fetched.error());
    }
    fine = fine && fetched && fetched->problems.empty();
  }
  return fine ? kExitOk : kExitTasksFailed;
}

}  // namespace

void add_fetch(CLI::App& app, Action& action) {
  const auto [command, options] =
      add_command(app, action, "fetch", "Bring home outputs that were kept at sites", fetch);
  add_task_options(*command, options->tasks);
  command->add_flag("--all", options->all, "Outputs of all runs, even of removed ones");
  command->add_option("--grid", options->grid, "Use this grid file instead of the run's")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "One JSON object per site");
  command->footer(
      "Outputs with 'keep: remote' stay where they were made. fetch brings them to\n"
      "where they would be if the task had run here, verifies them, and removes them\n"
      "there. An interrupted fetch continues where it stopped.\n"
      "\n"
      "Examples:\n"
      "  gantry fetch                     everything of the last run\n"
      "  gantry fetch 17,20-30            outputs of these tasks\n"
      "  gantry fetch --all --grid grid.yaml");
}

}  // namespace gantry::cli
