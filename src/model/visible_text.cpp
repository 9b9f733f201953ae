#include "model/visible_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace gantry {
namespace {

template <class Keep>
std::string make_visible(std::string_view text, Keep keep) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const Utf8Character next = first_character(text);
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

}  // namespace

Utf8Character first_character(std::string_view text) {
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

std::string one_line(std::string_view text) {
  const auto is_plain = [](char c) { return c >= 0x20 && c < 0x7f; };
  if (std::ranges::all_of(text, is_plain)) return std::string(text);
  return make_visible(text, [](char32_t) { return false; });
}

std::string Sanitiser::feed(std::string_view piece) {
  std::string text = std::exchange(held_, {});
  text += piece;
  // At most the last three bytes can be the beginning of a character.
  for (std::size_t back = 1; back <= std::min<std::size_t>(3, text.size()); ++back) {
    const std::string_view tail = std::string_view(text).substr(text.size() - back);
    if (!first_character(tail).cut) continue;
    held_ = tail;
    text.resize(text.size() - back);
    break;
  }
  return make_visible(text, [](char32_t point) { return point == '\n' || point == '\t'; });
}

std::string Sanitiser::finish() {
  return escape_bytes(std::exchange(held_, {}));
}

}  // namespace gantry
