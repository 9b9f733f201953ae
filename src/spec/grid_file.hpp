#pragma once
/// The grid file (docs/formats/grid.md) -> a Grid. Everything is checked; errors say
/// file:line:column and what to do.

#include <filesystem>
#include <string_view>

#include "base/result.hpp"
#include "model/grid.hpp"

namespace gantry::spec {

Result<Grid> load_grid(const std::filesystem::path& path);

/// `file_name` is used in messages; names inside are relative to `base_dir`.
Result<Grid> parse_grid(std::string_view text, const std::string& file_name,
                        const std::filesystem::path& base_dir);

}  // namespace gantry::spec
