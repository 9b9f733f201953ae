#include "cli/terminal/display_text.hpp"

#include <fmt/format.h>
#include <locale.h>
#include <wchar.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "model/shell_words.hpp"

namespace gantry::cli {
namespace {

struct Decoded {
  char32_t point = 0;
  std::size_t size = 1;  ///< bytes; 1 for a bad byte
  bool valid = false;
  bool cut = false;  ///< a good beginning that ends too early
};

Decoded decode(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  if (lead < 0x80) return {lead, 1, true, false};
  const std::size_t size = lead >= 0xf0 && lead < 0xf5   ? 4
                           : lead >= 0xe0 && lead < 0xf0 ? 3
                           : lead >= 0xc2 && lead < 0xe0 ? 2
                                                         : 1;
  if (size == 1) return {};
  char32_t point = lead & (0x7fU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if (i == text.size()) return {0, 1, false, true};
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xc0) != 0x80) return {};
    point = (point << 6) | (byte & 0x3fU);
  }
  const bool overlong = (size == 3 && point < 0x800) || (size == 4 && point < 0x10000);
  const bool surrogate = point >= 0xd800 && point <= 0xdfff;
  if (overlong || surrogate || point > 0x10ffff) return {};
  return {point, size, true, false};
}

bool is_steering(char32_t point) {
  return point < 0x20 || (point >= 0x7f && point < 0xa0) || (point >= 0x202a && point <= 0x202e) ||
         (point >= 0x2066 && point <= 0x2069) || point == 0x2028 || point == 0x2029;
}

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

std::string escape_bytes(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  return out;
}

std::string escape_point(char32_t point) {
  switch (point) {
    case '\n':
      return "\\n";
    case '\t':
      return "\\t";
    case '\r':
      return "\\r";
    default:
      break;
  }
  return point < 0x100 ? fmt::format("\\x{:02x}", static_cast<std::uint32_t>(point))
                       : fmt::format("\\u{:04x}", static_cast<std::uint32_t>(point));
}

template <class Keep>
std::string make_visible(std::string_view text, Keep keep) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Decoded next = decode(text);
    if (!next.valid)
      out += escape_bytes(text.substr(0, 1));
    else if (is_steering(next.point) && !keep(next.point))
      out += escape_point(next.point);
    else
      out += text.substr(0, next.size);
    text.remove_prefix(next.size);
  }
  return out;
}

/// The longest beginning of `text` that is at most `columns` wide, in bytes.
std::size_t prefix_within(std::string_view text, std::size_t columns) {
  const Utf8Locale locale;
  std::size_t used = 0;
  std::size_t bytes = 0;
  while (bytes < text.size()) {
    const Decoded next = decode(text.substr(bytes));
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
    const Decoded next = decode(text);
    width += next.valid ? point_width(next.point) : 1;
    text.remove_prefix(next.size);
  }
  return width;
}

std::string one_line(std::string_view text) {
  if (is_plain_ascii(text)) return std::string(text);
  return make_visible(text, [](char32_t) { return false; });
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
    const Decoded next = decode(word);
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

std::string Sanitiser::feed(std::string_view piece) {
  std::string text = std::exchange(held_, {});
  text += piece;
  // At most the last three bytes can be the beginning of a character.
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    const std::string_view tail = std::string_view(text).substr(text.size() - back);
    if (!decode(tail).cut) continue;
    held_ = tail;
    text.resize(text.size() - back);
    break;
  }
  return make_visible(text, [](char32_t point) { return point == '\n' || point == '\t'; });
}

std::string Sanitiser::finish() {
  return escape_bytes(std::exchange(held_, {}));
}

}  // namespace gantry::cli
