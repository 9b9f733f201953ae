#pragma once
/// Untrusted bytes as text that is safe to show: values, file names and what tasks print may hold
/// anything, invalid UTF-8 included. Pure functions, any thread.

#include <cstddef>
#include <string>
#include <string_view>

namespace gantry {

/// The character that a text begins with.
struct Utf8Character {
  char32_t point = 0;
  std::size_t size = 1;  ///< bytes; 1 for a bad byte
  bool valid = false;
  bool cut = false;  ///< a good beginning that ends too early
};

/// REQUIRES: the text is not empty.
Utf8Character first_character(std::string_view text);

/// Control characters and bidirectional overrides, which steer a terminal.
bool is_steering(char32_t point);

/// `\n` or `\x1b` for a character, `\xff` for each byte.
std::string escape_point(char32_t point);
std::string escape_bytes(std::string_view bytes);

/// Control characters, bidirectional overrides and bytes that are not UTF-8 become visible escapes
/// (`\n`, `\x1b`), so that a value stays on its line and cannot steer the terminal.
std::string one_line(std::string_view text);

/// Makes a stream of task output safe to show, piece by piece: line breaks and tabs stay, other
/// control characters become visible. A character that is split between two pieces is held back
/// until it is whole.
class Sanitiser {
 public:
  std::string feed(std::string_view piece);
  std::string finish();

 private:
  std::string held_;
};

}  // namespace gantry
