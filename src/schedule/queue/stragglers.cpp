#include "schedule/queue/stragglers.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "forecast/run_time_accuracy.hpp"
#include "schedule/depot_room.hpp"
#include "schedule/file_source.hpp"

namespace gantry::schedule {

namespace {

/// Of all runs, so many take no more of their forecast than what is not yet unusual.
constexpr double kUsual = 0.98;
/// Never unusual, however good forecasts were.
constexpr double kLeastUnusual = 1.5;
/// What is late by less may only have been told late.
constexpr Duration kLeastLate = std::chrono::seconds(5);
/// As long as too few forecasts have been scored.
constexpr double kUnusualAtFirst = 3;
/// A second attempt costs a slot and may take longer than thought: it must be clearly quicker.
constexpr double kClearly = 1.25;
/// A host that has become so much slower since the task began is loaded.
constexpr double kLoaded = 1.25;
/// Each is compared with each. Others have their turn at the next plan.
constexpr std::size_t kMostCompared = 200;

struct Straggler {
  TaskId task;
  HostId host;
  Duration expected{};  ///< to take, when it started
  Duration left{};      ///< expected now, where it runs
};

/// How the tasks of a site fare.
struct SiteFares {
  std::uint32_t running = 0;
  std::uint32_t overdue = 0;
};

class SecondAttempts {
 public:
  SecondAttempts(const World& world, Plan& plan) : world_(world), plan_(plan) {
    const bool known =
        world.accuracy != nullptr && world.accuracy->scored() >= forecast::RunTimeAccuracy::kEnough;
    unusual_ = known ? std::max(world.accuracy->quantile(kUsual), kLeastUnusual) : kUnusualAtFirst;
  }

  void add() {
    find_idle();
    if (idle_.empty()) return;
    find_stragglers();
    for (const Straggler& each : stragglers_) give(each);
    if (next_ != kNever && (plan_.ask_again == kNever || next_ < plan_.ask_again))
      plan_.ask_again = next_;
  }

 private:
  /// A host that gets something by this plan is none.
  void find_idle() {
    for (const HostLoad& load : world_.hosts) {
      if (idle_.size() == kMostCompared) return;
      const auto gets = [&](const auto& each) { return each.host == load.host->id; };
      if (load.load < kFull && std::ranges::none_of(plan_.starts, gets) &&
          std::ranges::none_of(plan_.steals, gets))
        idle_.emplace_back(&load, load.load);
    }
  }

  [[nodiscard]] TimePoint due(const Ongoing& given) const {
    return given.started +
           std::max(from_seconds(seconds(given.expected) * unusual_), given.expected + kLeastLate);
  }
  [[nodiscard]] static bool is_forecast(const Ongoing& given) {
    return given.started != kNever && given.expected > Duration{0};
  }

  void find_stragglers() {
    std::map<TaskId, std::uint32_t> attempts;
    std::map<SiteId, SiteFares> fares;
    for (const HostLoad& load : world_.hosts)
      for (const Ongoing& given : load.ongoing) {
        if (!is_ours(world_, given)) continue;
        ++attempts[given.task];
        if (!is_forecast(given)) continue;
        SiteFares& site = fares[load.host->site];
        ++site.running;
        site.overdue += world_.now >= due(given) ? 1 : 0;
      }
    for (const HostLoad& load : world_.hosts)
      for (const Ongoing& given : load.ongoing) {
        if (!is_ours(world_, given) || !is_forecast(given) || given.alone ||
            attempts[given.task] > 1)
          continue;
        if (const auto rest = left_by_load(load.host->id, given);
            rest && world_.now + *rest >= due(given)) {
          stragglers_.push_back({given.task, load.host->id, given.expected, *rest});
        } else if (world_.now < due(given)) {
          look_again(due(given));
        } else if (is_slow_for_all(fares[load.host->site], load.host->site, given)) {
          look_again(world_.now + given.expected / 2);
        } else {
          stragglers_.push_back({given.task, load.host->id, given.expected, left(given)});
        }
      }
    // What ends last comes first.
    std::ranges::stable_sort(stragglers_, std::greater{}, &Straggler::left);
    if (stragglers_.size() > kMostCompared) stragglers_.resize(kMostCompared);
  }

