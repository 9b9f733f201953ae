#pragma once
/// Least squares for few points and many columns: ridge-regularised, so that constant columns,
/// columns that are multiples of each other and more columns than points do no harm; and judged by
/// what each point would have been predicted as from all the others. Pure functions of values.

#include <cstddef>
#include <span>
#include <vector>

#include "base/cholesky.hpp"

namespace gantry::forecast {

/// Row by row.
struct Table {
  std::size_t columns = 0;
  std::vector<double> cells{};

  [[nodiscard]] std::size_t rows() const { return columns == 0 ? 0 : cells.size() / columns; }
  [[nodiscard]] std::span<const double> row(std::size_t i) const {
    return {cells.data() + i * columns, columns};
  }
};

class RidgeFit {
 public:
  /// Of `values` by the rows of `table`. `ridge` is how strongly factors are drawn towards 0,
  /// relative to how much the columns vary. REQUIRES: as many values as rows, at least two; cells
  /// up to ±1e100; ridge > 0.
  RidgeFit(const Table& table, std::span<const double> values, double ridge);

  [[nodiscard]] double predict(std::span<const double> row) const;
  /// How far a row is from those that were seen, 0 at their middle: a prediction's variance is
  /// 1 + this times that of the noise.
  [[nodiscard]] double distance(std::span<const double> row) const;
  /// What each value would have been predicted as from all others.
  [[nodiscard]] std::span<const double> left_out() const { return left_out_; }
  [[nodiscard]] double mean_distance() const { return mean_distance_; }

 private:
  /// As the factors see it: columns of mean 0 and variance 1; constant ones are 0.
  void standardise(std::span<const double> row, std::span<double> into) const;
  void measure_columns(const Table& table);
  /// Fills lower_ and factors_ from standardised rows.
  void solve(std::span<const double> standard, std::span<const double> values, double ridge);
  /// `standard` is used up.
  void leave_out(const Table& table, std::span<double> standard, std::span<const double> values);

  std::vector<double> means_;
  std::vector<double> scales_;   ///< 1 / deviation; 0 for a constant column
  std::vector<double> factors_;  ///< of standardised columns
  Cholesky lower_;               ///< L of L L' = X'X + ridge
  std::vector<double> left_out_;
  double intercept_ = 0;
  double mean_distance_ = 0;
  double points_ = 0;
};

}  // namespace gantry::forecast
