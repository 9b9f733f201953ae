#include "forecast/regression.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

namespace gantry::forecast {

namespace {
/// A column that varies less than its digits can tell is constant.
constexpr double kConstant = 1e-10;
/// A point that alone decides the fit: from the others it cannot be told.
constexpr double kMostLeverage = 0.9999;
}  // namespace

void RidgeFit::measure_columns(const Table& table) {
  means_.assign(table.columns, 0);
  scales_.assign(table.columns, 0);
  for (std::size_t i = 0; i < table.rows(); ++i)
    for (std::size_t j = 0; j < table.columns; ++j) means_[j] += table.row(i)[j] / points_;
  for (std::size_t i = 0; i < table.rows(); ++i) {
    for (std::size_t j = 0; j < table.columns; ++j) {
      const double deviation = table.row(i)[j] - means_[j];
      scales_[j] += deviation * deviation / points_;
    }
  }
  for (std::size_t j = 0; j < table.columns; ++j) {
    const double deviation = std::sqrt(scales_[j]);
    const bool varies = deviation > kConstant * std::abs(means_[j]) && deviation > 1e-100;
    scales_[j] = varies ? 1 / deviation : 0;
  }
}

void RidgeFit::standardise(std::span<const double> row, std::span<double> into) const {
  for (std::size_t j = 0; j < row.size(); ++j) into[j] = (row[j] - means_[j]) * scales_[j];
}

RidgeFit::RidgeFit(const Table& table, std::span<const double> values, double ridge)
    : points_(static_cast<double>(values.size())) {
  assert(values.size() == table.rows() && values.size() >= 2 && ridge > 0);
  measure_columns(table);
  for (const double value : values) intercept_ += value / points_;
  std::vector<double> standard(table.cells.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    standardise(table.row(i), {standard.data() + i * table.columns, table.columns});
  solve(standard, values, ridge);
  leave_out(table, standard, values);
}

void RidgeFit::solve(std::span<const double> standard, std::span<const double> values,
                     double ridge) {
  const std::size_t columns = means_.size();
  lower_.reset(columns);
  factors_.assign(columns, 0);
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto row = standard.subspan(i * columns, columns);
    for (std::size_t j = 0; j < columns; ++j) {
      factors_[j] += row[j] * (values[i] - intercept_);
      for (std::size_t k = 0; k <= j; ++k) lower_.row(j)[k] += row[j] * row[k];
    }
  }
  for (std::size_t j = 0; j < columns; ++j) lower_.row(j)[j] += ridge * points_;
  // The ridge keeps it positive, but for rounding.
  lower_.factor(kConstant * points_);
  factors_ = lower_.solve(std::move(factors_));
}

/// A point's residual when it is left out is its residual / (1 - its leverage).
void RidgeFit::leave_out(const Table& table, std::span<double> standard,
                         std::span<const double> values) {
  left_out_.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double residual = values[i] - predict(table.row(i));
    const auto row = standard.subspan(i * table.columns, table.columns);
    lower_.forward(row);
    double leverage = 0;
    for (const double part : row) leverage += part * part;
    mean_distance_ += leverage / points_;
    leverage = std::min(leverage + 1 / points_, kMostLeverage);
    left_out_[i] = values[i] - residual / (1 - leverage);
  }
}

double RidgeFit::predict(std::span<const double> row) const {
  double value = intercept_;
  for (std::size_t j = 0; j < row.size(); ++j)
    value += factors_[j] * (row[j] - means_[j]) * scales_[j];
  return value;
}

double RidgeFit::distance(std::span<const double> row) const {
  std::vector<double> standard(row.size());
  standardise(row, standard);
  lower_.forward(standard);
  double distance = 0;
  for (const double part : standard) distance += part * part;
  return distance;
}

}  // namespace gantry::forecast