  /// Others are late there, too, and none has ended in time since this one should have.
  [[nodiscard]] bool is_slow_for_all(const SiteFares& fares, SiteId site,
                                     const Ongoing& given) const {
    if (fares.overdue * 2 <= fares.running || fares.running == 1) return false;
    if (world_.on_time == nullptr) return true;
    const auto last = world_.on_time->find(site);
    return last == world_.on_time->end() || last->second < given.started + given.expected;
  }

  void look_again(TimePoint time) {
    if (next_ == kNever || time < next_) next_ = time;
  }

  /// By what its host tells of its load; nothing where it tells none, or the task should have ended
  /// all the same. Then it is known to be late before it is, and that the forecast was right but
  /// for the load.
  [[nodiscard]] std::optional<Duration> left_by_load(HostId host, const Ongoing& given) const {
    if (world_.seen == nullptr || world_.seen->availability(host) == nullptr) return std::nullopt;
    const double speed = world_.seen->speed(host);
    if (speed * kLoaded > given.speed)
      return std::nullopt;  // whatever is slow there, not by its load
    const double left =
        seconds(given.expected) * given.speed / speed - done_of(world_, host, given);
    return left > 0 ? std::optional(from_seconds(left)) : std::nullopt;
  }

  [[nodiscard]] Duration left(const Ongoing& given) const {
    const double expected = seconds(given.expected);
    const double lasted = seconds(world_.now - given.started) / expected;
    const double in_all =
        world_.accuracy != nullptr ? world_.accuracy->expected_beyond(lasted) : 2 * lasted - 1;
    return from_seconds((in_all - lasted) * expected);
  }

  void give(const Straggler& straggler) {
    const TaskNeeds needs = world_.needs_of(straggler.task);
    Idle* best = nullptr;
    Duration quickest = from_seconds(seconds(straggler.left) / kClearly);
    for (Idle& each : idle_) {
      const Host& host = *each.first->host;
      if (host.id == straggler.host || !is_free(host, each.second, needs.resources) ||
          !has_room(world_, host.site, needs.files))
        continue;
      const auto there = takes(host, needs);
      if (!there || *there >= quickest) continue;
      quickest = *there;
      best = &each;
    }
    // The longer it lasts, the longer it is expected to last.
    if (best == nullptr) return look_again(world_.now + straggler.expected / 2);
    best->second += share(*best->first->host, needs.resources);
    plan_.twins.push_back({straggler.task, best->first->host->id});
  }

  /// From now on, files included; nothing when that is not known.
  [[nodiscard]] std::optional<Duration> takes(const Host& host, const TaskNeeds& needs) const {
    std::optional<Duration> runs = world_.run_times.expected(needs.cost);
    if (const auto pace = world_.seen != nullptr ? world_.seen->pace(host.id) : std::nullopt)
      runs = from_seconds(*pace * forecast::usable_cost(needs.cost));
    if (!runs) return std::nullopt;
    const auto site = std::ranges::find(world_.sites, host.site, &SiteFiles::site);
    TimePoint ready = world_.now;
    for (const FileId file : needs.files) {
      if (host.site == kHome) break;
      if (site != world_.sites.end() && std::ranges::binary_search(site->there, file)) continue;
      if (world_.map == nullptr) return std::nullopt;
      const FileTraffic traffic{*world_.map, world_.sites, world_.file_bytes, world_.now,
                                world_.seen};
      const FileSource source = choose_source(traffic, file, host.site);
      if (source.arrives == kNever) return std::nullopt;
      ready = std::max(ready, source.arrives);
    }
    return ready - world_.now + *runs;
  }

  using Idle = std::pair<const HostLoad*, Load>;

  const World& world_;
  Plan& plan_;
  double unusual_ = kUnusualAtFirst;
  std::vector<Idle> idle_;  ///< with its load after what is planned
  std::vector<Straggler> stragglers_;
  TimePoint next_ = kNever;  ///< time that something may have to be done
};

}  // namespace

Appetite Stragglers::appetite() const {
  Appetite wanted = strategy_->appetite();
  wanted.to_the_end = true;
  return wanted;
}

Plan Stragglers::plan(const World& world) {
  Plan plan;
  if (world.ready > 0 || strategy_->appetite().to_the_end) plan = strategy_->plan(world);
  if (plan.starts.size() == world.ready && world.hosts.size() > 1)
    SecondAttempts(world, plan).add();
  return plan;
}

}  // namespace gantry::schedule
