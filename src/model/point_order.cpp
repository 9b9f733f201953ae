#include "model/point_order.hpp"

#include <algorithm>
#include <utility>

namespace gantry {

namespace {

/// The points of a study by their values.
class PointsByValue {
 public:
  explicit PointsByValue(const Sweep& sweep) : taken_(sweep.size()) {
    points_.reserve(sweep.size());
    for (std::uint32_t i = 0; i < sweep.size(); ++i) points_.emplace_back(digest(sweep, i), i);
    std::ranges::sort(points_);
  }

  /// The first with the values of that point which was not taken yet.
  std::optional<std::uint32_t> take(const Sweep& other, std::uint32_t point) {
    const Digest wanted = digest(other, point);
    const auto first = std::ranges::lower_bound(points_, wanted, {}, &Entry::first);
    if (first == points_.end()) return std::nullopt;
    std::uint32_t& taken = taken_[static_cast<std::size_t>(first - points_.begin())];
    const std::size_t at = static_cast<std::size_t>(first - points_.begin()) + taken;
    if (at == points_.size() || points_[at].first != wanted) return std::nullopt;
    ++taken;
    return points_[at].second;
  }

 private:
  using Entry = std::pair<Digest, std::uint32_t>;

  Digest digest(const Sweep& sweep, std::uint32_t point) {
    hasher_.reset();
    sweep.add_point(point, hasher_);
    return hasher_.digest();
  }

  Hasher hasher_;
  std::vector<Entry> points_;
  std::vector<std::uint32_t> taken_;  ///< at the first of equal points: how many of them
};

}  // namespace

std::optional<std::vector<std::uint32_t>> positions_in(const Sweep& now, const Sweep& before) {
  if (before.size() > now.size()) return std::nullopt;
  PointsByValue points(now);
  std::vector<std::uint32_t> positions;
  positions.reserve(before.size());
  for (std::uint32_t i = 0; i < before.size(); ++i) {
    const auto position = points.take(before, i);
    if (!position) return std::nullopt;
    positions.push_back(*position);
  }
  return positions;
}

PointOrder moved(const PointOrder& order, const std::vector<std::uint32_t>& positions) {
  PointOrder result;
  for (const PointRange& range : order)
    for (std::uint32_t i = 0; i < range.count; ++i)
      append_point(result, positions[range.first + i]);
  return result;
}

void append_point(PointOrder& order, std::uint32_t point) {
  const bool follows = !order.empty() && order.back().first + order.back().count == point;
  if (follows) {
    ++order.back().count;
  } else {
    order.push_back({point, 1});
  }
}

PointOrder part_of(const PointOrder& order, std::uint32_t skip, std::uint32_t count) {
  PointOrder part;
  for (PointRange range : order) {
    const std::uint32_t left_out = std::min(skip, range.count);
    skip -= left_out;
    range.first += left_out;
    range.count = std::min(range.count - left_out, count);
    count -= range.count;
    if (range.count > 0) part.push_back(range);
  }
  return part;
}

std::uint64_t count_points(const PointOrder& order) {
  std::uint64_t count = 0;
  for (const PointRange& range : order) count += range.count;
  return count;
}

}  // namespace gantry
