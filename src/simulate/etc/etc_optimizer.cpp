#include "simulate/etc/etc_optimizer.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <random>

#include "base/chance.hpp"
#include "simulate/etc/etc_heuristics.hpp"
#include "simulate/etc/etc_relaxation.hpp"

namespace gantry::simulate {

namespace {

constexpr double kGap = 1e-6;         // of the programs that are rounded
constexpr double kWhole = 0.99;       // a part that large is the task
constexpr double kNoPart = 1e-3;      // a part that small is none
constexpr double kAim = 0.003;        // a move aims at up to so much less than the makespan
constexpr std::size_t kMachines = 8;  // of a move, at most
constexpr double kReached = 1e-12;    // relative distance from the bound that is none

/// Some tasks on some machines, by numbers of its own.
struct Part {
  std::size_t machines = 0;
  std::vector<std::uint32_t> tasks;  ///< their numbers in the matrix
  std::vector<double> times;         ///< task by task

  [[nodiscard]] const double* row(std::size_t i) const { return &times[i * machines]; }
};

class Optimizer {
 public:
  Optimizer(const EtcMatrix& matrix, const EtcOptimizerOptions& options)
      : matrix_(matrix), options_(options), random_(options.seed) {}
  EtcOptimum run() &&;

 private:
  [[nodiscard]] bool stopped() const { return options_.stop && options_.stop(); }
  /// Uniform in [0, 1), the same everywhere.
  double chance() { return unit_of(random_()); }
  std::size_t below(std::size_t count) {
    return static_cast<std::size_t>(chance() * static_cast<double>(count));
  }

  void start_with_heuristics();
  void round_the_whole();
  void take(const EtcSchedule& schedule);
  void move();
  std::vector<std::uint32_t> some_machines(std::uint32_t first);
  [[nodiscard]] Part part_of(const std::vector<std::uint32_t>& machines) const;

  std::optional<std::vector<std::uint32_t>> dive(Part part, double cap, double shuffle);
  struct Rounding;
  std::optional<std::uint32_t> round(const Rounding& by, std::size_t task);

