#include "schedule/share/turns.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
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

Turns::Queue::Queue(Turns& turns, const std::set<RunId>& waiting) : turns_(&turns) {
  for (const RunId run : waiting) order_.emplace(turns.accounts_.at(run).paid, run);
}

double Turns::Queue::turn() const {
  if (order_.size() == 1) return std::numeric_limits<double>::infinity();
  const auto first = order_.begin();
  return (std::next(first)->first - first->first) * turns_->accounts_.at(first->second).weight;
}

void Turns::Queue::pay(double cost) {
  const RunId run = next();
  leave(cost);
  order_.emplace(turns_->accounts_.at(run).paid, run);
}

void Turns::Queue::leave(double cost) {
  Account& account = turns_->accounts_.at(next());
  account.paid += cost / account.weight;
  order_.erase(order_.begin());
}

}  // namespace gantry::schedule
