#pragma once
/// A run in another gantry's process, as a person meets it: the same progress, output and summary
/// as of one that this process drives.

#include <optional>
#include <vector>

#include "cli/context.hpp"
#include "driver/driver.hpp"

namespace gantry::cli {

/// Lets the gantry that drives runs here run these studies, too, and watches until they have ended,
/// or until the person stops watching. Nothing when no gantry drives runs here.
Result<std::optional<std::vector<driver::Summary>>> run_joined(Context& context,
                                                               const std::vector<driver::Job>& jobs,
                                                               const driver::Observer& observer);

}  // namespace gantry::cli
