#pragma once
/// How a site of a grid file is reached: the keys via, login, user and so on. For grid_file.cpp.

#include <filesystem>

#include "model/grid.hpp"
#include "spec/node_reader.hpp"

namespace gantry::spec {

/// Letters, digits, '-', '_' and '.', with no '-' or '.' first.
Result<> check_grid_name(const NodeReader& reader, const SourceText& name, std::string_view what);

/// Reads those of `node`, which is the site's map, into `site`. Files are relative to `base_dir`.
Result<> read_site_access(const NodeReader& reader, const YamlNode& node,
                          const std::filesystem::path& base_dir, GridSite& site);

/// How the two ends of `link` log in to each other: the link's key ssh. The grid's sites are known.
Result<> read_logins(const NodeReader& reader, const YamlNode& node, const Grid& grid,
                     GridLink& link);

}  // namespace gantry::spec
