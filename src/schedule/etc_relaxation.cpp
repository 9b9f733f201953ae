#include "schedule/etc_relaxation.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

namespace gantry::schedule {

namespace {

constexpr int kMaxSteps = 80;            // some 15 to 30 are needed
constexpr double kPartOfTheWay = 0.995;  // to where a variable would be zero

/// The lower triangle of a symmetric positive definite matrix, row by row in a square.
class Cholesky {
 public:
  void reset(std::size_t size) {
    size_ = size;
    cells_.assign(size * size, 0.0);
  }
  [[nodiscard]] double* row(std::size_t i) { return &cells_[i * size_]; }

  /// False when it is not positive definite, as far as rounding lets one see.
  bool factor() {
    for (std::size_t i = 0; i < size_; ++i) {
      double* const a = row(i);
      for (std::size_t j = 0; j <= i; ++j) {
        const double* const b = row(j);
        double sum = a[j];
        for (std::size_t k = 0; k < j; ++k) sum -= a[k] * b[k];
        if (j < i)
          a[j] = sum / b[j];
        else if (sum > 0)
          a[j] = std::sqrt(sum);
        else
          return false;
      }
    }
    return true;
  }

  /// REQUIRES: factored.
  [[nodiscard]] std::vector<double> solve(std::vector<double> b) const {
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t k = 0; k < i; ++k) b[i] -= cells_[i * size_ + k] * b[k];
      b[i] /= cells_[i * size_ + i];
    }
    for (std::size_t i = size_; i-- > 0;) {
      for (std::size_t k = i + 1; k < size_; ++k) b[i] -= cells_[k * size_ + i] * b[k];
      b[i] /= cells_[i * size_ + i];
    }
    return b;
  }

 private:
  std::size_t size_ = 0;
  std::vector<double> cells_;
};

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
///   minimise T   with   sum_j x_ij = 1 for each task i,   load_j + sum_i c_ij x_ij + s_j = T for
///   each machine j,   x, s >= 0,
///
/// whose dual is: maximise sum_i u_i + sum_j l_j load_j with sum_j l_j = 1, z_ij = l_j c_ij - u_i
/// >= 0, l >= 0. Eliminating everything but the machines' prices l leaves a system of as many
/// equations as there are machines. Any l >= 0 gives a bound, the sum of the tasks' cheapest
/// places, so that rounding cannot make the answer wrong, only weak.
class InteriorPoint {
 public:
  /// REQUIRES: scale > 0; times and loads are divided by it.
  InteriorPoint(std::span<const double> times, std::span<const double> loads, double scale);
  EtcRelaxation solve(const RelaxationLimits& limits) &&;

 private:
  /// The sum of the products that are zero at the optimum. Updates z and the best bound.
  double look();
  bool factor();
  void find_direction(double target, bool correct);
  void step(double gap);

  std::size_t machines_;
  std::size_t tasks_;
  double scale_;
  std::vector<double> c_, load_;
  std::vector<double> x_, z_, s_, l_, u_;       ///< the variables
  double t_ = 2;                                ///< twice the largest load at the beginning
  std::vector<double> dx_, dz_, ds_, dl_, du_;  ///< the direction
  double dt_ = 0;
  std::vector<double> w_, w_sum_, ones_;  ///< x / z, its sum for each task, M^-1 1
  std::vector<double> want_x_, want_s_, rest_;
  Cholesky matrix_;
  EtcRelaxation best_;
};

InteriorPoint::InteriorPoint(std::span<const double> times, std::span<const double> loads,
                             double scale)
    : machines_(loads.size()),
      tasks_(times.size() / loads.size()),
      scale_(scale),
      c_(times.begin(), times.end()),
      load_(loads.begin(), loads.end()) {
  for (double& time : c_) time /= scale;
  for (double& load : load_) load /= scale;
  const auto machines = static_cast<double>(machines_);
  x_.assign(c_.size(), 1 / machines);
  l_.assign(machines_, 1 / machines);
  s_.assign(machines_, t_);
  for (std::size_t j = 0; j < machines_; ++j) s_[j] -= load_[j];
  u_.resize(tasks_);
  for (std::size_t i = 0; i < tasks_; ++i) {
    double cheapest = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < machines_; ++j) {
      const double c = c_[i * machines_ + j];
      s_[j] -= c / machines;
      cheapest = std::min(cheapest, c / machines);
    }
    u_[i] = cheapest - 1 / static_cast<double>(tasks_);
  }
  for (auto* vector : {&z_, &dx_, &dz_, &w_, &want_x_}) vector->resize(c_.size());
  for (auto* vector : {&ds_, &dl_, &want_s_}) vector->resize(machines_);
  for (auto* vector : {&du_, &w_sum_, &rest_}) vector->resize(tasks_);
  best_.bound = -1;
}

EtcRelaxation InteriorPoint::solve(const RelaxationLimits& limits) && {
  for (int i = 0; i < kMaxSteps; ++i) {
    const double gap = look();
    if (!(gap > limits.gap * t_) || best_.bound >= limits.enough) break;
    if (limits.stop && limits.stop()) break;
    if (!factor()) break;
    step(gap / static_cast<double>(c_.size() + machines_));
  }
  best_.parts = std::move(x_);
  return std::move(best_);
}

