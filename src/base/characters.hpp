#pragma once
/// ASCII, whatever the locale.

#include <string_view>

namespace gantry {

constexpr bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// What a name may start with.
constexpr bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/// Without the spaces around it.
constexpr std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// The last line of a program's output that is not blank; empty when there is none.
constexpr std::string_view last_line(std::string_view text) {
  text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);
  return text.substr(text.find_last_of("\r\n") + 1);
}

}  // namespace gantry
