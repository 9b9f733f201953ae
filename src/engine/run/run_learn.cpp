// What the engine learns of tasks: what they cost, and by that how fast hosts are.
#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "engine/run/run.hpp"

namespace gantry::engine {

namespace {
/// Attempts that are counted again when costs change: of each host, and in all.
constexpr std::size_t kRanOnHost = 64;
constexpr std::size_t kRanInAll = 512;

template <class Item>
void push_bounded(std::deque<Item>& items, Item item, std::size_t most) {
  if (items.size() == most) items.pop_front();
  items.push_back(std::move(item));
}
}  // namespace

void Run::remember_time(TaskId task, Duration took) {
  if (learned.learns()) push_bounded(ran, {task, took}, kRanInAll);
}

void Run::learn(const AttemptReport& report, HostId host, std::optional<double> begun) {
  const TaskId task = report.key.task;
  const Duration took = report.ended - report.started;
  const double cost = cost_of(task);
  // What an earlier run took stands in only until this one knows better.
  if (learned.known() && ran.empty()) run_times = {};
  run_times.observe(cost, took);
  remember_time(task, took);
  if (report.cause != FailureCause::none) return learn_death(report, host, begun);
  note_quickest(cost, took);
  const double spent = seen.spent(host, took, report.ended, begun);
  if (!(spent > 0)) return;
  const double speed = declared_speed(host);
  const auto before = wasted.extract(task);
  const double lost = before.empty() ? 0 : before.mapped() / forecast::usable_cost(speed);
  const bool is_usual = seen.ran(host, cost, took, report.ended, begun) > 0;
  // One that took far longer than all before is no news of its host, but that there are such tasks.
  observe_time(host, report.started, (spent + lost) / forecast::usable_cost(cost));
  if (!learned.learns() || !is_usual) return;
  push_bounded(ran_on[host], {task, spent, report.started, report.ended, lost}, kRanOnHost);
  if (learned.ran(task, host, speed, spent)) use_new_costs();
}

void Run::learn_death(const AttemptReport& report, HostId host, std::optional<double> begun) {
  const TaskId task = report.key.task;
  // A task that goes on with its other attempt is not tried again. One that is given up now is
  // forgotten right after this.
  if (is_crowded(report.cause, report.code) || outstanding.contains(task) ||
      tasks[task].state == TaskState::done)
    return;
  const double spent = seen.spent(host, report.ended - report.started, report.ended, begun);
  if (spent > 0) wasted[task] += spent * forecast::usable_cost(declared_speed(host));
}

double Run::declared_speed(HostId host) const {
  const HostState* state = grid.find(host);
  return state != nullptr ? state->host.speed : 1;
}

void Run::observe_time(HostId host, TimePoint started, double seconds) {
  auto sample = samples.find(host);
  if (sample == samples.end()) {
    const HostState* state = grid.find(host);
    if (state == nullptr) return;
    sample = samples.emplace(host, HostSample{state->host.speed}).first;
  }
  sample->second.times.observe(started, seconds);
}

void Run::forget_gone_samples() {
  for (auto it = samples.begin(); it != samples.end() && samples.size() > 1;)
    it = grid.hosts.contains(it->first) ? std::next(it) : samples.erase(it);
}

void Run::learn_launch(const AttemptEnded& event) {
  const HostState* state = grid.find(event.host);
  if (!event.besides || state == nullptr || !learns()) return;
  seen.launched(state->host.site, *event.besides, event.report.ended);
}

void Run::note_quickest(double cost, Duration took) {
  if (took <= Duration{0}) return;
  quickest = std::min(quickest, seconds(took) / forecast::usable_cost(cost));
  ++timed;
}

void Run::use_new_costs() {
  run_times = {};
  for (const auto& [task, took] : ran) run_times.observe(cost_of(task), took);
  quickest = std::numeric_limits<double>::infinity();
  timed = 0;
  if (ran.empty()) run_times.observe(1, from_seconds(std::min(learned.unit(), 1e9)));
  seen.forget_paces();
  for (auto& [host, sample] : samples) sample.times = {};
  for (const auto& [host, all] : ran_on) {
    for (const Ran& one : all) {
      const double cost = cost_of(one.task);
      seen.ran_again(host, cost, one.seconds, one.ended);
      observe_time(host, one.started, (one.seconds + one.wasted) / forecast::usable_cost(cost));
    }
  }
  std::erase_if(samples, [](const auto& entry) { return entry.second.times.empty(); });
  forget_gone_samples();
  for (auto& [id, state] : grid.hosts) {
    for (schedule::Ongoing& given : state.ongoing)
      if (given.run == run_id) given.cost = forecast::usable_cost(cost_of(given.task));
  }
  if (appetite.by_cost) {
    const auto needs = [this](TaskId task) { return needs_of(task); };
    if (ready.placeable() <= kSortedAnew)
      ready.sort_again(needs);
    else
      ready.sort_anew(needs, kSortedAnew);
  }
  changed = true;
  // What was foretold while all tasks seemed alike says nothing of what is foretold now.
  if (!std::exchange(costs_known, true)) history = {};
}

}  // namespace gantry::engine
