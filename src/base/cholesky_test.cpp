#include "base/cholesky.hpp"

#include <gtest/gtest.h>

namespace gantry {
namespace {

/// (4 2; 2 d), of which only the lower triangle is looked at.
Cholesky matrix(double d) {
  Cholesky matrix;
  matrix.reset(2);
  matrix.row(0)[0] = 4;
  matrix.row(1)[0] = 2;
  matrix.row(1)[1] = d;
  return matrix;
}

TEST(Cholesky, SolvesEquations) {
  Cholesky equations = matrix(5);
  ASSERT_TRUE(equations.factor());
  // L = (2 0; 1 2): L y = (8, 12) for y = (4, 4), and the solution is (1, 2).
  std::vector<double> y{8, 12};
  equations.forward(y);
  EXPECT_EQ(y, (std::vector<double>{4, 4}));
  EXPECT_EQ(equations.solve({8, 12}), (std::vector<double>{1, 2}));
}

TEST(Cholesky, NoticesWhatIsNotPositiveDefinite) {
  EXPECT_FALSE(matrix(1).factor());
  EXPECT_FALSE(matrix(0).factor());
  EXPECT_TRUE(matrix(1).factor(1e-9)) << "it may be by rounding";
}

}  // namespace
}  // namespace gantry
