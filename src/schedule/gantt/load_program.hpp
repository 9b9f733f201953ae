#pragma once
/// A linear program that scheduling keeps asking for: cut each of some items into parts, one for
/// each of its alternatives, so that the most loaded of some resources has the least load. Its
/// answer holds for schedules that cut nothing as a lower bound. Pure functions.

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace gantry::schedule {

struct LoadProgram {
  /// The whole item loads the resource with so much.
  struct Use {
    std::uint32_t resource = 0;
    double load = 0;
  };

  std::vector<double> loads;               ///< what the resources have already
  std::vector<std::size_t> item_begin{0};  ///< the first alternative of each item, and an end
  std::vector<std::size_t> alternative_begin{0};  ///< the first use of each alternative, and an end
  std::vector<Use> uses;

  /// Of the alternative that is being made; each resource once at most.
  void add_use(std::uint32_t resource, double load) { uses.push_back({resource, load}); }
  void end_alternative() { alternative_begin.push_back(uses.size()); }
  /// REQUIRES: it has an alternative.
  void end_item() { item_begin.push_back(alternative_begin.size() - 1); }

  [[nodiscard]] std::size_t items() const { return item_begin.size() - 1; }
  [[nodiscard]] std::size_t alternatives() const { return alternative_begin.size() - 1; }
  [[nodiscard]] std::span<const Use> uses_of(std::size_t alternative) const {
    return std::span(uses).subspan(
        alternative_begin[alternative],
        alternative_begin[alternative + 1] - alternative_begin[alternative]);
  }
};

struct LoadBalance {
  double bound = 0;            ///< no balance is better, however exactly this was solved
  std::vector<double> prices;  ///< of a unit of each resource; they sum up to about 1
  std::vector<double> parts;   ///< of each alternative
};

struct BalanceLimits {
  double gap = 1e-12;            ///< relative distance from the optimum that is good enough
  double enough = 1e300;         ///< a bound that is that large is good enough
  std::function<bool()> stop{};  ///< asked now and then; true: what there is is good enough
  double little = 0;             ///< a balance whose loads are all less is good enough
};

/// REQUIRES: loads finite and not negative, a resource at least.
LoadBalance balance(const LoadProgram& program, const BalanceLimits& limits);

}  // namespace gantry::schedule
