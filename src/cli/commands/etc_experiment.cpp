#include "cli/commands/etc_experiment.hpp"

#include <fmt/format.h>
#include <time.h>

#include <array>
#include <filesystem>
#include <limits>
#include <optional>

#include "base/parallel.hpp"
#include "cli/commands/watched_work.hpp"
#include "cli/terminal/display_text.hpp"
#include "cli/terminal/error_report.hpp"
#include "cli/terminal/json_line.hpp"
#include "model/quantity.hpp"
#include "simulate/etc/etc_file.hpp"
#include "simulate/etc/etc_generator.hpp"
#include "simulate/etc/etc_heuristics.hpp"
#include "simulate/etc/etc_optimizer.hpp"
#include "simulate/etc/etc_relaxation.hpp"

namespace gantry::cli {
namespace {

constexpr std::size_t kEtcTasks = 512;
constexpr std::size_t kEtcMachines = 16;
constexpr std::array kShownHeuristics{simulate::EtcHeuristic::min_min,
                                      simulate::EtcHeuristic::max_min,
                                      simulate::EtcHeuristic::sufferage};

struct EtcInstance {
  std::string name;
  simulate::EtcMatrix matrix;
  // Found:
  std::vector<double> heuristics{};
  double bound = 0;
  std::optional<double> optimized{};
  bool done = false;
};

Result<std::vector<EtcInstance>> etc_instances(const SimulateOptions& options) {
  std::vector<EtcInstance> instances;
  for (const std::string& file : options.files()) {
    TRY_ASSIGN(simulate::EtcMatrix matrix, simulate::load_etc(file));
    instances.push_back({std::filesystem::path(file).filename().string(), std::move(matrix)});
  }
  if (!instances.empty()) return instances;
  for (const simulate::EtcClass& etc_class : simulate::all_etc_classes())
    instances.push_back({simulate::class_name(etc_class),
                         simulate::generate_etc(etc_class, kEtcTasks, kEtcMachines, options.seed)});
  return instances;
}

double thread_seconds() {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

/// `search` seconds of this core.
void solve(EtcInstance& instance, std::optional<double> search, std::uint64_t seed,
           const std::stop_token& stop) {
  for (const auto heuristic : kShownHeuristics)
    instance.heuristics.push_back(
        makespan(instance.matrix, apply_heuristic(heuristic, instance.matrix)));
  if (search) {
    const double until = thread_seconds() + *search;
    const auto found = simulate::optimize_etc(
        instance.matrix,
        {.seed = seed, .stop = [&] { return stop.stop_requested() || thread_seconds() >= until; }});
    instance.optimized = found.makespan;
    instance.bound = found.bound;
  }
  // A search that is too short has no bound.
  if (instance.bound <= 0)
    instance.bound =
        simulate::etc_lower_bound(instance.matrix, [&] { return stop.stop_requested(); });
  instance.done = !stop.stop_requested();
}

void print_etc_json(Context& context, const EtcInstance& instance) {
  JsonLine line(context.out.buffer());
  line.text("instance", instance.name)
      .number("tasks", instance.matrix.tasks())
      .number("machines", instance.matrix.machines());
  for (std::size_t i = 0; i < kShownHeuristics.size(); ++i)
    line.real(heuristic_name(kShownHeuristics[i]), instance.heuristics[i]);
  line.real("bound", instance.bound);
  if (instance.optimized)
    line.real("optimized", *instance.optimized)
        .real("above_bound", *instance.optimized / instance.bound - 1);
  line.close();
  context.out.settle();
}

void print_etc_table(Context& context, const std::vector<EtcInstance>& instances, bool optimized) {
  std::vector<Column> columns{{"instance"}};
  for (const auto heuristic : kShownHeuristics)
    columns.push_back({std::string(heuristic_name(heuristic)), false});
  columns.push_back({"bound", false});
  if (optimized) columns.push_back({"optimised", false});
  if (optimized) columns.push_back({"above %", false, false});
  Table table = context.table(std::move(columns));
  for (const EtcInstance& instance : instances) {
    if (!instance.done) continue;
    std::vector<Cell> cells{{instance.name}};
    for (const double found : instance.heuristics) cells.emplace_back(fmt::format("{:.1f}", found));
    cells.emplace_back(fmt::format("{:.1f}", instance.bound));
    if (optimized) {
      cells.emplace_back(fmt::format("{:.1f}", *instance.optimized));
      cells.emplace_back(fmt::format("{:.2f}", 100 * (*instance.optimized / instance.bound - 1)));
    }
    table.add(std::move(cells));
  }
  table.finish();
}

}  // namespace

Result<int> run_etc_experiment(Context& context, const SimulateOptions& options) {
  std::optional<double> search;
  if (!options.optimize.empty()) {
    const auto duration = parse_duration(options.optimize);
    if (!duration || *duration <= Duration{0})
      return fail(ErrorCode::usage, fmt::format("'{}' is not a time", one_line(options.optimize)),
                  "write --optimize 10s");
    search = seconds(*duration);
  }
  TRY_ASSIGN(auto instances, etc_instances(options));
  const auto run = [&](const std::stop_token& stop, const std::function<void()>& step) -> Result<> {
    in_parallel(instances.size(), options.jobs, [&](std::size_t i) {
      if (stop.stop_requested()) return false;
      solve(instances[i], search, options.seed, stop);
      if (instances[i].done) step();
      return true;
    });
    return {};
  };
  TRY_ASSIGN(const bool interrupted,
             watch_work(context, {.name = "etc", .steps = instances.size(), .run = run}));
  if (!options.json) print_etc_table(context, instances, search.has_value());
  for (const EtcInstance& instance : instances)
    if (options.json && instance.done) print_etc_json(context, instance);
  return interrupted ? kExitTasksFailed : kExitOk;
}

}  // namespace gantry::cli
