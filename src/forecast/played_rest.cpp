#include "forecast/played_rest.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>

#include "forecast/run_time_urn.hpp"

namespace gantry::forecast {

namespace {

/// So many times, or so many tasks in all, but never fewer times than that: it is asked for ten
/// times a second.
constexpr std::uint64_t kMostPlays = 100;
constexpr std::uint64_t kDraws = 4000;
constexpr std::uint64_t kLeastPlays = 40;

// Found on small erratic runs (`gantry simulate eta --kind`, seeds 5 and 6).
/// Plays that end sooner than the interval, and later. When few were seen, plays are wary of what
/// was not: ends came too soon more often than too late.
constexpr double kSoonerPlays = 0.05;
constexpr double kLaterPlays = 0.1;

/// A slot, and when it is free.
struct Slot {
  double free = 0;
  double pace = 1;
  std::size_t host = 0;

  /// A heap gives out the one that is free first, and of several the fastest.
  friend bool operator<(const Slot& one, const Slot& other) {
    return std::tie(other.free, other.pace, other.host) < std::tie(one.free, one.pace, one.host);
  }
};

struct Runs {
  double lasted = 0;
  std::size_t host = 0;
};

/// What all plays have in common.
struct Scene {
  std::vector<double> seen{};  ///< ascending
  double excess = 0;
  std::vector<HostPace> paces{};
  std::vector<Runs> running{};
  std::vector<std::size_t> idle{};     ///< hosts of idle slots, no more than may be used
  std::vector<std::uint64_t> over{};   ///< by host: so many more run than there are slots
  std::vector<std::uint64_t> given{};  ///< by host
  std::uint64_t waiting = 0;
};

/// Slots that nothing runs on: for what their host was given, and the fastest others, as many as
/// there are tasks that wait.
std::vector<std::size_t> idle_slots(const RestOfRun& rest) {
  std::vector<std::size_t> idle;
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < rest.hosts.size(); ++i) {
    const PlayedHost& host = rest.hosts[i];
    const std::uint64_t free = host.slots - std::min(host.slots, host.running.size());
    const std::uint64_t used = std::min(free, host.given);
    idle.insert(idle.end(), used, i);
    others.insert(others.end(), std::min(free - used, rest.waiting), i);
  }
  const auto kept = std::min<std::size_t>(others.size(), rest.waiting);
  const auto end = others.begin() + static_cast<std::ptrdiff_t>(kept);
  std::ranges::partial_sort(others, end, {},
                            [&](std::size_t i) { return std::pair(rest.hosts[i].pace.times, i); });
  idle.insert(idle.end(), others.begin(), end);
  return idle;
}

class Play {
 public:
  Play(const Scene& scene, std::uint64_t number)
      : scene_(scene),
        dice_(number),
        urn_(scene.seen, scene.excess, kMostPlayed, dice_),
        over_(scene.over),
        given_(scene.given),
        waiting_(scene.waiting) {
    for (const HostPace& pace : scene.paces)
      paces_.push_back(pace.unsure > 0 ? pace.times * std::exp(pace.unsure * dice_.normal())
                                       : pace.times);
  }

  double end() {
    for (const std::size_t host : scene_.idle) slots_.push({0, paces_[host], host});
    end_what_runs();
    while (!slots_.empty()) {
      const Slot slot = slots_.top();
      slots_.pop();
      if (gets_another(slot.host)) take(slot, slot.free + urn_.draw() * slot.pace);
    }
    return end_;
  }

 private:
  void take(Slot slot, double until) {
    slot.free = until;
    slots_.push(slot);
    end_ = std::max(end_, until);
  }

  /// What has run for longest, by the pace of its host, is drawn first.
  void end_what_runs() {
    std::vector<Runs> running = scene_.running;
    for (Runs& one : running) one.lasted /= paces_[one.host];
    std::ranges::stable_sort(running, std::greater<>(), &Runs::lasted);
    for (const Runs& one : running) {
      const double left = urn_.draw_beyond(one.lasted) - one.lasted;
      take({0, paces_[one.host], one.host}, left * paces_[one.host]);
    }
  }

