#include "schedule/registry.hpp"

#include <array>
#include <string>
#include <utility>

#include "schedule/gantt/best.hpp"
#include "schedule/learned_estimates.hpp"
#include "schedule/queue/dealt.hpp"
#include "schedule/queue/stragglers.hpp"
#include "schedule/queue/workqueue.hpp"
#include "schedule/queue/workqueue_steal.hpp"

namespace gantry::schedule {

namespace {

struct Entry {
  std::string_view name;
  std::unique_ptr<Scheduler> (*make)(const SchedulerSetup& setup);
};

template <class Strategy>
std::unique_ptr<Scheduler> make(const SchedulerSetup& /*setup*/) {
  return std::make_unique<Strategy>();
}

template <Deal kDeal>
std::unique_ptr<Scheduler> make_dealt(const SchedulerSetup& setup) {
  return std::make_unique<Dealt>(kDeal, setup.seed);
}

std::shared_ptr<const EstimateSource> estimates(const SchedulerSetup& setup) {
  return setup.estimates ? setup.estimates : std::make_shared<LearnedEstimates>();
}

template <Heuristic kHeuristic>
std::unique_ptr<Scheduler> make_gantt(const SchedulerSetup& setup) {
  const GanttOptions options{.heuristic = kHeuristic,
                             .interval = setup.interval,
                             .adaptive = setup.adaptive,
                             .choices = setup.choices,
                             .seed = setup.seed};
  return std::make_unique<GanttStrategy>(options, estimates(setup));
}

std::unique_ptr<Scheduler> make_best(const SchedulerSetup& setup) {
  return std::make_unique<Best>(
      BestOptions{.interval = setup.interval, .adaptive = setup.adaptive, .seed = setup.seed},
      estimates(setup));
}

constexpr std::array kStrategies{
    Entry{"workqueue", make<Workqueue>},
    Entry{"workqueue-steal", make<WorkqueueSteal>},
    Entry{"round-robin", make_dealt<Deal::in_turn>},
    Entry{"random", make_dealt<Deal::by_chance>},
    Entry{"min-min", make_gantt<Heuristic::min_min>},
    Entry{"max-min", make_gantt<Heuristic::max_min>},
    Entry{"sufferage", make_gantt<Heuristic::sufferage>},
    Entry{"xsufferage", make_gantt<Heuristic::xsufferage>},
    Entry{"best", make_best},
};

}  // namespace

Result<std::unique_ptr<Scheduler>> make_scheduler(std::string_view name,
                                                  const SchedulerSetup& setup) {
  std::string known;
  for (const Entry& entry : kStrategies) {
    if (entry.name == name) {
      auto strategy = entry.make(setup);
      if (!setup.second_attempts) return strategy;
      return std::make_unique<Stragglers>(std::move(strategy));
    }
    if (!known.empty()) known += ", ";
    known += entry.name;
  }
  return fail(ErrorCode::usage, "there is no scheduler '" + std::string(name) + "'",
              "choose one of: " + known);
}

std::vector<std::string_view> strategy_names() {
  std::vector<std::string_view> names;
  names.reserve(std::size(kStrategies));
  for (const Entry& entry : kStrategies) names.push_back(entry.name);
  return names;
}

}  // namespace gantry::schedule
