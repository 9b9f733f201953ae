#include "simulate/paper_experiments.hpp"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <utility>

#include "schedule/registry.hpp"
#include "simulate/apst_sites.hpp"
#include "simulate/five_cluster_grid.hpp"
#include "simulate/psa_case.hpp"

namespace gantry::simulate {

namespace {

using schedule::Seconds;

/// Between scheduling events, unless an experiment varies it.
constexpr Seconds kInterval = 500;

/// Table 1: two times a thousand random grids with random applications.
Experiment psa_table1(const PaperOptions& options) {
  PsaOptions plain;
  if (options.bandwidth_scale) plain.bandwidth_scale = *options.bandwidth_scale;
  PsaOptions perturbed = plain;
  perturbed.perturbed = true;
  const auto cases = std::make_shared<std::array<PsaCases, 2>>(
      std::array{PsaCases(options.seed, plain), PsaCases(options.seed, perturbed)});
  return {.name = {},
          .points = {"no perturbation", "perturbation"},
          .repetitions = 1000,
          .schedulers = {"workqueue", "min-min", "max-min", "sufferage", "xsufferage", "best"},
          .trial = [cases](std::size_t point, std::uint32_t repetition) {
            PsaCase made = (*cases)[point].at(repetition);
            return Trial{std::move(made.grid), std::move(made.application), kInterval};
          }};
}

/// What the paper leaves open, one thing changed at a time.
Experiment psa_choices(const PaperOptions& options) {
  using schedule::Enough;
  using schedule::GanttChoices;
  using schedule::PrivateInputs;
  struct Choice {
    std::string label;
    GanttChoices choices{};
    LinkSharing sharing = LinkSharing::fifo;
    std::uint64_t tie_seed = 0;
  };
  static const std::vector<Choice> kChoices{
      {"as in psa-table1", {}},
      {"covered hosts get no more", {.enough = Enough::each_covered}},
      {"margin 250 s", {.margin = 250}},
      {"margin 500 s", {.margin = 500}},
      {"outputs take no room", {.chart = {.outputs_in_chart = false}}},
      {"own inputs queue", {.chart = {.private_inputs = PrivateInputs::queued}}},
      {"idle hosts wait", {.plan_when_idle = false}},
      {"queued files are sent", {.keep_queued_files = true}},
      {"links are shared", {}, LinkSharing::fair},
      {"ties otherwise", {}, LinkSharing::fifo, 1'000'000},
  };
  PsaOptions psa;
  if (options.bandwidth_scale) psa.bandwidth_scale = *options.bandwidth_scale;
  const auto cases = std::make_shared<PsaCases>(options.seed, psa);
  std::vector<std::string> points;
  points.reserve(kChoices.size());
  for (const Choice& choice : kChoices) points.push_back(choice.label);
  return {.name = {},
          .points = std::move(points),
          .repetitions = 100,
          .schedulers = {"workqueue", "min-min", "max-min", "sufferage", "xsufferage"},
          .trial = [cases](std::size_t point, std::uint32_t repetition) {
            PsaCase made = cases->at(repetition);
            const Choice& choice = kChoices[point];
            for (auto& link : made.grid.links)
              if (link) link->sharing = choice.sharing;
            return Trial{.grid = std::move(made.grid),
                         .application = std::move(made.application),
                         .interval = kInterval,
                         .choices = choice.choices,
                         .tie_seed = choice.tie_seed};
          }};
}

/// The grids of Table 1 for those who do not know the future.
Experiment psa_learned(const PaperOptions& options) {
  PsaOptions psa;
  if (options.bandwidth_scale) psa.bandwidth_scale = *options.bandwidth_scale;
  const auto cases = std::make_shared<PsaCases>(options.seed, psa);
  return {.name = {},
          .points = {"exact", "learned"},
          .repetitions = 100,
          .schedulers = {"workqueue", "min-min", "max-min", "sufferage", "xsufferage", "best"},
          .trial = [cases](std::size_t point, std::uint32_t repetition) {
            PsaCase made = cases->at(repetition);
            return Trial{.grid = std::move(made.grid),
                         .application = std::move(made.application),
                         .interval = kInterval,
                         .quality = {.kind = point == 0 ? ErrorKind::none : ErrorKind::learned}};
          }};
}

FiveClusterOptions five_clusters(const PaperOptions& options, std::uint32_t repetition) {
  FiveClusterOptions grid{.seed = options.seed * 1'000'003 + repetition};
  if (options.bandwidth_scale) grid.bandwidth_scale = *options.bandwidth_scale;
  return grid;
}

/// Figure 5: the makespan against the size of the shared files.
Experiment psa_filesize(const PaperOptions& options) {
  constexpr std::array kMegabytes{10, 20, 40, 60, 80, 100, 120, 150, 250, 500, 1000};
  std::vector<std::string> points;
  points.reserve(kMegabytes.size());
  for (const int megabytes : kMegabytes) points.push_back(fmt::format("{} MB", megabytes));
  return {.name = {},
          .points = std::move(points),
          .repetitions = 20,
          .schedulers = {"workqueue", "min-min", "max-min", "sufferage", "xsufferage", "best"},
          .trial = [options, kMegabytes](std::size_t point, std::uint32_t repetition) {
            return Trial{five_cluster_grid(five_clusters(options, repetition)),
                         file_size_application(kMegabytes[point] * 1e6), kInterval};
          }};
}

/// Figure 6: estimates that are off by up to p percent, and how often there is a new plan.
Experiment psa_qoi(const PaperOptions& options) {
  struct Point {
    double error;
    Seconds interval;
  };
  std::vector<Point> points;
  std::vector<std::string> labels;
  for (const Seconds interval : {schedule::kInfinite, 500.0, 250.0, 125.0}) {
    for (int percent = 0; percent <= 100; percent += 10) {
      points.push_back({percent / 100.0, interval});
      const std::string when =
          interval == schedule::kInfinite ? "once" : fmt::format("every {:.0f} s", interval);
      labels.push_back(fmt::format("{} p={}%", when, percent));
    }
  }
  return {.name = {},
          .points = std::move(labels),
          .repetitions = 50,
          .schedulers = {"workqueue", "min-min", "max-min", "sufferage", "xsufferage", "best"},
          .trial = [options, points](std::size_t point, std::uint32_t repetition) {
            const auto [error, interval] = points[point];
            return Trial{five_cluster_grid(five_clusters(options, repetition)),
                         information_application(),
                         interval,
                         {.kind = error > 0 ? ErrorKind::uniform : ErrorKind::none,
                          .error = error,
                          .seed = options.seed + repetition}};
          }};
}

/// APST's Figure 5: what is staged where beforehand.
Experiment apst_sites(const PaperOptions& options) {
  return {.name = {},
          .points = {"(a) nothing", "(b) at UCSD", "(c) at UTK too", "(d) everywhere"},
          .repetitions = 20,
          .schedulers = {"workqueue", "min-min", "max-min", "sufferage", "xsufferage", "best"},
          .trial = [options](std::size_t point, std::uint32_t repetition) {
            ApstCase made = apst_case(static_cast<ApstScenario>(point),
                                      {.seed = options.seed * 1'000'003 + repetition});
            return Trial{std::move(made.grid), std::move(made.application), kInterval};
          }};
}

struct Entry {
  PaperExperiment experiment;
  Experiment (*make)(const PaperOptions& options) = nullptr;
};

constexpr std::array kExperiments{
    Entry{{"psa-table1", "random grids and applications (Casanova et al. 2000, Table 1)"},
          psa_table1},
    Entry{{"psa-choices", "what the paper leaves open, on the same grids"}, psa_choices},
    Entry{{"psa-learned", "estimates from what was seen alone, on the same grids"}, psa_learned},
    Entry{{"psa-filesize", "the size of shared files (Casanova et al. 2000, Figure 5)"},
          psa_filesize},
    Entry{{"psa-qoi", "wrong estimates and how often to plan (the same, Figure 6)"}, psa_qoi},
    Entry{{"apst-sites", "three sites, files staged beforehand (APST, Figure 5)"}, apst_sites},
};

}  // namespace

std::vector<PaperExperiment> paper_experiments() {
  std::vector<PaperExperiment> all;
  all.reserve(kExperiments.size());
  for (const Entry& entry : kExperiments) all.push_back(entry.experiment);
  return all;
}

Result<Experiment> paper_experiment(std::string_view name, const PaperOptions& options) {
  std::string known;
  for (const Entry& entry : kExperiments) {
    known += (known.empty() ? "" : ", ") + std::string(entry.experiment.name);
    if (entry.experiment.name != name) continue;
    for (const std::string& scheduler : options.schedulers)
      TRY(schedule::make_scheduler(scheduler));
    Experiment made = entry.make(options);
    made.name = name;
    if (options.repetitions > 0) made.repetitions = options.repetitions;
    if (!options.schedulers.empty()) made.schedulers = options.schedulers;
    return made;
  }
  return fail(ErrorCode::usage, fmt::format("there is no experiment '{}'", name),
              "choose one of: " + known);
}

}  // namespace gantry::simulate
