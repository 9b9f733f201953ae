#include "engine/engine.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <variant>

#include "base/overloaded.hpp"
#include "engine/grid/grid_state.hpp"
#include "engine/run/run.hpp"
#include "schedule/registry.hpp"
#include "schedule/share/turns.hpp"

namespace gantry::engine {

namespace {
/// Seconds of one core that a run may always start in a turn: to ask a strategy once for each task
/// of some microseconds would take longer than the tasks.
constexpr double kLeastTurn = 0.01;
}  // namespace

struct Engine::Impl {
  explicit Impl(SiteMap map) : grid(std::move(map)) {}

  /// An event of one run.
  template <class E>
  void tell(RunId id, const E& event);
  /// The run leaves room that others may have waited for, who knows where.
  void tell_others(RunId id, const Event& event);
  void apply(const HostUp& event);
  void apply(const HostDraining& event);
  void apply(const HostDown& event);
  void apply(const FileArrived& event);
  void apply(const MoveFailed& event);
  void apply(const FileGone& event);
  /// A file that was to come to a site does not, or is gone there: nor does it come from there.
  void lost_at(FileId file, SiteId site);

  std::vector<Action> decide(TimePoint now);
  /// Lets runs start tasks, each when it is its turn.
  void start_tasks(TimePoint now, std::vector<Action>& actions);
  /// Tells each run how long the tasks of the others take.
  void agree_on_queues(const std::set<RunId>& waiting);
  void share_out();

