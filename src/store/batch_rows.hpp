#pragma once
/// A batch of tasks and its points as columns of the table `events`, both ways.
/// docs/formats/journal.md describes them.

#include <string>
#include <string_view>

#include "model/event.hpp"

namespace gantry::store {

/// Replaces `data` with the batch as JSON, and `exact` with the rows of listed points, in a binary
/// form that holds any bytes; empty for enumerated ones.
void write_batch(const TasksAdded& event, std::string& data, std::string& exact);
/// False when they are not what write_batch() writes.
bool read_batch(std::string_view data, std::string_view exact, Batch& batch, Points& points);

/// `[[first,count],…]`; empty text for an empty order.
std::string order_text(const PointOrder& order);
bool read_order(std::string_view text, PointOrder& order);

}  // namespace gantry::store
