#pragma once
/// Text as a terminal shows it: how wide it is, how it is cut, wrapped and quoted. Everything here
/// accepts invalid UTF-8. Pure functions, any thread.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/visible_text.hpp"

namespace gantry::cli {

/// Terminal columns of UTF-8 text (East Asian wide characters take two, combining ones none).
std::size_t display_width(std::string_view text);

/// At most `columns` wide; what is cut is marked by an ellipsis.
std::string fit(std::string_view text, std::size_t columns, bool utf8);

/// The same with the middle left out.
/// REQUIRES: text of one_line().
std::string fit_ends(std::string_view text, std::size_t columns, bool utf8);

/// Lines of at most `columns`, broken at spaces where there are any; existing line breaks are kept.
/// What continues a line is indented.
std::vector<std::string> wrap(std::string_view text, std::size_t columns, std::size_t indent = 0);

/// The same of one line, but no word is broken: for a file, in which somebody looks for a path.
std::vector<std::string> wrap_words(std::string_view line, std::size_t columns, std::size_t indent);

/// A word as a POSIX shell needs it typed. Words with control characters use $'…'.
std::string shell_quote(std::string_view word);
std::string shell_quote(const std::vector<std::string>& words);

}  // namespace gantry::cli
