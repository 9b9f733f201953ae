#pragma once
/// Systems of linear equations whose matrix is symmetric and positive definite. A plain value.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

namespace gantry {

/// The lower triangle of the matrix, row by row in a square; factor() replaces it by its L.
class Cholesky {
 public:
  void reset(std::size_t size) {
    size_ = size;
    cells_.assign(size * size, 0.0);
  }
  [[nodiscard]] double* row(std::size_t i) { return &cells_[i * size_]; }

  /// False when it is not positive definite, as far as rounding lets one see. Squares on the
  /// diagonal that are below `least` are taken for rounding.
  bool factor(double least = 0) {
    for (std::size_t i = 0; i < size_; ++i) {
      double* const a = row(i);
      for (std::size_t j = 0; j <= i; ++j) {
        const double* const b = row(j);
        double sum = a[j];
        for (std::size_t k = 0; k < j; ++k) sum -= a[k] * b[k];
        if (j == i) sum = std::max(sum, least);
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

  /// Solves L y = b in place. REQUIRES, here and below: factored.
  void forward(std::span<double> b) const {
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t k = 0; k < i; ++k) b[i] -= cells_[i * size_ + k] * b[k];
      b[i] /= cells_[i * size_ + i];
    }
  }

  [[nodiscard]] std::vector<double> solve(std::vector<double> b) const {
    forward(b);
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

}  // namespace gantry
