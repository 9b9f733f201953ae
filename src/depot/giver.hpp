#pragma once
/// The giving end of a copy from site to site: `gantry-agent give SCRATCH TOKEN`, started through
/// ssh by the site that wants the files, on its standard input and output. It reads the depot and
/// writes nothing. Ends with its input, and when nobody wants or takes anything for a minute.

#include <filesystem>
#include <string_view>

#include "base/result.hpp"
#include "base/time.hpp"

namespace gantry::depot {

Result<> serve_wants(int in, int out, const std::filesystem::path& scratch, std::string_view token,
                     Duration patience = std::chrono::minutes(1));

}  // namespace gantry::depot
