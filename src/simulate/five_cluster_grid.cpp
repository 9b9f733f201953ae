#include "simulate/five_cluster_grid.hpp"

#include <array>

#include "simulate/draws.hpp"
#include "simulate/loaded_machines.hpp"

namespace gantry::simulate {

namespace {

struct Cluster {
  std::uint32_t hosts = 0;
  double bandwidth = 0;  ///< bytes a second, on average
};

constexpr double kFast = 500e3;
constexpr double kModerate = 150e3;
constexpr double kSlow = 50e3;
constexpr std::array<Cluster, 5> kClusters{
    {{6, kFast}, {6, kModerate}, {8, kSlow}, {20, kFast}, {20, kModerate}}};

constexpr std::uint32_t kGeometries = 8;
constexpr double kTaskCost = 200;
constexpr double kOwnBytes = 10e3;

SimulatedTasks equal_tasks(std::uint32_t for_each_file, double file_bytes) {
  SimulatedTasks made;
  for (std::uint32_t file = 0; file < kGeometries; ++file) {
    made.file_bytes.push_back(file_bytes);
    made.tasks.insert(made.tasks.end(), for_each_file,
                      {.cost = kTaskCost,
                       .files = {FileId(file)},
                       .private_bytes = kOwnBytes,
                       .output_bytes = kOwnBytes});
  }
  return made;
}

}  // namespace

VirtualGrid five_cluster_grid(const FiveClusterOptions& options) {
  VirtualGrid grid;
  for (std::uint32_t i = 0; i < kClusters.size(); ++i) {
    Random link_chance = chance_for(options.seed, "five clusters: link", i);
    grid.links.emplace_back(
        wide_area_link(link_chance, kClusters[i].bandwidth * options.bandwidth_scale));
    Random host_chance = chance_for(options.seed, "five clusters: hosts", i);
    for (std::uint32_t host = 0; host < kClusters[i].hosts; ++host)
      grid.hosts.push_back(
          {{.speed = options.host_speed, .availability = loaded_cpu(host_chance)}, SiteId(i + 1)});
  }
  return grid;
}

SimulatedTasks file_size_application(double file_bytes) {
  return equal_tasks(200, file_bytes);
}

SimulatedTasks information_application() {
  return equal_tasks(100, 40e6);
}

}  // namespace gantry::simulate
