#include "cli/terminal/display_text.hpp"

#include <locale.h>
#include <wchar.h>

#include <algorithm>

#include "model/shell_words.hpp"

namespace gantry::cli {
namespace {

/// Switches this thread to a UTF-8 locale while it lives, as wcwidth() asks the current locale and
/// people's may be "C". The locale object is never freed: it is the program's for its whole life.
class Utf8Locale {
 public:
  Utf8Locale() {
    static const locale_t utf8 = newlocale(LC_CTYPE_MASK, "C.UTF-8", locale_t{});
    if (utf8 != locale_t{}) before_ = uselocale(utf8);
  }
  ~Utf8Locale() {
    if (before_ != locale_t{}) uselocale(before_);
  }
  Utf8Locale(const Utf8Locale&) = delete;
  Utf8Locale& operator=(const Utf8Locale&) = delete;

 private:
  locale_t before_{};
};

std::size_t point_width(char32_t point) {
  const int width = wcwidth(static_cast<wchar_t>(point));
  return width < 0 ? 1 : static_cast<std::size_t>(width);
}

bool is_plain_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return c >= 0x20 && c < 0x7f; });
}

/// The longest beginning of `text` that is at most `columns` wide, in bytes.
std::size_t prefix_within(std::string_view text, std::size_t columns) {
  const Utf8Locale locale;
  std::size_t used = 0;
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const Utf8Character next = first_character(text.substr(bytes));
    const std::size_t width = next.valid ? point_width(next.point) : 1;
    if (used + width > columns) break;
    used += width;
    bytes += next.size;
  }
  return bytes;
}

}  // namespace

std::size_t display_width(std::string_view text) {
  if (is_plain_ascii(text)) return text.size();
  const Utf8Locale locale;
  std::size_t width = 0;
  while (!text.empty()) {
    const Utf8Character next = first_character(text);
    width += next.valid ? point_width(next.point) : 1;
    text.remove_prefix(next.size);
  }
  return width;
}

std::string fit(std::string_view text, std::size_t columns, bool utf8) {
  if (display_width(text) <= columns) return std::string(text);
  const std::string_view ellipsis = utf8 ? "…" : "...";
  const std::size_t ellipsis_width = utf8 ? 1 : 3;
  if (columns <= ellipsis_width) return std::string(text.substr(0, prefix_within(text, columns)));
  std::string out(text.substr(0, prefix_within(text, columns - ellipsis_width)));
  out += ellipsis;
  return out;
}

std::string fit_ends(std::string_view text, std::size_t columns, bool utf8) {
  if (display_width(text) <= columns) return std::string(text);
  // A column takes at least one byte of a valid character, so that the end is not too wide.
  std::size_t from = text.size() - columns / 3;
  while (from < text.size() && (static_cast<unsigned char>(text[from]) & 0xC0U) == 0x80U) ++from;
  const std::string_view end = text.substr(from);
  return fit(text, columns - display_width(end), utf8) + std::string(end);
}

std::vector<std::string> wrap(std::string_view text, std::size_t columns, std::size_t indent) {
  std::vector<std::string> lines;
  while (true) {
    const std::size_t line_end = text.find('\n');
    std::string_view line = text.substr(0, line_end);
    std::string before;
    std::size_t width = columns;
    while (display_width(line) > width) {
      const std::size_t room = std::max<std::size_t>(1, prefix_within(line, width));
      // A space right after the room also ends a full line.
      const std::size_t space = line.rfind(' ', room);
      const bool at_space = space != std::string_view::npos && line.find_first_not_of(' ') < space;
      lines.push_back(before + std::string(line.substr(0, at_space ? space : room)));
      line.remove_prefix(at_space ? space + 1 : room);
      before.assign(indent, ' ');
      width = columns > indent ? columns - indent : 1;
    }
    lines.push_back(before + std::string(line));
    if (line_end == std::string_view::npos) return lines;
    text.remove_prefix(line_end + 1);
  }
}

std::vector<std::string> wrap_words(std::string_view line, std::size_t columns,
                                    std::size_t indent) {
  std::vector<std::string> lines{""};
  while (!line.empty()) {
    // With the spaces before it, so that what is indented stays so.
    const std::size_t word = std::min(line.find_first_not_of(' '), line.size());
    const std::size_t end = std::min(line.find(' ', word), line.size());
    const std::string_view next = line.substr(0, end);
    const bool begins = lines.back().find_first_not_of(' ') == std::string::npos;
    if (begins || display_width(lines.back()) + display_width(next) <= columns)
      lines.back() += next;
    else
      lines.push_back(std::string(indent, ' ') + std::string(next.substr(word)));
    line.remove_prefix(end);
  }
  return lines;
}

std::string shell_quote(std::string_view word) {
  if (one_line(word) == word) return quote_shell_word(word);
  std::string out = "$'";
  while (!word.empty()) {
    const Utf8Character next = first_character(word);
    if (!next.valid || is_steering(next.point)) {
      out += next.valid && next.size == 1 ? escape_point(next.point)
                                          : escape_bytes(word.substr(0, next.size));
    } else {
      if (next.point == '\'' || next.point == '\\') out += '\\';
      out += word.substr(0, next.size);
    }
    word.remove_prefix(next.size);
  }
  return out + "'";
}

std::string shell_quote(const std::vector<std::string>& words) {
  std::string out;
  for (const auto& word : words) {
    if (!out.empty()) out += ' ';
    out += shell_quote(word);
  }
  return out;
}

}  // namespace gantry::cli
