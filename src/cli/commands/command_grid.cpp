// gantry grid: the machines that a grid file names: what they are, and whether they can be used.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "cli/commands/commands.hpp"
#include "cli/commands/grid_report.hpp"
#include "cli/commands/top_screen.hpp"
#include "cli/terminal/display_text.hpp"
#include "cli/terminal/error_report.hpp"
#include "cli/terminal/json_line.hpp"
#include "model/quantity.hpp"
#include "model/suggest.hpp"
#include "operate/grid_check.hpp"
#include "operate/grid_remove.hpp"
#include "query/site_requests.hpp"
#include "spec/grid_file.hpp"
#include "store/live_state.hpp"

namespace gantry::cli {
namespace {

constexpr Duration kMostPatience = std::chrono::hours(1);

struct GridCommandOptions {
  std::string action;
  std::string file;
  std::vector<std::string> sites;
  std::string patience;
  bool all = false;
  bool unfetched = false;
  bool json = false;
};

/// What the sites do now, if a run uses some of them.
void print_live(Context& context, const Grid& grid) {
  const auto live = store::read_live(context.state_dir);
  if (!live) return;
  const bool ours = std::ranges::any_of(live->sites, [&](const store::LiveSite& site) {
    return site.name != kHomeSite &&
           std::ranges::find(grid.sites, site.name, &GridSite::name) != grid.sites.end();
  });
  if (!ours) return;
  context.out.line("");
  context.out.line(fmt::format("run {} is in progress (gantry top keeps showing it):", live->run));
  for (const auto& line : top_lines(*live, RealClock{}.now(), context.table_style()))
    context.out.line(line);
}

/// Tells a person what is waited for: first tasks, then their outputs, each once.
Result<> drain(Context& context, const store::LiveState& live,
               const std::vector<std::string>& sites) {
  bool told_running = false;
  bool told_homeward = false;
  return query::drain_sites(context.state_dir, live, sites, [&](const query::WorkAtSites& work) {
    if (work.running > 0 && !std::exchange(told_running, true))
      context.note(
          fmt::format("waiting for {} there to end; Ctrl-C ends only the waiting, and "
                      "cancel ends tasks",
                      count_of(work.running, "task")));
    if (work.running == 0 && work.homeward > 0 && !std::exchange(told_homeward, true))
      context.note(
          fmt::format("waiting for what {} made there to come home; Ctrl-C ends only "
                      "the waiting",
                      count_of(work.homeward, "task")));
  });
}

Result<int> grid_list(Context& context, const GridCommandOptions& options) {
  if (!options.sites.empty())
    return fail(ErrorCode::usage, "'grid list' shows all sites", "gantry grid list GRID");
  TRY_ASSIGN(const Grid grid, spec::load_grid(options.file));
  if (options.json)
    print_grid_json(context, grid);
  else
    print_grid(context, grid);
  if (!options.json) print_live(context, grid);
  return kExitOk;
}

Result<int> grid_check(Context& context, const GridCommandOptions& options) {
  TRY_ASSIGN(const Grid grid, spec::load_grid(options.file));
  operate::GridCheckOptions how;
  if (!options.patience.empty()) {
    const auto patience = parse_duration(options.patience);
    if (!patience || *patience <= Duration{0} || *patience > kMostPatience)
      return fail(ErrorCode::usage, fmt::format("'{}' is not a time", one_line(options.patience)),
                  "write 5s or 1m");
    how.patience = *patience;
  }
  TRY_ASSIGN(const auto checks, operate::check_grid(grid, options.sites, how));
  const bool fine =
      options.json ? print_check_json(context, grid, checks) : print_check(context, grid, checks);
  return fine ? kExitOk : kExitTasksFailed;
}

Result<int> grid_remove(Context& context, const GridCommandOptions& options) {
  if (options.sites.size() != 1)
    return fail(ErrorCode::usage, "'grid remove' needs one site", "gantry grid remove GRID SITE");
  TRY_ASSIGN(const Grid grid, spec::load_grid(options.file));
  operate::GridRemoveOptions how;
  how.state_dir = context.state_dir;
  how.all = options.all;
  how.unfetched = options.unfetched;
  if (const auto live = store::read_live(context.state_dir)) {
    how.beside_run = true;
    TRY(operate::check_fetched(options.sites.front(), how));
    if (query::find_site(*live, options.sites.front()) != nullptr)
      TRY(drain(context, *live, options.sites));
  }
  TRY_ASSIGN(const depot::SiteRemoval removal,
             operate::remove_from_site(grid, options.sites.front(), how));
  if (options.json) {
    JsonLine line(context.out.buffer());
    line.text("site", options.sites.front()).number("bytes", removal.bytes);
    line.number("files", removal.files).number("kept", removal.kept).close();
    return kExitOk;
  }
  context.out.line(fmt::format("{}: removed {} in {}", options.sites.front(),
                               format_bytes(removal.bytes), count_of(removal.files, "file")));
  if (removal.kept > 0)
    context.out.line(fmt::format("kept what {} other state director{} there; --all removes it",
                                 removal.kept, removal.kept == 1 ? "y has" : "ies have"));
  return kExitOk;
}

Result<int> grid_add(Context& context, const GridCommandOptions& options) {
  TRY_ASSIGN(const Grid grid, spec::load_grid(options.file));
  TRY_ASSIGN(const auto sites, query::add_sites(context.state_dir, grid, options.sites));
  bool usable = true;
  for (const auto& [site, trouble] : sites) {
    usable = usable && !trouble;
    if (options.json) {
      JsonLine line(context.out.buffer());
      line.text("site", site.name).number("hosts", site.hosts).number("up", site.hosts_up).close();
      continue;
    }
    context.out.line(fmt::format("{}: joins the run; {} of {} host{} up{}", site.name,
                                 site.hosts_up, site.hosts, site.hosts == 1 ? " is" : "s are",
                                 site.hosts_up < site.hosts ? " so far (gantry top)" : ""));
    if (trouble)
      context.note(trouble->host.empty()
                       ? "none of its hosts has answered yet"
                       : fmt::format("{}: {}", one_line(trouble->host), one_line(trouble->why)));
  }
  return usable ? kExitOk : kExitInfrastructure;
}

/// The run does not use it, or it cannot leave.
tl::unexpected<Error> refuse_to_drain(const Grid& grid, const store::LiveState& live,
                                      const std::string& name) {
  std::vector<std::string> known;
  for (const auto& site : live.sites)
    if (site.name != kHomeSite) known.push_back(site.name);
  const std::string used = known.empty() ? "" : fmt::format("it uses {}", fmt::join(known, ", "));
  const std::string what =
      fmt::format("run {} uses no site '{}' that can leave it", live.run, one_line(name));
  if (name == kHomeSite)
    return fail(ErrorCode::usage, what,
                "this machine stays; with hosts: 0 of home the next run "
                "starts nothing here");
  if (std::ranges::find(grid.sites, name, &GridSite::name) == grid.sites.end()) {
    const std::string meant = did_you_mean(name, known);
    return fail(ErrorCode::usage, what, meant.empty() ? used : meant);
  }
  // It is no misspelling: it has left, or was not there when the run began.
  return fail(ErrorCode::usage,
              fmt::format("run {} does not use site '{}': it has left, or never joined", live.run,
                          one_line(name)),
              used);
}

Result<int> grid_drain(Context& context, const GridCommandOptions& options) {
  if (options.sites.empty())
    return fail(ErrorCode::usage, "'grid drain' needs the names of sites",
                "gantry grid drain GRID SITE");
  TRY_ASSIGN(const Grid grid, spec::load_grid(options.file));
  TRY_ASSIGN(const auto live, query::run_that_goes_on(context.state_dir));
  for (const auto& name : options.sites)
    if (name == kHomeSite || query::find_site(live, name) == nullptr)
      return refuse_to_drain(grid, live, name);
  TRY(drain(context, live, options.sites));
  for (const auto& name : options.sites) {
    if (options.json)
      JsonLine(context.out.buffer()).text("site", name).close();
    else
      context.out.line(fmt::format("{}: has left the run", name));
  }
  return kExitOk;
}

Result<int> run_grid(Context& context, const GridCommandOptions& options) {
  if (!options.patience.empty() && options.action != "check")
    return fail(ErrorCode::usage, "--timeout is for 'grid check'");
  if (options.all && options.action != "remove")
    return fail(ErrorCode::usage, "--all is for 'grid remove'");
  if (options.unfetched && options.action != "remove")
    return fail(ErrorCode::usage, "--unfetched is for 'grid remove'");
  if (options.action == "remove") return grid_remove(context, options);
  if (options.action == "list") return grid_list(context, options);
  if (options.action == "check") return grid_check(context, options);
  if (options.action == "add") return grid_add(context, options);
  if (options.action == "drain") return grid_drain(context, options);
  constexpr std::array<std::string_view, 5> kActions{"add", "check", "drain", "list", "remove"};
  std::string hint = did_you_mean(options.action, kActions);
  if (hint.empty()) hint = fmt::format("one of {}", fmt::join(kActions, ", "));
  return fail(ErrorCode::usage, fmt::format("a grid has no '{}'", one_line(options.action)),
              std::move(hint));
}

}  // namespace

void add_grid(CLI::App& app, Action& action) {
  const auto [command, options] = add_command(
      app, action, "grid", "Check, list, add or remove the sites of a grid file", run_grid);
  command->add_option("ACTION", options->action, "check, list, add, drain or remove")
      ->type_name("")
      ->required();
  command->add_option("GRID", options->file, "The grid file")->type_name("")->required();
  command->add_option("SITE", options->sites, "Sites (default for check and add: all)")
      ->type_name("");
  command->add_option("--timeout", options->patience, "check: how long to wait for a host (15s)")
      ->type_name("TIME");
  command->add_flag("--all", options->all, "remove: also files of other state directories");
  command->add_flag("--unfetched", options->unfetched,
                    "remove: also outputs that nobody has fetched");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "check connects to all hosts at once, as runs do, and measures how fast files go\n"
      "and come. Problems are marked with '!' and make the exit code 1; advice is\n"
      "marked with '-'.\n"
      "list connects to nothing. While a run uses the sites, it shows what they do.\n"
      "add makes the run in progress also use these sites of the file, or all that it\n"
      "does not use yet. drain makes sites leave the run: nothing more is started\n"
      "there, and running tasks finish first. Neither changes the file, which is what\n"
      "the next gantry run uses.\n"
      "remove deletes what Gantry has in the scratch folder of a site: its store of\n"
      "files, the agent's program, the files of this state directory. A site that the\n"
      "run uses is drained first; where others run tasks, it is refused.\n"
      "docs/formats/grid.md describes the file.\n"
      "\n"
      "Examples:\n"
      "  gantry grid list grid.yaml\n"
      "  gantry grid check grid.yaml\n"
      "  gantry grid check grid.yaml lab --timeout 5s\n"
      "  gantry grid add grid.yaml           sites that you have added to the file\n"
      "  gantry grid drain grid.yaml lab\n"
      "  gantry grid remove grid.yaml lab");
}

}  // namespace gantry::cli
