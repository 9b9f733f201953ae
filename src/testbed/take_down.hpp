#pragma once
/// Takes a testbed down by its name alone, whatever is left of it.

#include <filesystem>
#include <string>

#include "base/fd.hpp"
#include "base/result.hpp"

namespace gantry::testbed {

/// One command at a time changes a testbed; waits a little for another one.
Result<UniqueFd> lock_folder(const std::filesystem::path& dir);

/// Kills every process of the testbed, and removes its namespaces, devices and groups; then its
/// name is free. Does nothing when nothing is there.
Result<> dismantle(const std::string& testbed);

}  // namespace gantry::testbed
