#pragma once
/// Where the points of an edited study are. A run knows points by their values, not by their
/// positions, which change when a value is inserted or moved.

#include <cstdint>
#include <optional>
#include <vector>

#include "model/batch.hpp"
#include "model/sweep.hpp"

namespace gantry {

/// The positions in `now` of the points of `before`; nothing if `now` lacks one of them. A point
/// that a study has twice is two points. REQUIRES: both have the same study_digest().
[[nodiscard]] std::optional<std::vector<std::uint32_t>> positions_in(const Sweep& now,
                                                                     const Sweep& before);

/// The points of `order` are at these positions now.
[[nodiscard]] PointOrder moved(const PointOrder& order,
                               const std::vector<std::uint32_t>& positions);

/// One more point, as part of the last range if it follows that.
void append_point(PointOrder& order, std::uint32_t point);

/// `count` points of `order`, after so many others. Fewer if there are not enough.
[[nodiscard]] PointOrder part_of(const PointOrder& order, std::uint32_t skip, std::uint32_t count);

[[nodiscard]] std::uint64_t count_points(const PointOrder& order);

}  // namespace gantry
