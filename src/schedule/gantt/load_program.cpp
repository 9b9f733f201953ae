#include "schedule/gantt/load_program.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "base/cholesky.hpp"

namespace gantry::schedule {

namespace {

constexpr int kMaxSteps = 80;            // some 15 to 30 are needed
constexpr double kPartOfTheWay = 0.995;  // to where a variable would be zero

double sum(const std::vector<double>& numbers) {
  double total = 0;
  for (const double number : numbers) total += number;
  return total;
}

/// How far one can go until the first of `values` would be zero; 1 at most.
double longest_step(const std::vector<double>& values, const std::vector<double>& steps) {
  double length = 1;
  for (std::size_t i = 0; i < values.size(); ++i)
    if (steps[i] < 0) length = std::min(length, -values[i] / steps[i]);
  return length;
}

double moved_product(const std::vector<double>& a, const std::vector<double>& da, double by_a,
                     const std::vector<double>& b, const std::vector<double>& db, double by_b) {
  double total = 0;
  for (std::size_t i = 0; i < a.size(); ++i) total += (a[i] + by_a * da[i]) * (b[i] + by_b * db[i]);
  return total;
}

void move(std::vector<double>& values, const std::vector<double>& steps, double length) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] += length * steps[i];
}

/// Mehrotra's predictor-corrector method on
///
///   minimise T   with   sum_a x_a = 1 for each item, over its alternatives a,
///   load_r + sum_a c_ar x_a + s_r = T for each resource r,   x, s >= 0,
///
/// whose dual is: maximise sum_i u_i + sum_r l_r load_r with sum_r l_r = 1, z_a = sum_r l_r c_ar -
/// u_i >= 0, l >= 0. Eliminating everything but the resources' prices l leaves a system of as many
/// equations as there are resources. Any l >= 0 gives a bound, the sum of the items' cheapest
/// alternatives, so that rounding cannot make the answer wrong, only weak.
class InteriorPoint {
 public:
  /// REQUIRES: scale > 0; all loads are divided by it.
  InteriorPoint(const LoadProgram& program, double scale);
  LoadBalance solve(const BalanceLimits& limits) &&;

 private:
  using Use = LoadProgram::Use;
  [[nodiscard]] std::span<const Use> uses(std::size_t a) const {
    return std::span(uses_).subspan(
        program_.alternative_begin[a],
        program_.alternative_begin[a + 1] - program_.alternative_begin[a]);
  }
  [[nodiscard]] std::size_t begin(std::size_t item) const { return program_.item_begin[item]; }
  [[nodiscard]] std::size_t end(std::size_t item) const { return program_.item_begin[item + 1]; }
  static double cost(std::span<const Use> uses, const std::vector<double>& prices) {
    double total = 0;
    for (const Use& use : uses) total += prices[use.resource] * use.load;
    return total;
  }

  /// The sum of the products that are zero at the optimum. Updates z and the best bound.
  double look();
  bool factor();
  void add_item_to_matrix(std::size_t item);
  void find_direction(double target, bool correct);
  void step(double gap);

  const LoadProgram& program_;
  double scale_;
  std::vector<Use> uses_;  ///< scaled
  std::vector<double> load_;
  std::vector<double> x_, z_, s_, l_, u_;       ///< the variables
  double t_ = 2;                                ///< twice the largest load at the beginning
  std::vector<double> dx_, dz_, ds_, dl_, du_;  ///< the direction
  double dt_ = 0;
  std::vector<double> w_, w_sum_, ones_;  ///< x / z, its sum for each item, M^-1 1
  std::vector<double> want_x_, want_s_, rest_;
  std::vector<double> together_;        ///< w c of an item, by resource; zero in between
  std::vector<std::uint32_t> touched_;  ///< where it is not
  Cholesky matrix_;
  LoadBalance best_;
};

