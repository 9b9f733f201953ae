#pragma once
/// "did you mean …?": the nearest known name to one that is not known.

#include <span>
#include <string>
#include <string_view>

namespace gantry {

/// "did you mean 'parameters'?", or empty when nothing is near.
std::string did_you_mean(std::string_view word, std::span<const std::string_view> known);
std::string did_you_mean(std::string_view word, std::span<const std::string> known);

}  // namespace gantry
