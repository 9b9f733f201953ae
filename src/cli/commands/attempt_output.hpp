#pragma once
/// The output of one attempt at a task, found in the store and printed to our own streams.

#include <optional>
#include <string>

#include "cli/context.hpp"
#include "store/store.hpp"

namespace gantry::cli {

/// The latest attempt that ended (or the given one), a reused result's original included. Nothing
/// when there is none, or when the run that made it was removed.
Result<std::optional<store::HistoryRow>> find_attempt(const store::Store& store, RunId run,
                                                      TaskId task, AttemptId attempt = {});

struct StreamChoice {
  bool out = true;
  bool err = true;
  bool err_to_stdout = false;
};

/// Standard output to ours, standard error to ours, `tag` before each line. A pack file that is
/// gone is reported and not an error.
void print_attempt(Context& context, const AttemptReport& report, const StreamChoice& streams,
                   const std::string& tag = {});

}  // namespace gantry::cli
