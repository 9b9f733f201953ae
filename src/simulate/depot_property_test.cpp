// Tiny depots and links that come and go, whatever a strategy does: runs end, no depot ever holds
// more than it may, no task misses a file, and no run is shorter than the bound says.

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "schedule/registry.hpp"
#include "simulate/experiment.hpp"
#include "simulate/simulation.hpp"

namespace gantry::simulate {
namespace {

/// Wants anything, possible or not, and above all to send files around.
class Chaotic final : public schedule::Scheduler {
 public:
  explicit Chaotic(std::uint32_t seed) : random_(seed) {}

  void observe(const Event&) override {}
  schedule::Plan plan(const schedule::World& world) override {
    for (const schedule::SiteFiles& site : world.sites) RC_ASSERT(site.free >= 0);
    schedule::Plan plan;
    plan.ask_again = world.now + std::chrono::seconds(1);
    if (random_() % 4 == 0)
      plan.starts.push_back({any(world.classes).id, any(world.hosts).host->id});
    const auto files = static_cast<std::uint32_t>(world.file_bytes.size());
    for (int i = 0; i < 3; ++i)
      plan.moves.push_back({FileId(pick(files)), SiteId(pick(3)), any(world.hosts).host->site});
    return plan;
  }

 private:
  std::uint32_t pick(std::uint32_t count) { return static_cast<std::uint32_t>(random_() % count); }
  template <class Item>
  const Item& any(std::span<const Item> items) {
    return items[pick(static_cast<std::uint32_t>(items.size()))];
  }

  std::mt19937 random_;
};

struct DepotCase {
  VirtualGrid grid;
  engine::Workload workload;
  std::vector<std::vector<FileId>> read;  ///< by task

  DepotCase() {
    const auto files = *rc::gen::inRange<std::uint32_t>(1, 6);
    for (std::uint32_t i = 0; i < files; ++i)
      workload.file_bytes.push_back(*rc::gen::inRange(1, 20));
    workload.count = *rc::gen::inRange<std::uint32_t>(1, 15);
    for (std::uint32_t i = 0; i < workload.count; ++i) {
      const auto chosen = *rc::gen::inRange(0U, 1U << files);
      auto& its = read.emplace_back();
      for (std::uint32_t file = 0; file < files; ++file)
        if ((chosen >> file & 1U) != 0 && its.size() < 3) its.emplace_back(file);
    }
    workload.files = [this](TaskId task) { return read[task.value() - 1]; };
    workload.cost = [](TaskId task) { return 1.0 + task.value() % 7; };
    double largest = 0;
    for (const auto& its : read) largest = std::max(largest, bytes_of(its));
    const auto sites = *rc::gen::inRange<std::uint32_t>(1, 4);
    grid.depots = {0};
    for (std::uint32_t i = 1; i <= sites; ++i) {
      grid.links.emplace_back(any_link());
      // Of the first site no task is too large; of the others some are.
      grid.depots.push_back(i == 1 ? largest + *rc::gen::inRange(0, 5) : *rc::gen::inRange(1, 40));
    }
    for (std::uint32_t i = 1; i < sites; ++i)
      for (std::uint32_t j = i + 1; j <= sites; ++j)
        if (*rc::gen::arbitrary<bool>()) grid.peers.push_back({SiteId(i), SiteId(j), any_link()});
    const auto hosts = *rc::gen::inRange<std::uint32_t>(1, 5);
    for (std::uint32_t i = 0; i < hosts; ++i)
      grid.hosts.push_back({{.slots = *rc::gen::inRange(1U, 3U)},
                            SiteId(i == 0 ? 1 : *rc::gen::inRange<std::uint32_t>(1, sites + 1))});
  }
  DepotCase(const DepotCase&) = delete;
  DepotCase& operator=(const DepotCase&) = delete;

  static LinkSpec any_link() {
    LinkSpec link{.bandwidth = Trace(*rc::gen::inRange(1, 20)),
                  .latency = 0.25 * *rc::gen::inRange(0, 4),
                  .sharing = *rc::gen::element(LinkSharing::fifo, LinkSharing::fair)};
    if (*rc::gen::inRange(0, 3) == 0) {
      const double from = 0.5 * *rc::gen::inRange(0, 20);
      link.outages = {{from, from + *rc::gen::inRange(1, 9)}};
    }
    return link;
  }

  [[nodiscard]] Trial trial() const {
    Trial trial{.grid = grid, .application = {}};
    trial.application.file_bytes = workload.file_bytes;
    for (std::uint32_t i = 1; i <= workload.count; ++i)
      trial.application.tasks.push_back({.cost = workload.cost(TaskId(i)), .files = read[i - 1]});
    return trial;
  }

