#pragma once
/// From result rows to the points of a plot: chooses columns by name, reads numbers, makes
/// categories and groups.

#include <map>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "cli/terminal/plot.hpp"
#include "store/store.hpp"

namespace gantry::cli {

class PlotData {
 public:
  /// `by` may be empty. The error names a column that is not there and the ones that are.
  static Result<PlotData> create(const store::RunRecord& run, std::string x, std::string y,
                                 std::string by);

  void add(const store::TaskRow& row);
  /// Fills in what the rows say (names, categories, groups) and draws.
  [[nodiscard]] std::vector<std::string> draw(PlotOptions options) const;

 private:
  struct RawPoint {
    std::string x;
    double y = 0;
    std::string group;
  };
  PlotData(std::string x, std::string y, std::string by)
      : x_(std::move(x)), y_(std::move(y)), by_(std::move(by)) {}

  std::string x_;
  std::string y_;
  std::string by_;
  std::vector<RawPoint> points_;
};

}  // namespace gantry::cli
