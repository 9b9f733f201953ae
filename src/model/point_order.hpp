#pragma once
/// How the tasks of an edited study are numbered. Its run knows points by their values, not by
/// their places, which change when a value is inserted or moved.

#include <cstdint>
#include <optional>

#include "model/batch.hpp"
#include "model/sweep.hpp"

namespace gantry {

/// For Sweep::number_tasks(): the order in which the tasks of `before` keep their numbers in `now`
/// and the points that it has not come after them; nothing when `now` lacks a point of `before`. A
/// point that a study has twice is two tasks. REQUIRES: both have the same study_digest(), and
/// `now` is numbered as enumerated. Empty when that is the order.
[[nodiscard]] std::optional<PointOrder> order_after(const Sweep& before, const Sweep& now);

/// The ranges of tasks first, first + 1 …. `size`: tasks in all.
[[nodiscard]] PointOrder order_from(const PointOrder& order, TaskId first, std::uint32_t size);

}  // namespace gantry
