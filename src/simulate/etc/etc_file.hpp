#pragma once
/// Reads expected-time-to-compute matrices (docs/formats/etc.md). Two formats: that of the classic
/// instances of Braun et al., and CSV. Every complaint says file:line:column.

#include <filesystem>
#include <string>
#include <string_view>

#include "base/result.hpp"
#include "simulate/etc/etc_matrix.hpp"

namespace gantry::simulate {

/// A name that ends in .csv is CSV, every other one Braun's.
Result<EtcMatrix> load_etc(const std::filesystem::path& path);

/// `tasks machines`, and maybe a 0, then the times task by task, between blanks or line ends.
Result<EtcMatrix> parse_etc_braun(std::string_view text, const std::string& file_name);

/// A line a task, a column a machine. A first line without any number names the machines.
Result<EtcMatrix> parse_etc_csv(std::string_view text, const std::string& file_name);

}  // namespace gantry::simulate
