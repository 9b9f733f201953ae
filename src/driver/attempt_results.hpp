#pragma once
/// From what an attempt printed and wrote to the values that the study's `results:` names.

#include <filesystem>

#include "model/application.hpp"
#include "model/event.hpp"

namespace gantry::driver {

/// Fills `ended.results` of a success. A value that cannot be read makes it a failure. Those in
/// `known` need not be read.
void read_results(const std::filesystem::path& state_dir, const Application& application,
                  AttemptEnded& ended, const ResultValues& known = {});

}  // namespace gantry::driver
