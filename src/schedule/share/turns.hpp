#pragma once
/// Whose turn it is to start tasks (stride scheduling): each run has a weight, and pays for what it
/// starts; the run that has paid least for its weight is next. Runs with nothing to start are
/// passed over, so that no host waits for anybody. A value, owned by the engine.

#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "model/ids.hpp"

namespace gantry::schedule {

class Turns {
 public:
  /// REQUIRES: weight > 0.
  void add(RunId run, double weight);
  void remove(RunId run);
  /// These runs have tasks to start. One that had none for a while is owed nothing for that time.
  /// REQUIRES (here and below): all were added.
  void set_backlog(std::set<RunId> runs);

  /// Runs that wait for a turn, in the order of their turns. For one decision, while no run comes
  /// or goes.
  class Queue {
   public:
    Queue(Turns& turns, const std::set<RunId>& waiting);
    [[nodiscard]] std::size_t size() const { return order_.size(); }
    /// Whose turn it is. REQUIRES (all of these): there is one.
    [[nodiscard]] RunId next() const { return order_.begin()->second; }
    /// For how much it may start before another has its turn; infinite without another.
    [[nodiscard]] double turn() const;
    /// It has started something that costs so much, and waits for more.
    void pay(double cost);
    /// The same, but it waits no longer.
    void leave(double cost);

   private:
    Turns* turns_;
    std::set<std::pair<double, RunId>> order_;  ///< by what they have paid
  };

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