  Grid grid;
  std::map<RunId, Run> runs;
  schedule::Turns turns;
  /// Hosts that an attempt has left since the last decision, each with one of those. The strategies
  /// of all runs are told before they decide: of a host, not of each of a thousand ends.
  std::map<HostId, AttemptComputed> left_room;
};

template <class E>
void Engine::Impl::tell(RunId id, const E& event) {
  const auto run = runs.find(id);
  if (run == runs.end()) return;
  run->second.on(event);
  run->second.strategy->observe(event);
  if (runs.size() == 1) return;
  if constexpr (std::is_same_v<E, AttemptComputed>)
    left_room.insert_or_assign(event.host, event);
  else if constexpr (std::is_same_v<E, AttemptEnded>)
    left_room.insert_or_assign(event.host, AttemptComputed{event.report.key, event.host});
  else if constexpr (std::is_same_v<E, AttemptReturned> || std::is_same_v<E, CancelRequested>)
    tell_others(id, event);
}

void Engine::Impl::tell_others(RunId id, const Event& event) {
  for (auto& [other, its] : runs)
    if (other != id) its.strategy->observe(event);
}

void Engine::Impl::apply(const HostUp& event) {
  grid.on(event);
  for (auto& [id, run] : runs) run.host_came(event.host.id);
}

void Engine::Impl::apply(const HostDraining& event) {
  if (!grid.on(event)) return;
  for (auto& [id, run] : runs) {
    run.release_staged_on(event.host);
    run.hosts_changed();
  }
}

void Engine::Impl::apply(const HostDown& event) {
  for (auto& [id, run] : runs) run.lose_host(event.host);
  grid.on(event);
  for (auto& [id, run] : runs) {
    run.book.hosts_gone();
    run.hosts_changed();
  }
}

void Engine::Impl::apply(const FileArrived& event) {
  grid.on(event);
  for (auto& [id, run] : runs) run.files_arrived = true;
}

void Engine::Impl::apply(const MoveFailed& event) {
  grid.on(event);
  lost_at(event.file, event.site);
}

void Engine::Impl::apply(const FileGone& event) {
  grid.on(event);
  lost_at(event.file, event.site);
}

void Engine::Impl::lost_at(FileId file, SiteId site) {
  if (!grid.files.known(file)) return;
  for (auto& [id, run] : runs) run.release_waiting_for(file, site);
  for (const SiteId other : grid.files.give_up_awaited(file, site)) lost_at(file, other);
}

std::vector<Action> Engine::Impl::decide(TimePoint now) {
  std::vector<Action> actions;
  for (const auto& [host, event] : std::exchange(left_room, {}))
    for (auto& [id, run] : runs) run.strategy->observe(event);
  grid.learns =
      std::ranges::any_of(runs, [](const auto& entry) { return entry.second.book.learns(); });
  if (grid.learns) grid.seen.pass(now);
  share_out();
  for (auto& [id, run] : runs) {
    run.begin_turn(now, actions);
    if (run.starts_tasks() || run.staged.empty()) continue;
    run.release_all_staged();
    tell_others(id, DrainRequested{id, run.draining});
  }
  if (std::ranges::any_of(runs, [](const auto& entry) { return entry.second.starts_tasks(); })) {
    for (const MoveFile& move : grid.files.begin_awaited(now)) actions.emplace_back(move);
    const auto change = grid.take_pace_change(now);
    for (auto& [id, run] : runs)
      if (run.starts_tasks()) run.prepare(change, actions);
    if (grid.working_hosts > 0) start_tasks(now, actions);
  }
  for (auto& [id, run] : runs) run.end_turn(now, actions);
  return actions;
}

void Engine::Impl::start_tasks(TimePoint now, std::vector<Action>& actions) {
  constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();
  std::set<RunId> waiting;
  std::set<RunId> backlog;
  for (const auto& [id, run] : runs) {
    if (!run.starts_tasks()) continue;
    if (run.wants_to_plan()) waiting.insert(id);
    if (run.has_more_to_start()) backlog.insert(id);
  }
  turns.set_backlog(std::move(backlog));
  agree_on_queues(waiting);
  schedule::Turns::Queue queue(turns, waiting);
  while (queue.size() > 0) {
    Run& run = runs.at(queue.next());
    const double charge = run.typical_charge();
    std::size_t most = kAll;
    if (queue.size() > 1) {
      if (!run.due && !run.may_start()) {
        queue.leave(0);
        continue;
      }
      // As much as brings it level with the next one, and one more.
      const double turn = std::max(queue.turn(), kLeastTurn);
      most = static_cast<std::size_t>(std::min(std::floor(turn / charge), 1e6)) + 1;
    }
    const std::size_t started = run.ask_strategy(now, most, actions);
    const double cost = charge * static_cast<double>(started);
    if (started == most && run.has_more_to_start())
      queue.pay(cost);
    else
      queue.leave(cost);
  }
}

void Engine::Impl::agree_on_queues(const std::set<RunId>& waiting) {
  std::optional<Duration> longest;
  std::optional<Duration> second;
  RunId whose;
  for (const RunId id : waiting) {
    const auto mean = runs.at(id).run_times().mean();
    if (!mean || (longest && *mean <= *longest)) {
      second = schedule::longer_mean(second, mean);
      continue;
    }
    second = std::exchange(longest, mean);
    whose = id;
  }
  for (const RunId id : waiting) runs.at(id).others_mean = id == whose ? second : longest;
}

void Engine::Impl::share_out() {
  double sum = 0;
  for (const auto& [id, run] : runs)
    if (!run.finished()) sum += run.weight;
  for (auto& [id, run] : runs) run.entitled = sum > run.weight ? run.weight / sum : 1;
}

Engine::Engine(SiteMap map) : impl_(std::make_unique<Impl>(std::move(map))) {}
Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;

void Engine::add_run(RunId run, Workload workload, Policy policy,
                     std::unique_ptr<schedule::Scheduler> strategy, double weight) {
  if (!strategy) strategy = schedule::make_scheduler(schedule::kDefaultStrategy).value();
  for (std::uint32_t i = 0; i < workload.file_bytes.size(); ++i)
    impl_->grid.on(FileMade{FileId(i), kHome, workload.file_bytes[i]});
  const auto [it, is_new] = impl_->runs.try_emplace(run, run, impl_->grid, std::move(workload),
                                                    policy, std::move(strategy), weight);
  impl_->grid.queues.push_back(&it->second.ready);
  impl_->turns.add(run, weight);
}

void Engine::remove_run(RunId run) {
  const auto it = impl_->runs.find(run);
  if (it == impl_->runs.end()) return;
  it->second.release_all_staged();
  std::erase(impl_->grid.queues, &it->second.ready);
  impl_->turns.remove(run);
  impl_->runs.erase(it);
}

bool Engine::has_run(RunId run) const {
  return impl_->runs.contains(run);
}

RunView Engine::run(RunId run) const {
  return RunView(impl_->runs.at(run));
}

RunSnapshot Engine::snapshot(RunId run) const {
  return impl_->runs.at(run).snapshot();
}

void Engine::apply(const Event& event) {
  Impl& all = *impl_;
  const auto of_grid = [&](const auto& e) {
    if constexpr (requires { all.apply(e); })
      all.apply(e);
    else
      all.grid.on(e);
    for (auto& [id, run] : all.runs) run.strategy->observe(e);
  };
  std::visit(Overloaded{[&](const auto& e) {
               if constexpr (requires { e.report.key; })
                 all.tell(e.report.key.run, e);
               else if constexpr (requires { e.key; })
                 all.tell(e.key.run, e);
               else if constexpr (requires { e.run; })
                 all.tell(e.run, e);
               else
                 of_grid(e);
             }},
             event);
}

std::vector<Action> Engine::decide(TimePoint now) {
  return impl_->decide(now);
}

TimePoint Engine::next_wakeup() const {
  TimePoint first = kNever;
  for (const auto& [id, run] : impl_->runs) {
    const TimePoint wakeup = run.next_wakeup();
    if (wakeup != kNever && (first == kNever || wakeup < first)) first = wakeup;
  }
  return first;
}

std::span<const schedule::HostLoad> Engine::hosts() const {
  return impl_->grid.shown;
}
std::span<const schedule::SiteFiles> Engine::site_files(TimePoint now) {
  return impl_->grid.files.view(now);
}
const forecast::GridForecast& Engine::seen() const {
  return impl_->grid.seen;
}

}  // namespace gantry::engine