  const EtcMatrix& matrix_;
  const EtcOptimizerOptions& options_;
  std::mt19937_64 random_;
  EtcSchedule schedule_;
  std::vector<double> loads_;
  EtcOptimum best_;
};

EtcOptimum Optimizer::run() && {
  start_with_heuristics();
  round_the_whole();
  while (best_.moves < options_.max_moves && !stopped() &&
         best_.makespan > best_.bound * (1 + kReached)) {
    move();
    ++best_.moves;
  }
  best_.schedule = std::move(schedule_);
  return std::move(best_);
}

void Optimizer::take(const EtcSchedule& schedule) {
  schedule_ = schedule;
  loads_ = machine_loads(matrix_, schedule_);
  best_.makespan = *std::ranges::max_element(loads_);
}

void Optimizer::start_with_heuristics() {
  for (const EtcHeuristic heuristic : kEtcHeuristics) {
    // The first one is for sure: there is always a schedule.
    if (!schedule_.empty() && stopped()) return;
    const EtcSchedule schedule = apply_heuristic(heuristic, matrix_);
    if (schedule_.empty() || makespan(matrix_, schedule) < best_.makespan) take(schedule);
  }
}

/// With less and less ambition, until it works or the heuristics were better.
void Optimizer::round_the_whole() {
  if (stopped()) return;
  best_.bound = etc_lower_bound(matrix_, options_.stop);
  std::vector<std::uint32_t> all(matrix_.machines());
  std::iota(all.begin(), all.end(), 0U);
  for (double more = 0.01; !stopped(); more *= 2) {
    const double cap = std::min(best_.makespan, best_.bound * (1 + more));
    if (const auto found = dive(part_of(all), cap, 0)) return take(*found);
    if (cap >= best_.makespan) return;
  }
}

/// Schedules the tasks of the busiest machine and of some others anew. All of them get less to do
/// than the busiest has now, or nothing changes.
void Optimizer::move() {
  const auto busiest =
      static_cast<std::uint32_t>(std::ranges::max_element(loads_) - loads_.begin());
  const auto machines = some_machines(busiest);
  const Part part = part_of(machines);
  const double cap = loads_[busiest] * (1 - kAim * chance());
  const auto found = dive(part, cap, chance());
  if (!found) return;
  EtcSchedule schedule = schedule_;
  for (std::size_t i = 0; i < found->size(); ++i) schedule[part.tasks[i]] = machines[(*found)[i]];
  // Sums in another order may differ in their last bit.
  if (makespan(matrix_, schedule) <= best_.makespan) take(schedule);
}

/// Two to kMachines different ones, `first` among them; all if there are no more.
std::vector<std::uint32_t> Optimizer::some_machines(std::uint32_t first) {
  const std::size_t most = std::min(kMachines, matrix_.machines());
  const std::size_t count = most < 2 ? most : 2 + below(most - 1);
  std::vector<std::uint32_t> chosen{first};
  while (chosen.size() < count) {
    const auto machine = static_cast<std::uint32_t>(below(matrix_.machines()));
    if (std::ranges::find(chosen, machine) == chosen.end()) chosen.push_back(machine);
  }
  return chosen;
}

Part Optimizer::part_of(const std::vector<std::uint32_t>& machines) const {
  Part part{.machines = machines.size(), .tasks = {}, .times = {}};
  std::vector<bool> is_in(matrix_.machines(), false);
  for (const std::uint32_t machine : machines) is_in[machine] = true;
  for (std::uint32_t task = 0; task < schedule_.size(); ++task) {
    if (!is_in[schedule_[task]]) continue;
    part.tasks.push_back(task);
    for (const std::uint32_t machine : machines) part.times.push_back(matrix_.at(task, machine));
  }
  return part;
}

/// What a task's machine is chosen by.
struct Optimizer::Rounding {
  const Part& part;
  const schedule::LoadBalance& relaxed;
  const std::vector<double>& loads;
  double cap = 0;
  double shuffle = 0;  ///< chance takes up to so much off a part, so that moves differ
};

/// The machine that gets the largest part of the task; if none does, the cheapest. Only those that
/// stay below the cap.
std::optional<std::uint32_t> Optimizer::round(const Rounding& by, std::size_t task) {
  std::optional<std::uint32_t> largest;
  std::optional<std::uint32_t> cheapest;
  double most = kNoPart;
  double least = std::numeric_limits<double>::infinity();
  for (std::uint32_t machine = 0; machine < by.part.machines; ++machine) {
    const double time = by.part.row(task)[machine];
    if (!(by.loads[machine] + time < by.cap)) continue;
    double share = by.relaxed.parts[task * by.part.machines + machine];
    if (by.shuffle > 0 && share < kWhole) share *= 1 - by.shuffle * chance();
    if (share > most) {
      most = share;
      largest = machine;
    }
    if (by.relaxed.prices[machine] * time < least) {
      least = by.relaxed.prices[machine] * time;
      cheapest = machine;
    }
  }
  return largest ? largest : cheapest;
}

/// Solves the relaxation of what is left, gives the dearest tasks to machines until one of them had
/// to be rounded, and begins again. The machine of each task of the part, or nothing if they cannot
/// all stay below the cap this way.
std::optional<std::vector<std::uint32_t>> Optimizer::dive(Part part, double cap, double shuffle) {
  std::vector<std::uint32_t> result(part.tasks.size());
  std::vector<std::uint32_t> places(part.tasks.size());  // in the result, of what is left
  std::iota(places.begin(), places.end(), 0U);
  std::vector<double> loads(part.machines, 0.0);
  while (!places.empty()) {
    if (stopped()) return std::nullopt;
    const auto relaxed = relax(part.times, loads, {kGap, cap, options_.stop});
    if (relaxed.bound >= cap) return std::nullopt;

    std::vector<std::pair<double, std::uint32_t>> by_price(places.size());
    for (std::uint32_t i = 0; i < places.size(); ++i) {
      double price = std::numeric_limits<double>::infinity();
      for (std::size_t machine = 0; machine < part.machines; ++machine)
        price = std::min(price, relaxed.prices[machine] * part.row(i)[machine]);
      by_price[i] = {-price, i};
    }
    std::ranges::sort(by_price);
    std::vector<bool> given(places.size(), false);
    for (const auto& [price, i] : by_price) {
      const auto machine = round({part, relaxed, loads, cap, shuffle}, i);
      if (!machine) return std::nullopt;
      result[places[i]] = *machine;
      loads[*machine] += part.row(i)[*machine];
      given[i] = true;
      if (relaxed.parts[i * part.machines + *machine] < kWhole) break;
    }

    std::size_t kept = 0;
    for (std::size_t i = 0; i < places.size(); ++i) {
      if (given[i]) continue;
      std::copy_n(part.row(i), part.machines, &part.times[kept * part.machines]);
      places[kept++] = places[i];
    }
    places.resize(kept);
    part.times.resize(kept * part.machines);
  }
  return result;
}

}  // namespace

EtcOptimum optimize_etc(const EtcMatrix& matrix, const EtcOptimizerOptions& options) {
  return Optimizer(matrix, options).run();
}

}  // namespace gantry::simulate
