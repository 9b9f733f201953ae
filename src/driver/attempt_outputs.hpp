#pragma once
/// Takes in the outputs of an attempt when its report arrives: moves those that came from another
/// site to their place here, and decides which of those left at the site still count. One thread.

#include <cstdint>
#include <optional>

#include "actuate/launcher.hpp"
#include "model/event.hpp"
#include "model/task.hpp"
#include "store/store.hpp"

namespace gantry::driver {

/// Moves outputs that came from another site to where the task declares them; the next commit waits
/// until they are on disk. An output that the task does not declare turns the report into a
/// failure. Returns why an output cannot be moved now, or an empty text. Outputs that were moved
/// leave the report, so that the call can be repeated.
[[nodiscard]] std::string place_outputs(ReportReceived& received, const Task& task,
                                        store::Store& store);
/// Deletes the outputs that came with a report that does not count.
void discard_outputs(const ReportReceived& received);

/// Notes in `ended` which older outputs at sites a success replaces; forgets the outputs that a
/// failed attempt left at its site. True if it forgot any: the site may remove them. REQUIRES: the
/// journal does not know the attempt's outputs yet.
bool settle_remote_files(const store::Store& store, const Task& task, AttemptEnded& ended);

/// Total bytes of the outputs of a successful attempt, without those that stay at sites. Nothing if
/// it has none, or one cannot be measured. REQUIRES: the outputs are in their place.
[[nodiscard]] std::optional<std::uint64_t> bytes_at_home(const Task& task,
                                                         const AttemptReport& report);

/// True if the attempt left outputs at its site and the journal knows none of them: all can be
/// removed.
bool is_unknown(const store::Store& store, const AttemptReport& report);

}  // namespace gantry::driver
