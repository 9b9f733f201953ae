#pragma once
/// For tests: tasks that read files, and a strategy that does as it is told.

#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/engine_fixture.hpp"
#include "engine/one_run.hpp"

namespace gantry::engine {

inline constexpr SiteId kLab(1);
inline constexpr SiteId kCluster(2);

/// Answers with what it was told to.
class Scripted final : public schedule::Scheduler {
 public:
  explicit Scripted(schedule::Plan* next) : next_(next) {}
  void observe(const Event&) override {}
  schedule::Plan plan(const schedule::World& world) override {
    refused.assign(world.refused.begin(), world.refused.end());
    ready = world.ready;
    ahead = 0;
    for (const schedule::Ahead& each : world.ahead) ahead += each.tasks;
    pace = world.seen->pace(HostId(1));
    bandwidth = world.seen->bandwidth(kLab);
    return std::exchange(*next_, {});
  }
  std::vector<schedule::Refused> refused;
  std::size_t ready = 0;
  std::size_t ahead = 0;
  std::optional<double> pace;
  std::optional<double> bandwidth;

 private:
  schedule::Plan* next_;
};

inline Workload reading(const std::vector<std::vector<FileId>>& files) {
  Workload workload{.count = static_cast<std::uint32_t>(files.size())};
  workload.file_bytes = {1e6, 2e6, 3e6};
  workload.files = [files](TaskId task) { return files[task.value() - 1]; };
  return workload;
}

inline Host host_at(std::uint32_t id, SiteId site) {
  return {.id = HostId(id), .name = "h", .cores = 1, .memory = 0, .site = site};
}

/// What decide() wants, in words.
inline std::vector<std::string> words(const std::vector<Action>& actions) {
  std::vector<std::string> text;
  for (const Action& action : actions) {
    if (const auto* start = std::get_if<StartAttempt>(&action))
      text.push_back("start " + std::to_string(start->key.task.value()) + " on " +
                     std::to_string(start->host.value()));
    if (const auto* move = std::get_if<MoveFile>(&action))
      text.push_back("move " + std::to_string(move->file.value()) + " from " +
                     std::to_string(move->from.value()) + " to " +
                     std::to_string(move->to.value()));
    if (const auto* drop = std::get_if<DropFile>(&action))
      text.push_back("drop " + std::to_string(drop->file.value()) + " at " +
                     std::to_string(drop->site.value()));
  }
  return text;
}

}  // namespace gantry::engine