InteriorPoint::InteriorPoint(const LoadProgram& program, double scale)
    : program_(program), scale_(scale), uses_(program.uses), load_(program.loads) {
  for (Use& use : uses_) use.load /= scale;
  for (double& load : load_) load /= scale;
  const std::size_t resources = load_.size();
  l_.assign(resources, 1 / static_cast<double>(resources));
  s_.assign(resources, t_);
  for (std::size_t r = 0; r < resources; ++r) s_[r] -= load_[r];
  x_.resize(program.alternatives());
  u_.resize(program.items());
  for (std::size_t i = 0; i < program.items(); ++i) {
    double cheapest = std::numeric_limits<double>::infinity();
    for (std::size_t a = begin(i); a < end(i); ++a) {
      x_[a] = 1 / static_cast<double>(end(i) - begin(i));
      for (const Use& use : uses(a)) s_[use.resource] -= use.load * x_[a];
      cheapest = std::min(cheapest, cost(uses(a), l_));
    }
    u_[i] = cheapest - 1 / static_cast<double>(program.items());
  }
  for (auto* vector : {&z_, &dx_, &dz_, &w_, &want_x_}) vector->resize(x_.size());
  for (auto* vector : {&ds_, &dl_, &want_s_, &together_}) vector->resize(resources);
  for (auto* vector : {&du_, &w_sum_, &rest_}) vector->resize(u_.size());
  best_.bound = -1;
}

LoadBalance InteriorPoint::solve(const BalanceLimits& limits) && {
  for (int i = 0; i < kMaxSteps; ++i) {
    const double gap = look();
    if (!(gap > limits.gap * t_) || best_.bound >= limits.enough) break;
    if (t_ * scale_ < limits.little) break;
    if (limits.stop && limits.stop()) break;
    if (!factor()) break;
    step(gap / static_cast<double>(x_.size() + s_.size()));
  }
  best_.parts = std::move(x_);
  return std::move(best_);
}

double InteriorPoint::look() {
  double gap = 0;
  double bound = 0;
  for (std::size_t i = 0; i < u_.size(); ++i) {
    double cheapest = std::numeric_limits<double>::infinity();
    for (std::size_t a = begin(i); a < end(i); ++a) {
      const double price = cost(uses(a), l_);
      cheapest = std::min(cheapest, price);
      z_[a] = price - u_[i];
      gap += x_[a] * z_[a];
    }
    bound += cheapest;
  }
  for (std::size_t r = 0; r < s_.size(); ++r) {
    gap += s_[r] * l_[r];
    bound += l_[r] * load_[r];
  }
  bound *= scale_ / sum(l_);
  if (bound > best_.bound) {
    best_.bound = bound;
    best_.prices = l_;
  }
  return gap;
}

bool InteriorPoint::factor() {
  matrix_.reset(s_.size());
  for (std::size_t r = 0; r < s_.size(); ++r) matrix_.row(r)[r] = s_[r] / l_[r];
  for (std::size_t i = 0; i < u_.size(); ++i) add_item_to_matrix(i);
  if (!matrix_.factor()) return false;
  ones_ = matrix_.solve(std::vector<double>(s_.size(), 1.0));
  return true;
}

/// sum w c c' - (sum w c) (sum w c)' / sum w, over its alternatives.
void InteriorPoint::add_item_to_matrix(std::size_t i) {
  w_sum_[i] = 0;
  touched_.clear();
  for (std::size_t a = begin(i); a < end(i); ++a) {
    w_[a] = x_[a] / z_[a];
    w_sum_[i] += w_[a];
    const auto its = uses(a);
    for (std::size_t k = 0; k < its.size(); ++k) {
      const double wc = w_[a] * its[k].load;
      for (std::size_t n = 0; n <= k; ++n) {
        const auto [low, high] = std::minmax(its[k].resource, its[n].resource);
        matrix_.row(high)[low] += wc * its[n].load;
      }
      if (wc == 0) continue;
      if (together_[its[k].resource] == 0) touched_.push_back(its[k].resource);
      together_[its[k].resource] += wc;
    }
  }
  std::ranges::sort(touched_);
  for (std::size_t k = 0; k < touched_.size(); ++k) {
    const double factor = together_[touched_[k]] / w_sum_[i];
    double* const row = matrix_.row(touched_[k]);
    for (std::size_t n = 0; n <= k; ++n) row[touched_[n]] -= factor * together_[touched_[n]];
  }
  for (const std::uint32_t resource : touched_) together_[resource] = 0;
}

