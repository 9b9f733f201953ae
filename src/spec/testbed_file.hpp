#pragma once
/// The testbed file (docs/formats/testbed.md) -> a TestbedSpec. Everything is checked; errors say
/// file:line:column and what to do.

#include <filesystem>
#include <string_view>

#include "base/result.hpp"
#include "model/testbed_spec.hpp"

namespace gantry::spec {

Result<TestbedSpec> load_testbed(const std::filesystem::path& path);

/// `file_name` is used in messages.
Result<TestbedSpec> parse_testbed(std::string_view text, const std::string& file_name);

}  // namespace gantry::spec
