// What the engine learns of tasks: what they cost, and by that how fast hosts are.
#include <utility>

#include "engine/engine_impl.hpp"

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

void Engine::Impl::remember_time(TaskId task, Duration took) {
  if (learned.learns()) push_bounded(ran, {task, took}, kRanInAll);
}

void Engine::Impl::learn(TaskId task, HostId host, Duration took, TimePoint ended,
                         std::optional<double> begun, bool succeeded) {
  const double cost = cost_of(task);
  // What an earlier run took stands in only until this one knows better.
  if (learned.known() && ran.empty()) run_times = {};
  run_times.observe(cost, took);
  remember_time(task, took);
  if (!succeeded) return;
  const double spent = seen.ran(host, cost, took, ended, begun);
  if (!learned.learns() || !(spent > 0)) return;
  push_bounded(ran_on[host], {task, spent, ended}, kRanOnHost);
  const auto known = hosts.find(host);
  const double speed = known != hosts.end() ? known->second.host.speed : 1;
  if (learned.ran(task, host, speed, spent)) use_new_costs();
}

void Engine::Impl::use_new_costs() {
  run_times = {};
  for (const auto& [task, took] : ran) run_times.observe(cost_of(task), took);
  if (ran.empty()) run_times.observe(1, from_seconds(std::min(learned.unit(), 1e9)));
  seen.forget_paces();
  for (const auto& [host, all] : ran_on)
    for (const Ran& one : all) seen.ran_again(host, cost_of(one.task), one.seconds, one.ended);
  for (auto& [id, state] : hosts) {
    for (schedule::Ongoing& given : state.ongoing)
      given.cost = forecast::usable_cost(cost_of(given.task));
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
