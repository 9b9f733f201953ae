#include "schedule/share/turns.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace gantry::schedule {

void Turns::add(RunId run, double weight) {
  accounts_[run] = {.weight = weight};
}

void Turns::remove(RunId run) {
  accounts_.erase(run);
  backlog_.erase(run);
}

void Turns::pay(RunId run, double cost) {
  Account& account = accounts_.at(run);
  account.paid += cost / account.weight;
}

void Turns::set_backlog(std::set<RunId> runs) {
  double least = std::numeric_limits<double>::infinity();
  for (const RunId run : runs)
    if (backlog_.contains(run)) least = std::min(least, accounts_.at(run).paid);
  if (std::isfinite(least)) now_ = std::max(now_, least);
  for (const RunId run : runs) {
    double& paid = accounts_.at(run).paid;
    if (!backlog_.contains(run)) paid = std::max(paid, now_);
  }
  backlog_ = std::move(runs);
}

RunId Turns::next(const std::set<RunId>& waiting) const {
  return *std::ranges::min_element(waiting, {}, [&](RunId run) { return accounts_.at(run).paid; });
}

double Turns::turn_of(RunId run, const std::set<RunId>& waiting) const {
  const Account& mine = accounts_.at(run);
  double others = std::numeric_limits<double>::infinity();
  for (const RunId other : waiting)
    if (other != run) others = std::min(others, accounts_.at(other).paid);
  return std::max(others - mine.paid, 0.0) * mine.weight;
}

}  // namespace gantry::schedule
