#pragma once
/// Whole numbers in text that nobody trusts.

#include <charconv>
#include <optional>
#include <string_view>

namespace gantry {

/// A decimal number of that type and nothing else.
template <class Number>
std::optional<Number> parse_whole(std::string_view text) {
  Number number = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && stop == end ? std::optional(number) : std::nullopt;
}

}  // namespace gantry
