#pragma once
/// How the tasks of an edited study are numbered. A run knows points by their values, not by their
/// positions, which change when a value is inserted or moved.

#include <cstdint>
#include <optional>

#include "model/batch.hpp"
#include "model/sweep.hpp"

namespace gantry {

/// The order for Sweep::number_tasks() in which the tasks of `before` keep their numbers in `now`,
/// and the points that `before` lacks follow. Empty if that is the order in which `now` enumerates
/// them; nothing if `now` lacks a point of `before`. A point that a study has twice is two tasks.
/// REQUIRES: both have the same study_digest(), and `now` is numbered as enumerated.
[[nodiscard]] std::optional<PointOrder> order_after(const Sweep& before, const Sweep& now);

/// The ranges of the tasks from `first` on. `size`: number of all tasks.
[[nodiscard]] PointOrder order_from(const PointOrder& order, TaskId first, std::uint32_t size);

}  // namespace gantry