  [[nodiscard]] double bytes_of(const std::vector<FileId>& its) const {
    double sum = 0;
    for (const FileId file : its) sum += workload.file_bytes[file.value()];
    return sum;
  }
};

/// From when until when a file was at a site, or on its way there.
struct Stay {
  double sent;
  double arrived;
  double dropped;
};
using Stays = std::map<std::pair<SiteId, FileId>, std::vector<Stay>>;

Stays stays_of(const Simulated& run) {
  Stays stays;
  for (const VirtualMove& move : run.moves)
    stays[{move.site, move.file}].push_back({move.sent, move.arrived, kForever});
  for (auto& [where, its] : stays) {
    std::size_t next = 0;
    for (const VirtualDrop& drop : run.drops)
      if (std::pair(drop.site, drop.file) == where) its.at(next++).dropped = drop.at;
  }
  return stays;
}

void check(const DepotCase& made, const Simulated& run) {
  RC_ASSERT(run.tasks.size() == made.workload.count);
  RC_ASSERT(run.makespan >= bounds_of(made.trial()).data * (1 - 1e-9));
  const Stays stays = stays_of(run);
  for (const VirtualMove& move : run.moves) {
    double taken = 0;
    for (const auto& [where, its] : stays)
      for (const Stay& stay : its)
        if (where.first == move.site && stay.sent <= move.sent && move.sent < stay.dropped)
          taken += made.workload.file_bytes[where.second.value()];
    RC_ASSERT(taken <= made.grid.depots[move.site.value()]);
  }
  for (const VirtualTask& task : run.tasks)
    for (const FileId file : made.read[task.task.value() - 1]) {
      const auto its = stays.find({made.grid.hosts[task.host].site, file});
      RC_ASSERT(its != stays.end());
      RC_ASSERT(std::ranges::any_of(its->second, [&](const Stay& stay) {
        return stay.arrived <= task.started && task.computed <= stay.dropped;
      }));
    }
}

TEST(Depots, AHostWhoseNextTaskFindsNoRoomIsNotForgotten) {
  // The depot holds one of the two files. When the tasks that read the small one are done on other
  // hosts, the host whose next task reads the large one has had no event of its own.
  engine::Workload workload{.count = 6};
  workload.file_bytes = {2, 1};
  workload.files = [](TaskId task) {
    const std::uint32_t number = task.value();
    if (number == 4) return std::vector{FileId(0)};
    return number % 3 == 0 || number == 5 ? std::vector{FileId(1)} : std::vector<FileId>{};
  };
  workload.cost = [](TaskId task) { return 1.0 + task.value() % 7; };
  for (const double bandwidth : {1, 2, 3, 4}) {
    VirtualGrid grid;
    grid.depots = {0, 2};
    grid.links.emplace_back(LinkSpec{.bandwidth = Trace(bandwidth)});
    for (int i = 0; i < 3; ++i) grid.hosts.push_back({{.slots = 1}, SiteId(1)});
    for (const std::string_view name : schedule::strategy_names()) {
      auto strategy = schedule::make_scheduler(name, {.estimates = exact_estimates(grid)});
      const auto run = simulate(workload, grid, std::move(*strategy));
      ASSERT_TRUE(run) << name << " at " << bandwidth << ": " << run.error().message;
    }
  }
}

RC_GTEST_PROP(DepotProperty, EveryStrategyKeepsWithinDepotsAndComesToItsEnd, ()) {
  const DepotCase made;
  const auto names = schedule::strategy_names();
  for (const auto name : *rc::gen::container<std::vector<std::string_view>>(
           2, rc::gen::elementOf(std::vector(names.begin(), names.end())))) {
    auto strategy = schedule::make_scheduler(
        name, {.estimates = exact_estimates(made.grid),
               .interval = *rc::gen::element(5.0, 50.0, schedule::kInfinite)});
    const auto run = simulate(made.workload, made.grid, std::move(*strategy));
    if (!run) RC_FAIL(std::string(name) + ": " + run.error().message);
    check(made, *run);
  }
}

RC_GTEST_PROP(DepotProperty, ChaosIsKeptInBounds, ()) {
  const DepotCase made;
  const auto seed = *rc::gen::arbitrary<std::uint32_t>();
  const auto run = simulate(made.workload, made.grid, std::make_unique<Chaotic>(seed));
  if (!run) RC_FAIL(run.error().message);
  check(made, *run);
}

}  // namespace
}  // namespace gantry::simulate
