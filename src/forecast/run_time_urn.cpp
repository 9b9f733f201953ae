#include "forecast/run_time_urn.hpp"

#include <cmath>
#include <iterator>
#include <numbers>

namespace gantry::forecast {

namespace {
// Found on small erratic runs (`gantry simulate eta --kind`, seeds 5 and 6).
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
}  // namespace

double Dice::normal() {
  const double radius = std::sqrt(-2 * std::log(1 - roll()));
  return radius * std::cos(2 * std::numbers::pi * roll());
}

double excess_of(const std::vector<double>& seen) {
  const auto first =
      static_cast<std::size_t>(static_cast<double>(seen.size()) * (1 - kLongestPart));
  double sum = kUsualTasks * kUsualExcess;
  for (std::size_t i = first; i < seen.size(); ++i) sum += std::log(seen[i] / seen[first]);
  return std::min(sum / (static_cast<double>(seen.size() - first - 1) + kUsualTasks), kMostExcess);
}

Urn::Urn(const std::vector<double>& seen, double excess, std::size_t room, Dice& dice)
    : seen_(std::ssize(seen)), longest_(seen.back()), dice_(dice) {
  times_.reserve(seen.size() + room);
  times_ = seen;
  excess_ = excess * std::pow(kExcessOff, 2 * dice_.roll() - 1);
}

double Urn::draw_beyond(double lasted) {
  const auto first = std::upper_bound(times_.begin(), times_.begin() + seen_, lasted);
  return draw_from(first - times_.begin(), std::max(longest_, lasted));
}

double Urn::draw_from(std::ptrdiff_t first, double longest) {
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

}  // namespace gantry::forecast
