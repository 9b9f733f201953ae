#pragma once
/// "Did you mean …?" for mistyped commands and options. Pure.

#include <string>
#include <string_view>
#include <vector>

namespace gantry::cli {

/// The candidate nearest to `word` by edits (a swap of neighbours counts one), or empty when none
/// is near.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace gantry::cli
