#include "model/point_order.hpp"

#include <algorithm>
#include <utility>

namespace gantry {

namespace {

void append(PointOrder& order, std::uint32_t point) {
  const bool follows = !order.empty() && order.back().first + order.back().count == point;
  if (follows) {
    ++order.back().count;
  } else {
    order.push_back({point, 1});
  }
}

/// The points of a study by their values.
class PointsByValue {
 public:
  explicit PointsByValue(const Sweep& sweep) : taken_(sweep.size()) {
    points_.reserve(sweep.size());
    for (std::uint32_t i = 0; i < sweep.size(); ++i) points_.emplace_back(digest(sweep, i), i);
    std::ranges::sort(points_);
  }

  /// The first with the values of that task which was not taken yet.
  std::optional<std::uint32_t> take(const Sweep& other, std::uint32_t index) {
    const Digest wanted = digest(other, index);
    auto at = std::ranges::lower_bound(points_, wanted, {}, &Entry::first);
    while (at != points_.end() && at->first == wanted && taken_[at->second]) ++at;
    if (at == points_.end() || at->first != wanted) return std::nullopt;
    taken_[at->second] = true;
    return at->second;
  }
  [[nodiscard]] bool taken(std::uint32_t point) const { return taken_[point]; }

 private:
  using Entry = std::pair<Digest, std::uint32_t>;

  Digest digest(const Sweep& sweep, std::uint32_t index) {
    hasher_.reset();
    sweep.add_point(TaskId(index + 1), hasher_);
    return hasher_.digest();
  }

  Hasher hasher_;
  std::vector<Entry> points_;
  std::vector<bool> taken_;
};

}  // namespace

std::optional<PointOrder> order_after(const Sweep& before, const Sweep& now) {
  if (before.size() > now.size()) return std::nullopt;
  PointsByValue points(now);
  PointOrder order;
  for (std::uint32_t i = 0; i < before.size(); ++i) {
    const auto point = points.take(before, i);
    if (!point) return std::nullopt;
    append(order, *point);
  }
  for (std::uint32_t point = 0; point < now.size(); ++point)
    if (!points.taken(point)) append(order, point);
  if (order.size() == 1 && order.front().first == 0) order.clear();
  return order;
}

PointOrder order_from(const PointOrder& order, TaskId first, std::uint32_t size) {
  std::uint32_t skip = first.value() - 1;
  if (order.empty()) return {{skip, size - skip}};
  PointOrder rest;
  for (PointRange range : order) {
    const std::uint32_t left_out = std::min(skip, range.count);
    skip -= left_out;
    range.first += left_out;
    range.count -= left_out;
    if (range.count > 0) rest.push_back(range);
  }
  return rest;
}

}  // namespace gantry