/// Towards where all products are `target`; `correct`: with what the direction before says of how
/// they bend.
void InteriorPoint::find_direction(double target, bool correct) {
  std::vector<double> right(s_.size());
  for (std::size_t r = 0; r < s_.size(); ++r) {
    want_s_[r] = target - s_[r] * l_[r] - (correct ? ds_[r] * dl_[r] : 0);
    right[r] = want_s_[r] / l_[r] - (t_ - s_[r] - load_[r]);
  }
  for (std::size_t i = 0; i < u_.size(); ++i) {
    rest_[i] = 1;
    for (std::size_t a = begin(i); a < end(i); ++a) {
      want_x_[a] = target - x_[a] * z_[a] - (correct ? dx_[a] * dz_[a] : 0);
      rest_[i] -= want_x_[a] / z_[a] + x_[a];
    }
    for (std::size_t a = begin(i); a < end(i); ++a) {
      const double wanted = want_x_[a] / z_[a] + x_[a] + w_[a] * rest_[i] / w_sum_[i];
      for (const Use& use : uses(a)) right[use.resource] += use.load * wanted;
    }
  }
  dl_ = matrix_.solve(std::move(right));
  dt_ = (sum(dl_) - (1 - sum(l_))) / sum(ones_);
  for (std::size_t r = 0; r < s_.size(); ++r) {
    dl_[r] -= dt_ * ones_[r];
    ds_[r] = (want_s_[r] - s_[r] * dl_[r]) / l_[r];
  }
  for (std::size_t i = 0; i < u_.size(); ++i) {
    du_[i] = rest_[i];
    for (std::size_t a = begin(i); a < end(i); ++a) {
      dz_[a] = cost(uses(a), dl_);
      du_[i] += w_[a] * dz_[a];
    }
    du_[i] /= w_sum_[i];
    for (std::size_t a = begin(i); a < end(i); ++a) {
      dz_[a] -= du_[i];
      dx_[a] = (want_x_[a] - x_[a] * dz_[a]) / z_[a];
    }
  }
}

/// `gap` is the mean of the products.
void InteriorPoint::step(double gap) {
  const auto primal = [this] { return std::min(longest_step(x_, dx_), longest_step(s_, ds_)); };
  const auto dual = [this] { return std::min(longest_step(z_, dz_), longest_step(l_, dl_)); };
  find_direction(0, false);
  const double by_x = primal();
  const double by_z = dual();
  const double reached =
      (moved_product(x_, dx_, by_x, z_, dz_, by_z) + moved_product(s_, ds_, by_x, l_, dl_, by_z)) /
      static_cast<double>(x_.size() + s_.size());
  const double ratio = reached / gap;
  find_direction(ratio * ratio * ratio * gap, true);
  const double primal_length = std::min(1.0, primal() * kPartOfTheWay);
  const double dual_length = std::min(1.0, dual() * kPartOfTheWay);
  move(x_, dx_, primal_length);
  move(s_, ds_, primal_length);
  t_ += primal_length * dt_;
  move(l_, dl_, dual_length);
  move(u_, du_, dual_length);
}

/// The largest load if every item were cut into equal parts.
double largest_equal_load(const LoadProgram& program) {
  std::vector<double> loads = program.loads;
  for (std::size_t i = 0; i < program.items(); ++i) {
    const std::size_t begin = program.item_begin[i];
    const std::size_t end = program.item_begin[i + 1];
    for (std::size_t a = begin; a < end; ++a)
      for (const auto& use : program.uses_of(a))
        loads[use.resource] += use.load / static_cast<double>(end - begin);
  }
  return *std::ranges::max_element(loads);
}

}  // namespace

LoadBalance balance(const LoadProgram& program, const BalanceLimits& limits) {
  assert(!program.loads.empty());
  const double scale = largest_equal_load(program);
  if (scale > 0) return InteriorPoint(program, scale).solve(limits);
  LoadBalance result;
  result.prices.assign(program.loads.size(), 1 / static_cast<double>(program.loads.size()));
  for (std::size_t i = 0; i < program.items(); ++i) {
    const std::size_t count = program.item_begin[i + 1] - program.item_begin[i];
    result.parts.insert(result.parts.end(), count, 1 / static_cast<double>(count));
  }
  return result;
}

}  // namespace gantry::schedule
