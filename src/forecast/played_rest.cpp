#include "forecast/played_rest.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>

#include "base/chance.hpp"

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
/// The longest of the times that were seen tell by how much one may be longer than all: this part.
constexpr double kLongestPart = 0.25;
/// By how much (the mean of logarithms), before anything was seen; that counts as so many tasks.
constexpr double kUsualExcess = 0.4;
constexpr double kUsualTasks = 1;
/// Beyond that it tells nothing.
constexpr double kMostExcess = 1.5;
constexpr double kMostTimesLonger = 10;
/// It is not known well: a play takes it for up to that many times more, or less.
constexpr double kExcessOff = 5;

/// Numbers that follow from the play's.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(mixed(seed)) {}
  /// In [0, 1).
  double roll() { return unit_of(mixed(++state_)); }
  std::size_t below(std::size_t count) {
    return std::min(static_cast<std::size_t>(roll() * static_cast<double>(count)), count - 1);
  }

 private:
  std::uint64_t state_;
};

/// By how much the longest are longer than the shortest of them, on average: Hill's estimate of a
/// tail. REQUIRES: ascending, not empty.
double excess_of(const std::vector<double>& seen) {
  const auto first =
      static_cast<std::size_t>(static_cast<double>(seen.size()) * (1 - kLongestPart));
  double sum = kUsualTasks * kUsualExcess;
  for (std::size_t i = first; i < seen.size(); ++i) sum += std::log(seen[i] / seen[first]);
  return std::min(sum / (static_cast<double>(seen.size() - first - 1) + kUsualTasks), kMostExcess);
}

/// Run times of one play. Each is one of those that were seen, and then counts as seen once more:
/// so plays differ by as much as is not known of the mean when few were seen. Of n tasks that come
/// in any order the next one is the longest with a chance of 1 in n + 1; how long it is then was
/// not seen.
class Urn {
 public:
  Urn(const std::vector<double>& seen, double excess, std::size_t room, Dice& dice)
      : seen_(seen.size()), longest_(seen.back()), dice_(dice) {
    times_.reserve(seen.size() + room);
    times_ = seen;
    excess_ = excess * std::pow(kExcessOff, 2 * dice_.roll() - 1);
  }

  double draw() { return draw_from(0, longest_); }
  /// Longer than that. REQUIRES: not longer than in the draw before, and no other draw() yet.
  double draw_beyond(double lasted) {
    const auto first = std::upper_bound(times_.begin(), times_.begin() + seen_, lasted);
    return draw_from(first - times_.begin(), std::max(longest_, lasted));
  }

 private:
  double draw_from(std::ptrdiff_t first, double longest) {
    const auto count = static_cast<std::size_t>(std::ssize(times_) - first);
    const std::size_t drawn = dice_.below(count + 1);
    if (drawn < count) {
      times_.push_back(times_[static_cast<std::size_t>(first) + drawn]);
      return times_.back();
    }
    // What nobody has seen does not make itself more likely.
    times_.push_back(longest);
    return longest * std::min(std::pow(1 - dice_.roll(), -excess_), kMostTimesLonger);
  }

  std::vector<double> times_;  ///< those that were seen, ascending, then those that were drawn
  std::ptrdiff_t seen_;
  double longest_;
  double excess_ = 0;
  Dice& dice_;
};

struct Runs {
  double lasted = 0;
  bool leaves = false;  ///< its slot gets nothing more
};

/// `running`: all that does, what has for longest first.
double end_of_play(const RestOfRun& rest, const std::vector<Runs>& running, double excess,
                   std::uint64_t number) {
  Dice dice(number);
  Urn urn(rest.seen, excess, running.size() + rest.waiting, dice);
  std::priority_queue<double, std::vector<double>, std::greater<>> busy;  // slots, until then
  double end = 0;
  const auto take = [&](double until) {
    busy.push(until);
    end = std::max(end, until);
  };
  for (const Runs& one : running) {
    const double until = urn.draw_beyond(one.lasted) - one.lasted;
    if (one.leaves)
      end = std::max(end, until);
    else
      take(until);
  }
  for (std::uint64_t i = 0; i < rest.waiting; ++i) {
    double free = 0;
    // More run than there are slots when some host gives its tasks less than it did.
    while (busy.size() >= rest.slots) {
      free = busy.top();
      busy.pop();
    }
    take(free + urn.draw());
  }
  return end;
}

}  // namespace

std::optional<PlayedRest> play_rest(RestOfRun rest) {
  std::erase_if(rest.seen, [](double time) { return !(time > 0) || !std::isfinite(time); });
  const std::uint64_t open = rest.running.size() + rest.leaving.size() + rest.waiting;
  if (rest.seen.empty() || rest.slots == 0 || open == 0 || open > kMostPlayed) return std::nullopt;
  std::ranges::sort(rest.seen);
  std::vector<Runs> running;
  for (const double lasted : rest.running) running.push_back({lasted});
  for (const double lasted : rest.leaving) running.push_back({lasted, true});
  std::ranges::stable_sort(running, std::greater<>(), &Runs::lasted);
  const double excess = excess_of(rest.seen);
  std::vector<double> ends;
  const std::uint64_t plays = std::clamp(kDraws / open, kLeastPlays, kMostPlays);
  for (std::uint64_t number = 0; number < plays; ++number)
    ends.push_back(end_of_play(rest, running, excess, number));
  std::ranges::sort(ends);
  const auto after = [&](double share) {
    return ends[static_cast<std::size_t>(share * static_cast<double>(plays))];
  };
  return PlayedRest{after(kSoonerPlays), after(0.5), after(1 - kLaterPlays)};
}

}  // namespace gantry::forecast
