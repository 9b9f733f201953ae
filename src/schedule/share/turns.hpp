#pragma once
/// Whose turn it is to start tasks (stride scheduling): each run has a weight, and pays for what it
/// starts; the run that has paid least for its weight is next. Runs with nothing to start are
/// passed over, so that no host waits for anybody. A value, owned by the engine.

#include <map>
#include <optional>
#include <set>
#include <vector>

#include "model/ids.hpp"

namespace gantry::schedule {

class Turns {
 public:
  /// REQUIRES: weight > 0.
  void add(RunId run, double weight);
  void remove(RunId run);
  /// The run has started something that costs so much.
  void pay(RunId run, double cost);

  /// These runs have tasks to start. One that had none for a while is owed nothing for that time.
  /// REQUIRES (here and below): all were added.
  void set_backlog(std::set<RunId> runs);
  /// Of these runs the one whose turn it is. REQUIRES: not empty.
  [[nodiscard]] RunId next(const std::set<RunId>& waiting) const;
  /// For how much the run may start before another of these has its turn; infinite without another.
  [[nodiscard]] double turn_of(RunId run, const std::set<RunId>& waiting) const;

 private:
  struct Account {
    double weight = 1;
    double paid = 0;  ///< for each unit of weight
  };

  std::map<RunId, Account> accounts_;
  std::set<RunId> backlog_;
  double now_ = 0;  ///< the least that a run with tasks to start has paid
};

}  // namespace gantry::schedule
