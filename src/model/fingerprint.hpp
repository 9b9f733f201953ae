#pragma once
/// The parts of a task's Fingerprint (model/outcome.hpp) that follow from the task itself. What its
/// input files contain is added by whoever can read them.

#include <string>
#include <vector>

#include "base/hash.hpp"
#include "model/task.hpp"

namespace gantry {

/// Arguments and working directory. Outputs and how results are read do not change what the program
/// does: whoever reuses its result looks at them.
Digest command_digest(const Task& task);
/// What the spec adds to the environment, and the parameters, which tasks see as
/// GANTRY_PARAM_<name>.
Digest environment_digest(const Task& task);
/// Files that the command names as programs: with a slash, and the script (first argument that
/// names an existing file) given to a known interpreter; both also behind wrappers such as `nice`
/// and in the text of `sh -c`. A task is run again when they change, without a word in `inputs:`.
/// Absolute paths of existing files.
std::vector<std::string> implied_inputs(const Task& task);

}  // namespace gantry