  /// One of the host's slots is free.
  bool gets_another(std::size_t host) {
    if (over_[host] > 0) {
      --over_[host];  // what runs beyond its slots leaves none when it ends
      return false;
    }
    std::uint64_t& from = waiting_ > 0 ? waiting_ : given_[host];
    if (from == 0) return false;
    --from;
    return true;
  }

  const Scene& scene_;
  Dice dice_;
  Urn urn_;
  std::vector<std::uint64_t> over_;
  std::vector<std::uint64_t> given_;
  std::uint64_t waiting_;
  std::vector<double> paces_;
  std::priority_queue<Slot> slots_;
  double end_ = 0;
};

/// Of those hosts that have a part in it: there may be thousands that do not.
Scene scene_of(RestOfRun rest) {
  Scene scene{.seen = std::move(rest.seen), .waiting = rest.waiting};
  std::ranges::sort(scene.seen);
  scene.excess = excess_of(scene.seen);
  scene.idle = idle_slots(rest);
  std::vector<std::size_t> place(rest.hosts.size(), rest.hosts.size());
  const auto placed = [&](std::size_t i) {
    if (place[i] < rest.hosts.size()) return place[i];
    const PlayedHost& host = rest.hosts[i];
    scene.paces.push_back(host.pace);
    scene.over.push_back(host.running.size() - std::min(host.running.size(), host.slots));
    scene.given.push_back(host.given);
    return place[i] = scene.paces.size() - 1;
  };
  for (std::size_t i = 0; i < rest.hosts.size(); ++i)
    for (const double lasted : rest.hosts[i].running) scene.running.push_back({lasted, placed(i)});
  for (std::size_t& host : scene.idle) host = placed(host);
  return scene;
}

}  // namespace

std::optional<PlayedRest> play_rest(RestOfRun rest) {
  std::erase_if(rest.seen, [](double time) { return !(time > 0) || !std::isfinite(time); });
  std::uint64_t open = rest.waiting;
  std::uint64_t slots = 0;
  for (const PlayedHost& host : rest.hosts) {
    open += host.running.size() + host.given;
    slots += host.slots;
  }
  if (rest.seen.empty() || slots == 0 || open == 0 || open > kMostPlayed) return std::nullopt;
  const Scene scene = scene_of(std::move(rest));
  std::vector<double> ends;
  const std::uint64_t plays = std::clamp(kDraws / open, kLeastPlays, kMostPlays);
  for (std::uint64_t number = 0; number < plays; ++number)
    ends.push_back(Play(scene, number).end());
  std::ranges::sort(ends);
  const auto after = [&](double share) {
    return ends[static_cast<std::size_t>(share * static_cast<double>(plays))];
  };
  return PlayedRest{after(kSoonerPlays), after(0.5), after(1 - kLaterPlays)};
}

double even_rest(const RestOfRun& rest, double mean) {
  auto work = static_cast<double>(rest.waiting);
  std::uint64_t open = rest.waiting;
  std::uint64_t slots = 0;
  double speed = 0;
  double longest = 0;
  for (const PlayedHost& host : rest.hosts) {
    const double whole = mean * host.pace.times;
    for (const double lasted : host.running) {
      longest = std::max(longest, std::abs(whole - lasted));
      work += std::abs(whole - lasted) / whole;
    }
    work += static_cast<double>(host.given);
    open += host.running.size() + host.given;
    slots += host.slots;
    speed += static_cast<double>(host.slots) / whole;
  }
  if (slots > open) speed *= static_cast<double>(open) / static_cast<double>(slots);
  return std::max(speed > 0 ? work / speed : work * mean, longest);
}

}  // namespace gantry::forecast
