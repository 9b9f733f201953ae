// gantry plan: how long a sweep will take on a grid or on this machine, and with which scheduler,
// before anything runs.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>

#include "base/fd.hpp"
#include "base/machine.hpp"
#include "cli/commands/commands.hpp"
#include "cli/commands/plan_report.hpp"
#include "cli/commands/run_session.hpp"
#include "cli/commands/watched_work.hpp"
#include "cli/terminal/display_text.hpp"
#include "cli/terminal/error_report.hpp"
#include "driver/kept_model.hpp"
#include "model/quantity.hpp"
#include "schedule/registry.hpp"
#include "simulate/experiment.hpp"
#include "simulate/gantt_svg.hpp"
#include "simulate/grid_world.hpp"
#include "simulate/plan_warnings.hpp"
#include "simulate/planned_tasks.hpp"
#include "simulate/svg_text.hpp"
#include "simulate/virtual_time.hpp"
#include "spec/grid_file.hpp"
#include "spec/spec.hpp"

namespace gantry::cli {
namespace {

constexpr std::string_view kAllSchedulers = "all";

/// It searches before it decides, and takes longest.
constexpr std::string_view kSlowest = "best";
constexpr std::size_t kTasksForBest = 20'000;

/// Between two plans, in seconds; more in runs that take so long that there would be more plans.
constexpr double kInterval = 500;
constexpr double kPlans = 100;

struct PlanOptions {
  std::string sweep;
  std::optional<std::string> grid;      ///< none: this machine
  std::uint32_t jobs = 0;               ///< of this machine; 0 = one a core
  std::vector<std::string> schedulers;  ///< none: all, or for this machine the one that runs there
  std::optional<std::string> interval;  ///< none: chosen
  std::string svg;
  std::string html;
  bool json = false;
};

/// What is planned, and the shortest run that was found.
struct PlannedStudy {
  simulate::GridWorld world;
  simulate::PlannedTasks study;
  PlanSummary summary{};
  std::optional<simulate::Simulated> best{};
};

/// What `gantry run` uses where no grid file is given.
Grid this_machine(std::uint32_t jobs) {
  const GridHosts here{.name = std::string(kHomeSite),
                       .slots = jobs > 0 ? jobs : usable_cores(),
                       .memory = usable_memory()};
  return {.sites = {{.name = std::string(kHomeSite), .hosts = {here}}}, .links = {}};
}

Result<Grid> grid_of(const PlanOptions& options) {
  if (!options.grid) return this_machine(options.jobs);
  return spec::load_grid(*options.grid);
}

/// Those that are compared, when none was named.
std::vector<std::string> usual_schedulers(const PlanOptions& options) {
  return {std::string(options.grid ? kAllSchedulers : schedule::kDefaultStrategy)};
}

Result<std::vector<std::string>> schedulers_of(const std::vector<std::string>& words) {
  std::vector<std::string> names;
  for (const std::string& word : words) {
    if (word == kAllSchedulers) {
      for (const std::string_view name : schedule::strategy_names()) names.emplace_back(name);
      continue;
    }
    if (auto known = schedule::make_scheduler(word); !known) {
      known.error().hint += ", all";
      return tl::unexpected(known.error());
    }
    names.push_back(word);
  }
  if (std::set(names.begin(), names.end()).size() < names.size())
    return fail(ErrorCode::usage, "--scheduler names a scheduler twice");
  return names;
}

/// Nothing when it is to be chosen.
Result<std::optional<double>> interval_of(const PlanOptions& options) {
  if (!options.interval) return std::nullopt;
  const auto interval = parse_duration(*options.interval);
  if (!interval || *interval < std::chrono::seconds(1))
    return fail(ErrorCode::usage,
                fmt::format("--interval must be a time of a second or more, not '{}'",
                            one_line(*options.interval)),
                "write --interval 60s or 10m");
  return seconds(*interval);
}

/// Of tasks whose study does not say what they cost: what earlier runs here have taught.
std::optional<forecast::LearnedCosts> learnt_costs(Context& context,
                                                   const Application& application) {
  const auto store = store::Store::open(context.state_dir, store::Access::read_only);
  if (!store) return std::nullopt;
  auto kept = driver::kept_models(*store, application);
  for (const auto& notice : kept.notices) context.note("gantry: warning: " + one_line(notice));
  const std::uint64_t tasks = kept.times.observations();
  forecast::LearnedCosts costs(application.size(), engine::workload_of(application).features,
                               std::move(kept.times));
  if (!costs.known()) {
    if (tasks > 0)
      context.note(
          fmt::format("the run times of {} earlier tasks do not tell how long these take", tasks));
    return std::nullopt;
  }
  context.note(fmt::format("run times are those learnt from {} earlier tasks", tasks));
  return costs;
}

Result<PlannedStudy> load_plan(Context& context, const PlanOptions& options) {
  TRY_ASSIGN(auto loaded, spec::load_sweep(options.sweep));
  const Application application(std::move(loaded.sweep));
  TRY_ASSIGN(const Grid grid, grid_of(options));
  TRY(application.check_inputs());
  PlannedStudy plan;
  TRY_ASSIGN(plan.world, simulate::grid_world(grid));
  const auto learnt = learnt_costs(context, application);
  const auto seconds_of = [&](TaskId task) { return learnt->cost(task) * learnt->unit(); };
  TRY_ASSIGN(plan.study, learnt ? simulate::planned_tasks_of(application, seconds_of)
                                : simulate::planned_tasks_of(application));
  plan.world.grid.staged = simulate::staged_files(grid, plan.study.file_paths);
  TRY(simulate::check_depots(grid, plan.study.tasks, plan.study.file_names));
  if (plan.study.rounded)
    context.note("costs are rounded to 5%, because there are many different ones");
  for (const std::string& warning : simulate::plan_warnings(grid, plan.study))
    context.note("gantry: warning: " + warning);
  plan.summary = {.sweep = application.name(),
                  .tasks = application.size(),
                  .hosts = plan.world.grid.hosts.size(),
                  .costs_in_seconds = application.has_cost() || learnt,
                  .costs_are_learnt = !application.has_cost() && learnt};
  for (const auto& host : plan.world.grid.hosts) plan.summary.slots += host.spec.slots;
  return plan;
}

Result<> predict(PlannedStudy& plan, const std::string& scheduler, double interval,
                 const std::shared_ptr<const schedule::EstimateSource>& estimates) {
  TRY_ASSIGN(auto strategy,
             schedule::make_scheduler(scheduler, {.estimates = estimates, .interval = interval}));
  const auto workload = simulate::workload_of(plan.study.tasks);
  auto run = simulate::simulate(workload, plan.world.grid, std::move(strategy));
  if (!run)
    return fail(run.error().code, fmt::format("{}: {}", scheduler, run.error().message),
                "a task may be longer than its host is lent, or a trace end at 0");
  double busy = 0;
  for (const auto& task : run->tasks) busy += task.computed - task.started;
  PlanSummary& summary = plan.summary;
  summary.predictions.push_back({scheduler, run->makespan, run->bytes_moved,
                                 busy / (static_cast<double>(summary.slots) * run->makespan),
                                 run->wasted});
  if (!plan.best || run->makespan < plan.best->makespan) {
    plan.best = std::move(*run);
    summary.best = summary.predictions.size() - 1;
  }
  return {};
}

Result<> write_pictures(Context& context, const PlanOptions& options, const PlannedStudy& plan) {
  const simulate::GanttNames names{
      .title = fmt::format("{} with {}", plan.summary.sweep,
                           plan.summary.predictions[plan.summary.best].scheduler),
      .sites = plan.world.site_names,
      .hosts = plan.world.host_names,
      .files = plan.study.file_names};
  const auto workload = simulate::workload_of(plan.study.tasks);
  if (!options.svg.empty()) {
    TRY(write_file_atomic(options.svg,
                          simulate::gantt_svg(*plan.best, plan.world.grid, workload, names)));
    context.note("picture: " + one_line(options.svg));
  }
  if (!options.html.empty()) {
    TRY(write_file_atomic(options.html,
                          simulate::gantt_html(*plan.best, plan.world.grid, workload, names)));
    context.note("page: " + one_line(options.html));
  }
  return {};
}

Result<int> run_plan(Context& context, const PlanOptions& options) {
  const auto words = options.schedulers.empty() ? usual_schedulers(options) : options.schedulers;
  TRY_ASSIGN(auto schedulers, schedulers_of(words));
  TRY_ASSIGN(const auto asked, interval_of(options));
  TRY_ASSIGN(PlannedStudy plan, load_plan(context, options));
  const bool all = words.front() == kAllSchedulers;
  if (all && plan.summary.tasks > kTasksForBest && std::erase(schedulers, kSlowest))
    context.note(
        fmt::format("'{0}' is left out, because it may take minutes for so many tasks; --scheduler "
                    "{0} asks for it",
                    kSlowest));
  const auto work = [&](const std::stop_token& /*stop*/,
                        const std::function<void()>& step) -> Result<> {
    plan.summary.bound = simulate::bounds_of({plan.world.grid, plan.study.tasks}).data;
    // What never ends is told of by the simulation.
    if (plan.summary.bound > simulate::kLongestRun && std::isfinite(plan.summary.bound))
      return fail(ErrorCode::usage, "with every scheduler it takes more than a hundred years",
                  "look at the costs of the sweep, and at speeds and traces of the grid");
    step();
    const double interval = asked.value_or(std::max(kInterval, plan.summary.bound / kPlans));
    const auto estimates = simulate::exact_estimates(plan.world.grid);
    for (const std::string& scheduler : schedulers) {
      TRY(predict(plan, scheduler, interval, estimates));
      step();
    }
    return {};
  };
  TRY(watch_work(context,
                 {.name = "plan", .steps = schedulers.size() + 1, .keeps = false, .run = work}));
  if (options.json)
    print_plan_json(context, plan.summary);
  else
    print_plan(context, plan.summary);
  context.out.flush();
  TRY(write_pictures(context, options, plan));
  return kExitOk;
}

}  // namespace

void add_plan(CLI::App& app, Action& action) {
  const auto [command, options] =
      add_command(app, action, "plan", "Predict how long a sweep takes; run nothing", run_plan);
  command->add_option("SWEEP", options->sweep, "The sweep file")->type_name("")->required();
  CLI::Option* grid =
      command->add_option("--grid", options->grid, "Sites, hosts and links (default: this machine)")
          ->type_name("FILE");
  add_jobs_option(*command, options->jobs)->excludes(grid);
  command
      ->add_option("--scheduler", options->schedulers,
                   "Names: a,b or all (default with --grid: all)")
      ->type_name("LIST")
      ->delimiter(',')
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command
      ->add_option("--interval", options->interval,
                   "Time between plans: 60s (default: 500s or more)")
      ->type_name("TIME");
  command->add_option("--svg", options->svg, "Write the Gantt chart of the shortest run")
      ->type_name("FILE");
  command->add_option("--html", options->html, "Write it as a web page")->type_name("FILE");
  command->add_flag("--json", options->json, "Print JSON");
  command->footer(
      "A task's cost: is its seconds on a host of speed 1. Inputs that several tasks\n"
      "read are shared files: they are moved once to each site that needs them, and\n"
      "again when a full depot: had to drop them.\n"
      "\n"
      "Examples:\n"
      "  gantry plan sweep.yaml                      on this machine\n"
      "  gantry plan sweep.yaml --grid grid.yaml\n"
      "  gantry plan sweep.yaml --grid grid.yaml --scheduler best,min-min --svg p.svg");
}

}  // namespace gantry::cli
