#include "schedule/share/turns.hpp"

#include <algorithm>
#include <limits>

namespace gantry::schedule {

void Turns::add(RunId run, double weight) {
  accounts_[run] = {.weight = weight, .paid = now_};
}

void Turns::pay(RunId run, double cost) {
  Account& account = accounts_.at(run);
  account.paid += cost / account.weight;
}

RunId Turns::next(const std::set<RunId>& waiting) {
  RunId chosen = *waiting.begin();
  double least = std::numeric_limits<double>::infinity();
  for (const RunId run : waiting) {
    Account& account = accounts_.at(run);
    account.paid = std::max(account.paid, now_);
    if (account.paid >= least) continue;
    least = account.paid;
    chosen = run;
  }
  now_ = least;
  return chosen;
}

double Turns::turn_of(RunId run, const std::set<RunId>& waiting) const {
  const Account& mine = accounts_.at(run);
  double others = std::numeric_limits<double>::infinity();
  for (const RunId other : waiting)
    if (other != run) others = std::min(others, std::max(accounts_.at(other).paid, now_));
  return std::max(others - mine.paid, 0.0) * mine.weight;
}

}  // namespace gantry::schedule
