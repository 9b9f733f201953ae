#pragma once
/// The output of one attempt at a task, printed to our own streams.

#include <string>

#include "cli/context.hpp"
#include "model/outcome.hpp"

namespace gantry::cli {

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
