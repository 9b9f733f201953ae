#include "cli/commands/eta_experiment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <mutex>
#include <optional>
#include <span>
#include <utility>

#include "base/parallel.hpp"
#include "cli/commands/watched_work.hpp"
#include "cli/terminal/error_report.hpp"
#include "cli/terminal/json_line.hpp"
#include "schedule/registry.hpp"
#include "simulate/erratic_runs.hpp"
#include "simulate/forecast_trial.hpp"
#include "simulate/psa_case.hpp"

namespace gantry::cli {
namespace {

constexpr std::uint32_t kCases = 200;
constexpr double kPlanInterval = 500;  ///< seconds between scheduling events, as in psa-table1
constexpr std::array kShares{0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 0.9};
/// Of runs of a few dozen tasks.
constexpr std::array kFewShares{0.1, 0.2, 0.5, 0.8};
/// So many tasks have ended on a host before one is started there.
constexpr std::array<std::uint32_t, 8> kEnded{0, 1, 2, 3, 5, 10, 20, 50};

/// What a row is about.
struct Subject {
  std::string scheduler;
  std::optional<simulate::ErraticHosts> hosts{};  ///< none: grids

  friend bool operator==(const Subject&, const Subject&) = default;
};

struct Case {
  Subject about;
  std::uint32_t number = 0;
  std::optional<simulate::ForecastTrial> found{};
};

/// 0 when there are none.
double median(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// One line of what was found.
struct Row {
  Subject about;
  double at = 0;          ///< share of the tasks, or tasks that have ended on the host
  std::size_t count = 0;  ///< forecasts
  double error = 0;       ///< median of |expected - actual| / actual
  double inside = 0;      ///< share of intervals that held what came
  double width = 0;       ///< median of the interval's length / actual
};

std::string_view name_of(simulate::ErraticHosts hosts) {
  return simulate::kErraticHosts[static_cast<std::size_t>(hosts)];
}

std::vector<Row> eta_rows(const Subject& about, const std::vector<Case>& cases,
                          std::span<const double> shares) {
  std::vector<Row> rows;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    std::vector<double> errors;
    std::vector<double> widths;
    double inside = 0;
    for (const Case& each : cases) {
      if (!each.found || each.about != about || i >= each.found->etas.size()) continue;
      const simulate::EtaSample& eta = each.found->etas[i];
      errors.push_back(std::abs(eta.expected - eta.rest) / eta.rest);
      widths.push_back((eta.latest - eta.soonest) / eta.rest);
      inside += eta.soonest <= eta.rest && eta.rest <= eta.latest ? 1 : 0;
    }
    const std::size_t count = errors.size();
    if (count == 0) continue;
    rows.push_back({about, shares[i], count, median(std::move(errors)),
                    inside / static_cast<double>(count), median(std::move(widths))});
  }
  return rows;
}

/// Up to the next row's number of ended tasks.
std::vector<Row> run_time_rows(const Subject& about, const std::vector<Case>& cases) {
  std::array<std::vector<double>, kEnded.size()> errors;
  for (const Case& each : cases) {
    if (!each.found || each.about != about) continue;
    for (const simulate::AttemptSample& run : each.found->run_times) {
      if (run.expected <= 0 || run.actual <= 0) continue;
      const auto after = std::ranges::upper_bound(kEnded, run.nth);
      errors[static_cast<std::size_t>(after - kEnded.begin()) - 1].push_back(
          std::abs(run.expected - run.actual) / run.actual);
    }
  }
  std::vector<Row> rows;
  for (std::size_t i = 0; i < kEnded.size(); ++i) {
    const std::size_t count = errors[i].size();
    if (count > 0)
      rows.push_back({about, static_cast<double>(kEnded[i]), count, median(std::move(errors[i]))});
  }
  return rows;
}

void print_json(Context& context, const std::vector<Row>& rows, bool etas) {
  for (const Row& row : rows) {
    JsonLine line(context.out.buffer());
    line.text("scheduler", row.about.scheduler);
    if (row.about.hosts) line.text("hosts", name_of(*row.about.hosts));
    if (etas)
      line.real("share_done", row.at);
    else
      line.real("ended_on_host", row.at);
    line.number("forecasts", row.count).real("median_error", row.error);
    if (etas) line.real("in_interval", row.inside).real("median_width", row.width);
    line.close();
    context.out.settle();
  }
}

void print_accuracy(Context& context, const std::vector<Row>& rows, bool etas) {
  const bool has_hosts = !rows.empty() && rows.front().about.hosts;
  std::vector<Column> columns{{"scheduler"}};
  if (has_hosts) columns.push_back({"hosts"});
  columns.push_back({etas ? "done %" : "ended on host", false});
  columns.push_back({"forecasts", false});
  columns.push_back({"median error %", false});
  if (etas) columns.push_back({"in interval %", false});
  if (etas) columns.push_back({"median width %", false});
  Table table = context.table(std::move(columns));
  for (const Row& row : rows) {
    std::vector<Cell> cells{{row.about.scheduler}};
    if (has_hosts) cells.emplace_back(std::string(name_of(*row.about.hosts)));
    cells.emplace_back(fmt::format("{:.0f}", etas ? 100 * row.at : row.at));
    cells.emplace_back(fmt::format("{}", row.count));
    cells.emplace_back(fmt::format("{:.1f}", 100 * row.error));
    if (etas) cells.emplace_back(fmt::format("{:.0f}", 100 * row.inside));
    if (etas) cells.emplace_back(fmt::format("{:.0f}", 100 * row.width));
    table.add(std::move(cells));
  }
  table.finish();
}

std::span<const double> shares_of(const SimulateOptions& options) {
  if (!options.kind.empty()) return kFewShares;
  return kShares;
}

Result<simulate::ForecastTrial> trial_of(const simulate::PsaCases& grids,
                                         const SimulateOptions& options, const Case& one) {
  if (const auto kind = simulate::erratic_kind(options.kind))
    return simulate::forecast_trial(
        simulate::erratic_run(options.seed, *kind, one.number, *one.about.hosts),
        one.about.scheduler, one.number, shares_of(options));
  simulate::PsaCase made = grids.at(one.number);
  const simulate::Trial trial{.grid = std::move(made.grid),
                              .application = std::move(made.application),
                              .interval = kPlanInterval};
  return simulate::forecast_trial(trial, one.about.scheduler, one.number, shares_of(options));
}

std::vector<Subject> subjects_of(const std::vector<std::string>& schedulers, bool erratic) {
  std::vector<Subject> subjects;
  for (const std::string& scheduler : schedulers) {
    if (!erratic) {
      subjects.push_back({scheduler});
      continue;
    }
    for (std::size_t i = 0; i < simulate::kErraticHosts.size(); ++i)
      subjects.push_back({scheduler, static_cast<simulate::ErraticHosts>(i)});
  }
  return subjects;
}

}  // namespace

Result<int> run_eta_experiment(Context& context, const SimulateOptions& options) {
  std::vector<std::string> schedulers = options.schedulers;
  const bool erratic = !options.kind.empty();
  if (schedulers.empty() && erratic) schedulers = {"workqueue"};  // as on this machine
  if (schedulers.empty()) schedulers = {"workqueue", "xsufferage", "best"};
  for (const std::string& scheduler : schedulers) TRY(schedule::make_scheduler(scheduler));
  const std::vector<Subject> subjects = subjects_of(schedulers, erratic);
  std::vector<Case> cases;
  const std::uint32_t count = options.cases > 0 ? options.cases : kCases;
  for (std::uint32_t number = 0; number < count; ++number)
    for (const Subject& subject : subjects) cases.push_back({subject, number});

  const simulate::PsaCases grids(options.seed);
  std::mutex mutex;
  std::optional<Error> error;  ///< of the first that failed
  const auto run = [&](const std::stop_token& stop, const std::function<void()>& step) -> Result<> {
    in_parallel(cases.size(), options.jobs, [&](std::size_t i) {
      if (stop.stop_requested()) return false;
      auto found = trial_of(grids, options, cases[i]);
      if (!found) {
        const std::lock_guard lock(mutex);
        if (!error) error = found.error();
        return false;
      }
      cases[i].found = std::move(*found);
      step();
      return true;
    });
    if (error) return tl::make_unexpected(*error);
    return {};
  };
  TRY_ASSIGN(
      const bool interrupted,
      watch_work(context, {.name = options.experiment(), .steps = cases.size(), .run = run}));
  const bool etas = options.experiment() == kEtaExperiment;
  std::vector<Row> rows;
  for (const Subject& subject : subjects)
    for (Row& row :
         etas ? eta_rows(subject, cases, shares_of(options)) : run_time_rows(subject, cases))
      rows.push_back(std::move(row));
  if (options.json)
    print_json(context, rows, etas);
  else
    print_accuracy(context, rows, etas);
  return interrupted ? kExitTasksFailed : kExitOk;
}

}  // namespace gantry::cli
