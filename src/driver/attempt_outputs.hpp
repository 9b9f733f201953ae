#pragma once
/// What an attempt wrote, when its report is taken in: to its place here, or left at its site.

#include <cstdint>
#include <optional>

#include "actuate/launcher.hpp"
#include "model/event.hpp"
#include "model/task.hpp"
#include "store/store.hpp"

namespace gantry::driver {

/// Puts what has come from another site where it belongs, and makes the next commit wait until it
/// is on disk; what the task does not declare makes the
/// report one of a failure. Why that is not possible now, or nothing: what was put there is not in
/// the report any more, so that it can be tried again.
[[nodiscard]] std::string place_outputs(ReportReceived& received, const Task& task,
                                        store::Store& store);
/// Of a report that does not count.
void discard_outputs(const ReportReceived& received);

/// Outputs of a success replace older ones at sites; those of a failure are not kept. REQUIRES:
/// what the attempt has kept is not in the journal. True when nothing that it has kept counts.
bool settle_remote_files(const store::Store& store, const Task& task, AttemptEnded& ended);

/// Of a task that succeeded and whose outputs are in their place: how many bytes they are, without
/// those that stay at sites. Nothing when it has none, or one cannot be measured.
[[nodiscard]] std::optional<std::uint64_t> bytes_at_home(const Task& task,
                                                         const AttemptReport& report);

/// Whether all that an attempt has left at its site can go: it is not in the journal.
bool is_unknown(const store::Store& store, const AttemptReport& report);

}  // namespace gantry::driver
