#pragma once
/// A scatter plot drawn with characters: braille dots where the terminal knows them, else letters.
/// Pure.

#include <cstddef>
#include <string>
#include <vector>

namespace gantry::cli {

struct PlotPoint {
  double x = 0;
  double y = 0;
  std::size_t group = 0;  ///< index into PlotOptions::groups; ignored without groups
};

struct PlotOptions {
  std::string x_name;
  std::string y_name;
  std::vector<std::string> x_categories;  ///< when x is not a number: its values, x is the index
  std::vector<std::string> groups;        ///< drawn with a mark each, named in a legend
  std::size_t columns = 80;               ///< of the whole drawing, axis included
  std::size_t rows = 20;                  ///< of the drawing area
  bool log_x = false;
  bool log_y = false;
  bool utf8 = false;
  bool color = false;
};

/// The drawing's lines. Points that are not finite (or not positive on a logarithmic axis) are left
/// out and counted in a last line. REQUIRES: columns >= 30, rows >= 4.
std::vector<std::string> plot(const std::vector<PlotPoint>& points, const PlotOptions& options);

}  // namespace gantry::cli
