// gantry simulate: experiments with schedulers in virtual time, on all cores; they can be
// interrupted.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "cli/commands/commands.hpp"
#include "cli/commands/eta_experiment.hpp"
#include "cli/commands/etc_experiment.hpp"
#include "cli/commands/experiment_report.hpp"
#include "cli/commands/forecast_report.hpp"
#include "cli/commands/simulate_options.hpp"
#include "cli/commands/watched_work.hpp"
#include "cli/terminal/display_text.hpp"
#include "cli/terminal/error_report.hpp"
#include "model/decimal.hpp"
#include "simulate/erratic_runs.hpp"
#include "simulate/experiment_chart.hpp"
#include "simulate/paper_experiments.hpp"
#include "simulate/trial_file.hpp"

namespace gantry::cli {
namespace {

constexpr double kLeastScale = 1e-6;  ///< of bandwidths
constexpr double kMostScale = 1e6;

void list_experiments(Context& context) {
  Table table = context.table({{"experiment", false, false}, {"about"}});
  for (const auto& [name, about] : simulate::paper_experiments())
    table.add({std::string(name), std::string(about)});
  table.add({std::string("etc"),
             std::string("independent tasks on unrelated machines (Braun et al. 2001)")});
  table.add({std::string("forecasts"),
             std::string("how good forecasts are, on generated series and trace files")});
  table.add(
      {std::string(kEtaExperiment), std::string("how good the forecasts of a run's end are")});
  table.add({std::string(kRunTimeExperiment),
             std::string("how good the forecasts of run times are (APST, Figure 6)")});
  table.finish();
}

Result<simulate::Experiment> experiment_of(const SimulateOptions& options) {
  const std::string& name = options.experiment();
  if (std::set(options.schedulers.begin(), options.schedulers.end()).size() <
      options.schedulers.size())
    return fail(ErrorCode::usage, "--schedulers names a scheduler twice");
  simulate::PaperOptions paper{
      .seed = options.seed, .repetitions = options.cases, .schedulers = options.schedulers};
  if (options.bandwidth_scale > 0) {
    if (name == "apst-sites")
      return fail(ErrorCode::usage, "apst-sites has bandwidths of its own: no --bandwidth-scale");
    paper.bandwidth_scale = options.bandwidth_scale;
  }
  auto experiment = simulate::paper_experiment(name, paper);
  const bool known =
      std::ranges::any_of(simulate::paper_experiments(),
                          [&](const simulate::PaperExperiment& each) { return each.name == name; });
  if (!experiment && !known) experiment.error().hint += ", etc, forecasts, eta, apst-forecasts";
  return experiment;
}

/// Everything that the numbers of a trial depend on.
std::string pin_of(const SimulateOptions& options, const simulate::Experiment& experiment) {
  std::string pin =
      fmt::format("gantry " GANTRY_VERSION " simulate {} --seed {} --schedulers {}",
                  experiment.name, options.seed, fmt::join(experiment.schedulers, ","));
  if (options.bandwidth_scale > 0)
    pin += " --bandwidth-scale " + format_number(options.bandwidth_scale);
  return pin;
}

/// Runs what is not known yet; true when it was interrupted.
Result<bool> run_trials(Context& context, const SimulateOptions& options,
                        const simulate::Experiment& experiment, simulate::TrialFile& file) {
  std::size_t missing = 0;
  for (std::size_t point = 0; point < experiment.points.size(); ++point)
    for (std::uint32_t i = 0; i < experiment.repetitions; ++i)
      if (!file.knows(point, i)) ++missing;
  const std::size_t all = experiment.points.size() * experiment.repetitions;
  if (missing == 0) {
    context.note(
        fmt::format("all {} trials are known from {}; nothing was simulated", all, options.out));
    return false;
  }
  if (missing < all)
    context.note(fmt::format("{} of {} trials are known; {} to go", all - missing, all, missing));
  return watch_work(
      context,
      {.name = experiment.name,
       .steps = missing,
       .run = [&](const std::stop_token& stop, const std::function<void()>& step) -> Result<> {
         std::stop_source stop_all;
         const std::stop_callback forward(stop, [&] { stop_all.request_stop(); });
         Result<> written;
         const auto ended = [&](const simulate::TrialOutcome& trial) {
           if (!written) return;
           written = file.append(trial);
           if (!written) stop_all.request_stop();
           step();
         };
         // The file changes while trials run: what is asked of it is asked before.
         TRY(simulate::run_experiment(
             experiment,
             {.threads = options.jobs,
              .is_known = [&](std::size_t point,
                              std::uint32_t repetition) { return file.knows(point, repetition); },
              .ended = ended,
              .stop = stop_all.get_token()}));
         return written;
       }});
}

Result<int> simulate_paper(Context& context, const SimulateOptions& options) {
  if (!options.files().empty())
    return fail(ErrorCode::usage,
                fmt::format("'{}' is one word too many for 'gantry simulate {}'",
                            one_line(options.files()[0]), one_line(options.experiment())),
                "only 'gantry simulate etc' and 'forecasts' take files");
  if (!options.optimize.empty())
    return fail(ErrorCode::usage, "--optimize is for 'gantry simulate etc'");
  TRY_ASSIGN(const simulate::Experiment experiment, experiment_of(options));
  TRY_ASSIGN(const auto folder, make_folder(options.out));
  const auto csv = folder / (experiment.name + ".csv");
  const auto svg = folder / (experiment.name + ".svg");
  TRY_ASSIGN(auto file, simulate::TrialFile::open(csv, experiment, pin_of(options, experiment)));
  TRY_ASSIGN(const bool interrupted, run_trials(context, options, experiment, file));
  const auto points = simulate::experiment_points(experiment, file.trials());
  if (options.json)
    print_experiment_json(
        context, {experiment.name, options.seed, experiment.repetitions, !interrupted}, points);
  else
    print_experiment(context, points);
  context.out.flush();
  TRY(write_file_atomic(svg,
                        simulate::chart_svg(simulate::experiment_chart(experiment.name, points))));
  if (interrupted)
    context.note(fmt::format("interrupted: the same command continues from {}", csv.string()));
  else
    context.note(fmt::format("trials: {}   picture: {}", csv.string(), svg.string()));
  return interrupted ? kExitTasksFailed : kExitOk;
}

Result<int> simulate_etc(Context& context, const SimulateOptions& options) {
  if (options.cases > 0 || !options.schedulers.empty() || options.bandwidth_scale > 0)
    return fail(ErrorCode::usage,
                "'gantry simulate etc' has no --cases, --schedulers or --bandwidth-scale");
  return run_etc_experiment(context, options);
}

Result<int> simulate_forecasts(Context& context, const SimulateOptions& options) {
  if (!options.optimize.empty() || !options.schedulers.empty() || options.bandwidth_scale > 0)
    return fail(ErrorCode::usage,
                "'gantry simulate forecasts' has no --optimize, --schedulers or --bandwidth-scale");
  return run_forecast_experiment(context, options);
}

Result<int> simulate_eta(Context& context, const SimulateOptions& options) {
  if (!options.files().empty() || options.bandwidth_scale > 0 || !options.optimize.empty())
    return fail(ErrorCode::usage,
                fmt::format("'gantry simulate {}' has no files, --bandwidth-scale or --optimize",
                            options.experiment()));
  return run_eta_experiment(context, options);
}

Result<int> run_simulate(Context& context, const SimulateOptions& options) {
  if (options.words.empty()) {
    list_experiments(context);
    return kExitOk;
  }
  if (!options.kind.empty() && options.experiment() != kEtaExperiment)
    return fail(ErrorCode::usage, "--kind is for 'gantry simulate eta'");
  if (options.experiment() == "etc") return simulate_etc(context, options);
  if (options.experiment() == "forecasts") return simulate_forecasts(context, options);
  if (options.experiment() == kEtaExperiment || options.experiment() == kRunTimeExperiment)
    return simulate_eta(context, options);
  return simulate_paper(context, options);
}

/// CLI::Range has NaN in every range.
CLI::Validator scale_check() {
  return {[](const std::string& word) -> std::string {
            const auto value = parse_number(word);
            if (value && *value >= kLeastScale && *value <= kMostScale) return {};
            return fmt::format("must be a number from {} to {}, not '{}'", kLeastScale, kMostScale,
                               one_line(word));
          },
          ""};
}

}  // namespace

void add_simulate(CLI::App& app, Action& action) {
  const auto [command, options] =
      add_command(app, action, "simulate", "Compare schedulers in virtual time", run_simulate);
  command->add_option("EXPERIMENT", options->words, "Without it, the experiments are listed")
      ->type_name("");
  command->add_option("--cases", options->cases, "Repetitions of each point (default: the paper's)")
      ->type_name("N")
      ->check(CLI::Range(1, 1'000'000).description(""));
  command->add_option("--seed", options->seed, "Seed of all random numbers (default: 1)")
      ->type_name("S");
  command
      ->add_option("--schedulers", options->schedulers,
                   "Compare these: a,b (default: as in the paper)")
      ->type_name("LIST")
      ->delimiter(',')
      ->expected(1)
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  command->add_option("-j,--jobs", options->jobs, "Threads (default: one per core)")
      ->type_name("N")
      ->check(CLI::Range(1, 1024).description(""));
  command->add_option("--out", options->out, "Folder for CSV and SVG (default: simulate)")
      ->type_name("DIR");
  command->add_flag("--json", options->json, "Print the statistics as JSON");
  command
      ->add_option("--bandwidth-scale", options->bandwidth_scale,
                   "Multiplies all bandwidths of the paper")
      ->type_name("X")
      ->check(scale_check());
  command
      ->add_option("--optimize", options->optimize,
                   "With etc: time to search for each instance: 10s")
      ->type_name("TIME");
  command
      ->add_option("--kind", options->kind,
                   fmt::format("With eta, small runs: {}", fmt::join(simulate::kErraticKinds, "|")))
      ->type_name("K")
      ->check(CLI::IsMember(simulate::kErraticKinds).description(""));
  command->footer(
      "Each trial is written to DIR/EXPERIMENT.csv at once, so the same command\n"
      "continues after Ctrl-C or a crash. The picture is DIR/EXPERIMENT.svg. The\n"
      "experiments etc, eta and apst-forecasts only print their tables.\n"
      "\n"
      "Examples:\n"
      "  gantry simulate                              list the experiments\n"
      "  gantry simulate psa-table1 --cases 100\n"
      "  gantry simulate psa-qoi --schedulers workqueue,best --json\n"
      "  gantry simulate etc --optimize 10s u_c_hihi.0\n"
      "  gantry simulate forecasts 20110303.csv       loads, and generated series");
}

}  // namespace gantry::cli
