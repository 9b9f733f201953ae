#pragma once
/// Text as a POSIX shell reads it: splitting into words without expanding anything, and quoting so
/// that a shell gives back exactly the same bytes. Free functions; any thread.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace gantry {

struct ShellWord {
  std::string text;
  std::size_t offset = 0;  ///< where it begins in the input
  bool verbatim = true;    ///< no quotes or backslashes were taken out of it
};

/// Splits at blanks and newlines; '…', "…" and backslash quote as in sh. Nothing is expanded: $, *,
/// ~ stay. The error says what is not closed, and at which byte in `error_offset`.
Result<std::vector<ShellWord>> split_shell_words(std::string_view text, std::size_t& error_offset);

/// One shell word that means exactly `value`; left bare when nothing in it is special.
std::string quote_shell_word(std::string_view value);
/// Appends `value` always in single quotes, so that it may be glued to other parts of a word.
void append_single_quoted(std::string& out, std::string_view value);
/// Appends `value` as it has to be written inside '…'.
void append_inside_single_quotes(std::string& out, std::string_view value);
/// Appends `value` as it has to be written inside "…".
void append_inside_double_quotes(std::string& out, std::string_view value);

}  // namespace gantry
