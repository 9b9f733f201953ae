// gantry fetch: brings outputs home that stayed at the sites where they were made.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <set>

#include "cli/commands.hpp"
#include "cli/display_text.hpp"
#include "cli/error_report.hpp"
#include "cli/json_line.hpp"
#include "cli/study.hpp"
#include "cli/task_options.hpp"
#include "driver/fetch_outputs.hpp"
#include "model/quantity.hpp"
#include "spec/grid_file.hpp"

namespace gantry::cli {
namespace {

using Outputs = std::vector<store::Store::RemoteOutput>;

struct FetchCommandOptions {
  TaskOptions tasks;
  std::string grid;
  bool all = false;
  bool json = false;
};

/// What the chosen tasks have made, also when an earlier run made it for them.
Outputs chosen(const StoredRun& run, const TaskFilter& filter, Outputs all) {
  std::set<std::string> known;
  for (const auto& output : all) known.insert(output.file.path);
  std::set<std::string> theirs;
  const auto study = reload_study(run.record);
  Task task;
  for (std::uint32_t i = 1; study && i <= run.record.counts.total; ++i) {
    if (!filter.selector.contains(TaskId(i))) continue;
    study->sweep.fill_task(TaskId(i), task);
    for (const auto& path : task.outputs)
      if (known.contains(path)) theirs.insert(path);
  }
  std::erase_if(all, [&](const auto& output) {
    const bool made_here =
        output.made_by.run == run.record.id && filter.selector.contains(output.made_by.task);
    return !made_here && !theirs.contains(output.file.path);
  });
  return all;
}

void print_site(Context& context, const FetchCommandOptions& options, const std::string& site,
                const driver::Fetched& fetched) {
  if (options.json) {
    JsonLine line(context.out.buffer());
    line.text("site", site).number("files", fetched.files).number("bytes", fetched.bytes);
    line.number("failed", fetched.problems.size()).close();
  } else if (fetched.files > 0 || fetched.problems.empty()) {
    context.out.line(fmt::format("fetched {} file{} ({}) from {}", fetched.files,
                                 fetched.files == 1 ? "" : "s", format_bytes(fetched.bytes), site));
  }
  for (const auto& problem : fetched.problems) context.complain("gantry: " + one_line(problem));
}

Result<Outputs> wanted_outputs(const Context& context, const FetchCommandOptions& options) {
  if (options.all) {
    TRY_ASSIGN(const store::Store store, open_store(context));
    return store.remote_outputs();
  }
  TRY_ASSIGN(const StoredRun run, open_run(context, options.tasks.run));
  TRY_ASSIGN(const TaskFilter filter, filter_of(options.tasks, run.record));
  TRY_ASSIGN(Outputs all, run.store.remote_outputs());
  return chosen(run, filter, std::move(all));
}

Result<int> fetch(Context& context, const FetchCommandOptions& options) {
  TRY_ASSIGN(Outputs outputs, wanted_outputs(context, options));
  if (outputs.empty()) {
    context.note("none of these outputs is kept at a site");
    return kExitOk;
  }
  TRY_ASSIGN(store::Store store, open_store(context, store::Access::read_write));
  std::map<std::pair<std::string, std::string>, Outputs> by_site;  // grid file, site
  for (auto& output : outputs) {
    const std::string& grid = options.grid.empty() ? output.file.grid : options.grid;
    by_site[{grid, output.file.site}].push_back(std::move(output));
  }
  bool fine = true;
  for (const auto& [place, theirs] : by_site) {
    auto grid = spec::load_grid(place.first);
    auto fetched =
        grid ? driver::fetch_outputs(store, *grid, place.second, theirs, {context.state_dir})
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
  auto options = std::make_shared<FetchCommandOptions>();
  CLI::App* command = app.add_subcommand("fetch", "Bring outputs home that were kept at sites");
  add_task_options(*command, options->tasks);
  command->add_flag("--all", options->all, "Of all runs, also of removed ones");
  command->add_option("--grid", options->grid, "The grid file, if it is not the run's any more")
      ->type_name("FILE");
  command->add_flag("--json", options->json, "One JSON object a site");
  command->footer(
      "Outputs with 'keep: remote' stay where they were made. This brings them to where\n"
      "they would be had the task run here, and takes them away there. Each is compared\n"
      "with what the task made; what was interrupted goes on where it stopped.\n\n"
      "Examples:\n"
      "  gantry fetch                     all of the last run\n"
      "  gantry fetch 17,20-30            of these tasks\n"
      "  gantry fetch --all --grid grid.yaml");
  command->callback([options, &action] {
    action = [options](Context& context) { return fetch(context, *options); };
  });
}

}  // namespace gantry::cli
