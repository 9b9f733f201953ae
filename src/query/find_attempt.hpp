#pragma once
/// Finds the attempt whose output belongs to a task.

#include <optional>

#include "store/store.hpp"

namespace gantry::query {

/// The latest attempt that ended, or the given one; for a reused result the attempt that made it.
/// Nothing if there is none, or the run that made it was removed.
Result<std::optional<store::HistoryRow>> find_attempt(const store::Store& store, RunId run,
                                                      TaskId task, AttemptId attempt = {});

}  // namespace gantry::query