double InteriorPoint::look() {
  double gap = 0;
  double bound = 0;
  for (std::size_t i = 0; i < tasks_; ++i) {
    double cheapest = std::numeric_limits<double>::infinity();
    for (std::size_t j = 0; j < machines_; ++j) {
      const std::size_t ij = i * machines_ + j;
      const double cost = l_[j] * c_[ij];
      cheapest = std::min(cheapest, cost);
      z_[ij] = cost - u_[i];
      gap += x_[ij] * z_[ij];
    }
    bound += cheapest;
  }
  for (std::size_t j = 0; j < machines_; ++j) {
    gap += s_[j] * l_[j];
    bound += l_[j] * load_[j];
  }
  bound *= scale_ / sum(l_);
  if (bound > best_.bound) {
    best_.bound = bound;
    best_.prices = l_;
  }
  return gap;
}

bool InteriorPoint::factor() {
  matrix_.reset(machines_);
  for (std::size_t j = 0; j < machines_; ++j) matrix_.row(j)[j] = s_[j] / l_[j];
  std::vector<double> wc(machines_);
  for (std::size_t i = 0; i < tasks_; ++i) {
    w_sum_[i] = 0;
    for (std::size_t j = 0; j < machines_; ++j) {
      const std::size_t ij = i * machines_ + j;
      w_[ij] = x_[ij] / z_[ij];
      w_sum_[i] += w_[ij];
      wc[j] = w_[ij] * c_[ij];
      matrix_.row(j)[j] += wc[j] * c_[ij];
    }
    for (std::size_t j = 0; j < machines_; ++j) {
      const double factor = wc[j] / w_sum_[i];
      double* const row = matrix_.row(j);
      for (std::size_t k = 0; k <= j; ++k) row[k] -= factor * wc[k];
    }
  }
  if (!matrix_.factor()) return false;
  ones_ = matrix_.solve(std::vector<double>(machines_, 1.0));
  return true;
}

/// Towards where all products are `target`; `correct`: with what the direction before says of how
/// they bend.
void InteriorPoint::find_direction(double target, bool correct) {
  std::vector<double> right(machines_);
  for (std::size_t j = 0; j < machines_; ++j) {
    want_s_[j] = target - s_[j] * l_[j] - (correct ? ds_[j] * dl_[j] : 0);
    right[j] = want_s_[j] / l_[j] - (t_ - s_[j] - load_[j]);
  }
  for (std::size_t i = 0; i < tasks_; ++i) {
    rest_[i] = 1;
    for (std::size_t j = 0; j < machines_; ++j) {
      const std::size_t ij = i * machines_ + j;
      want_x_[ij] = target - x_[ij] * z_[ij] - (correct ? dx_[ij] * dz_[ij] : 0);
      const double wanted = want_x_[ij] / z_[ij] + x_[ij];
      rest_[i] -= wanted;
      right[j] += c_[ij] * wanted;
    }
    for (std::size_t j = 0; j < machines_; ++j) {
      const std::size_t ij = i * machines_ + j;
      right[j] += w_[ij] * c_[ij] * rest_[i] / w_sum_[i];
    }
  }
  dl_ = matrix_.solve(std::move(right));
  dt_ = (sum(dl_) - (1 - sum(l_))) / sum(ones_);
  for (std::size_t j = 0; j < machines_; ++j) {
    dl_[j] -= dt_ * ones_[j];
    ds_[j] = (want_s_[j] - s_[j] * dl_[j]) / l_[j];
  }
  for (std::size_t i = 0; i < tasks_; ++i) {
    du_[i] = rest_[i];
    for (std::size_t j = 0; j < machines_; ++j) {
      const std::size_t ij = i * machines_ + j;
      du_[i] += w_[ij] * c_[ij] * dl_[j];
    }
    du_[i] /= w_sum_[i];
    for (std::size_t j = 0; j < machines_; ++j) {
      const std::size_t ij = i * machines_ + j;
      dz_[ij] = c_[ij] * dl_[j] - du_[i];
      dx_[ij] = (want_x_[ij] - x_[ij] * dz_[ij]) / z_[ij];
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
      static_cast<double>(c_.size() + machines_);
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

/// The largest load if every task were cut into equal parts.
double largest_equal_load(std::span<const double> times, std::span<const double> loads) {
  std::vector<double> totals(loads.begin(), loads.end());
  const auto machines = static_cast<double>(loads.size());
  for (std::size_t k = 0; k < times.size(); ++k) totals[k % loads.size()] += times[k] / machines;
  return *std::max_element(totals.begin(), totals.end());
}

}  // namespace

EtcRelaxation relax(std::span<const double> times, std::span<const double> loads,
                    const RelaxationLimits& limits) {
  assert(!loads.empty() && times.size() % loads.size() == 0);
  const double equal = 1 / static_cast<double>(loads.size());
  const double scale = largest_equal_load(times, loads);
  if (scale > 0) return InteriorPoint(times, loads, scale).solve(limits);
  return {0, std::vector<double>(loads.size(), equal), std::vector<double>(times.size(), equal)};
}

double etc_lower_bound(const EtcMatrix& matrix, const std::function<bool()>& stop) {
  const std::vector<double> loads(matrix.machines(), 0.0);
  double bound = relax(matrix.times(), loads, {.stop = stop}).bound;
  for (std::size_t task = 0; task < matrix.tasks(); ++task)
    bound = std::max(bound, *std::ranges::min_element(matrix.row(task)));
  return bound;
}

}  // namespace gantry::schedule
