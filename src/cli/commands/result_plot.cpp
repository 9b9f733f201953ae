#include "cli/commands/result_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "cli/terminal/display_text.hpp"
#include "cli/terminal/format.hpp"
#include "model/suggest.hpp"
#include "query/result_values.hpp"

namespace gantry::cli {
namespace {

Result<> check_column(const std::vector<std::string>& names, const std::string& name) {
  if (std::ranges::find(names, name) != names.end()) return {};
  std::string hint = did_you_mean(name, names);
  if (hint.empty()) {
    hint = "there are:";
    for (const auto& known : names) hint += " " + one_line(known);
  }
  return fail(ErrorCode::usage,
              fmt::format("no parameter or result is called '{}'", one_line(name)), hint);
}

/// Numbers in their order, other texts after them in theirs.
bool sorts_before(const std::string& a, const std::string& b) {
  const auto number_a = parse_number(a);
  const auto number_b = parse_number(b);
  if (number_a && number_b) return *number_a < *number_b;
  if (number_a || number_b) return number_a.has_value();
  return a < b;
}

std::vector<std::string> sorted_unique(std::vector<std::string> values) {
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
  std::ranges::stable_sort(values, sorts_before);
  return values;
}

std::size_t index_of(const std::vector<std::string>& values, const std::string& value) {
  return static_cast<std::size_t>(std::ranges::find(values, value) - values.begin());
}

}  // namespace

Result<PlotData> PlotData::create(const store::RunRecord& run, std::string x, std::string y,
                                  std::string by) {
  const std::vector<std::string> names = query::column_names(run);
  TRY(check_column(names, x));
  TRY(check_column(names, y));
  if (!by.empty()) TRY(check_column(names, by));
  return PlotData(std::move(x), std::move(y), std::move(by));
}

void PlotData::add(const store::TaskRow& row) {
  const std::string* x = query::find_value(row, x_);
  const std::string* y = query::find_value(row, y_);
  if (x == nullptr || y == nullptr) return;
  const std::string* group = by_.empty() ? nullptr : query::find_value(row, by_);
  const auto number = parse_number(*y);
  points_.push_back(
      {*x, number.value_or(std::numeric_limits<double>::quiet_NaN()), group ? *group : ""});
}

std::vector<std::string> PlotData::draw(PlotOptions options) const {
  options.x_name = x_;
  options.y_name = y_;
  std::vector<std::string> xs;
  std::vector<std::string> groups;
  // Without a single number x is a set of names; with some, the others are left out.
  const bool categories = std::ranges::none_of(
      points_, [](const RawPoint& point) { return parse_number(point.x).has_value(); });
  for (const auto& point : points_) {
    if (categories) xs.push_back(point.x);
    if (!by_.empty()) groups.push_back(point.group);
  }
  xs = sorted_unique(std::move(xs));
  groups = sorted_unique(std::move(groups));
  options.x_categories = xs;
  options.log_x = options.log_x && !categories;
  for (const auto& group : groups) options.groups.push_back(by_ + "=" + group);
  std::vector<PlotPoint> points;
  points.reserve(points_.size());
  for (const auto& point : points_) {
    const double x = categories
                         ? static_cast<double>(index_of(xs, point.x))
                         : parse_number(point.x).value_or(std::numeric_limits<double>::quiet_NaN());
    points.push_back({x, point.y, by_.empty() ? 0 : index_of(groups, point.group)});
  }
  return plot(points, options);
}

}  // namespace gantry::cli
