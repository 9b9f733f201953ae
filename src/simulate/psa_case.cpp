#include "simulate/psa_case.hpp"

#include <algorithm>
#include <utility>

#include "simulate/draws.hpp"
#include "simulate/loaded_machines.hpp"

namespace gantry::simulate {

namespace {

constexpr std::uint32_t kCpuTraces = 50;
constexpr std::uint32_t kLinkTraces = 20;
constexpr double kSlowLink = 50 * kKilobyte;  ///< a second, on average
constexpr double kFastLink = 500 * kKilobyte;

/// About one more file for every fifth task; those that a task reads anyway are lost.
void perturb(SimulatedTasks& application, Random& random) {
  const auto tasks = static_cast<std::uint32_t>(application.tasks.size());
  const auto files = static_cast<std::uint32_t>(application.file_bytes.size());
  for (std::uint32_t i = 0; i < tasks / 5; ++i) {
    auto& its_files = application.tasks[whole_between(random, 0, tasks - 1)].files;
    const FileId file(whole_between(random, 0, files - 1));
    const auto place = std::ranges::lower_bound(its_files, file);
    if (place == its_files.end() || *place != file) its_files.insert(place, file);
  }
}

}  // namespace

PsaCases::PsaCases(std::uint64_t seed, const PsaOptions& options) : seed_(seed), options_(options) {
  for (std::uint32_t i = 0; i < kCpuTraces; ++i) {
    Random random = chance_for(seed, "cpu trace", i);
    cpus_.push_back(loaded_cpu(random));
  }
  for (std::uint32_t i = 0; i < kLinkTraces; ++i) {
    Random random = chance_for(seed, "link trace", i);
    const double mean = log_between(random, kSlowLink, kFastLink);
    links_.push_back(wide_area_link(random, mean * options.bandwidth_scale));
  }
}

PsaCase PsaCases::at(std::uint32_t index) const {
  Random random = chance_for(seed_, "case", index);
  PsaCase made{.grid_number = whole_between(random, 0, kPsaGrids - 1),
               .application_number = whole_between(random, 0, kPsaApplications - 1)};
  made.grid = grid(made.grid_number);
  made.application = application(made.application_number);
  return made;
}

VirtualGrid PsaCases::grid(std::uint32_t number) const {
  Random random = chance_for(seed_, "grid", number);
  VirtualGrid grid;
  const std::uint32_t clusters = whole_between(random, 2, 12);
  for (std::uint32_t site = 1; site <= clusters; ++site) {
    LinkSpec link = links_[whole_between(random, 0, kLinkTraces - 1)];
    link.bandwidth = link.bandwidth.shifted_at_random(random);
    grid.links.emplace_back(std::move(link));
    const std::uint32_t hosts = whole_between(random, 2, 32);
    for (std::uint32_t i = 0; i < hosts; ++i) {
      const Trace& cpu = cpus_[whole_between(random, 0, kCpuTraces - 1)];
      grid.hosts.push_back(
          {{.speed = options_.host_speed, .availability = cpu.shifted_at_random(random)},
           SiteId(site)});
    }
  }
  return grid;
}

SimulatedTasks PsaCases::application(std::uint32_t number) const {
  Random random = chance_for(seed_, "application", number);
  SimulatedTasks made;
  const std::uint32_t simulations = whole_between(random, 2, 10);
  for (std::uint32_t simulation = 0; simulation < simulations; ++simulation) {
    made.file_bytes.push_back(whole_between(random, 400, 100'000) * kKilobyte);
    const std::uint32_t tasks = whole_between(random, 20, 1000);
    for (std::uint32_t i = 0; i < tasks; ++i)
      made.tasks.push_back({.cost = double(whole_between(random, 100, 300)),
                            .files = {FileId(simulation)},
                            .private_bytes = 1 * kKilobyte,
                            .output_bytes = 10 * kKilobyte});
  }
  if (options_.perturbed) {
    // Of its own: the application is otherwise the same.
    Random disorder = chance_for(seed_, "perturbation", number);
    perturb(made, disorder);
  }
  return made;
}

}  // namespace gantry::simulate
