#include "schedule/gantt/class_slices.hpp"

#include <algorithm>
#include <tuple>

namespace gantry::schedule {

std::vector<std::vector<std::uint32_t>> class_slices(std::span<const TaskClass> classes,
                                                     std::span<const std::uint32_t> class_ranks) {
  const auto slice_key = [&](std::uint32_t c) {
    return std::tie(classes[c].files, classes[c].private_bytes, classes[c].output_bytes);
  };
  std::vector<std::uint32_t> order;
  for (std::uint32_t c = 0; c < classes.size(); ++c)
    if (classes[c].waiting > 0) order.push_back(c);
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) {
    if (slice_key(a) != slice_key(b)) return slice_key(a) < slice_key(b);
    return std::tie(classes[a].work, class_ranks[a]) < std::tie(classes[b].work, class_ranks[b]);
  });

  std::vector<std::vector<std::uint32_t>> slices;
  for (const std::uint32_t c : order) {
    if (slices.empty() || slice_key(slices.back().front()) != slice_key(c)) slices.emplace_back();
    slices.back().push_back(c);
  }
  return slices;
}

}  // namespace gantry::schedule
