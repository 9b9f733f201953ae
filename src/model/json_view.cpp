#include "model/json_view.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <nlohmann/json.hpp>

namespace gantry {

namespace {

// The library says whether a text is valid JSON, without recursion; what is below reads valid JSON
// only and therefore has no errors to find.

constexpr std::string_view kSpace = " \t\n\r";
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

void skip_space(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kSpace), text.size()));
}

std::size_t string_size(std::string_view text) {
  std::size_t i = 1;
  while (text[i] != '"') i += text[i] == '\\' ? 2 : 1;
  return i + 1;
}

/// Bytes of the value that `text` begins with.
std::size_t value_size(std::string_view text) {
  if (text[0] == '"') return string_size(text);
  if (text[0] != '{' && text[0] != '[')
    return std::min(text.find_first_of(",]} \t\n\r"), text.size());
  std::size_t depth = 0;
  for (std::size_t i = 0;;) {
    const char c = text[i];
    if (c == '"') {
      i += string_size(text.substr(i));
      continue;
    }
    ++i;
    if (c == '{' || c == '[') ++depth;
    if ((c == '}' || c == ']') && --depth == 0) return i;
  }
}

std::string_view take_value(std::string_view& text) {
  skip_space(text);
  const auto value = text.substr(0, value_size(text));
  text.remove_prefix(value.size());
  skip_space(text);
  return value;
}

std::string unquoted(std::string_view string) {
  if (string.find('\\') == std::string_view::npos)
    return std::string(string.substr(1, string.size() - 2));
  return nlohmann::json::parse(string).get<std::string>();
}

/// Calls `use(item)` for each item of an array until it says false.
template <class Use>
void for_each_item(std::string_view array, Use use) {
  array.remove_prefix(1);
  skip_space(array);
  while (array[0] != ']') {
    if (!use(take_value(array))) return;
    if (array[0] == ',') array.remove_prefix(1);
  }
}

/// The text with numbers of the same length for NaN, Infinity and -Infinity, which JSON lacks and
/// Python writes.
std::string with_plain_numbers(std::string_view text) {
  constexpr std::string_view kBefore = " \t\n\r:,[";
  constexpr std::string_view kAfter = " \t\n\r,]}";
  std::string plain(text);
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      for (++i; i < text.size() && text[i] != '"'; ++i) i += text[i] == '\\' ? 1 : 0;
      continue;
    }
    if (i > 0 && kBefore.find(text[i - 1]) == std::string_view::npos) continue;
    for (const std::string_view word : {"NaN", "Infinity", "-Infinity"}) {
      const std::size_t end = i + word.size();
      if (text.substr(i, word.size()) != word) continue;
      if (end < text.size() && kAfter.find(text[end]) == std::string_view::npos) continue;
      std::fill_n(plain.begin() + static_cast<std::ptrdiff_t>(i), word.size(), '1');
    }
  }
  return plain;
}

bool is_valid(std::string_view text) {
  // The library takes a NUL for the end.
  if (text.find('\0') != std::string_view::npos) return false;
  return nlohmann::json::accept(text) || nlohmann::json::accept(with_plain_numbers(text));
}

}  // namespace

std::optional<JsonView> JsonView::parse(std::string_view text) {
  if (!is_valid(text)) return std::nullopt;
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  return JsonView(take_value(text));
}

std::optional<JsonView> JsonView::find(const std::string& key) const {
  if (value_[0] == '{') return member(key);
  if (value_[0] == '[') return item(key);
  return std::nullopt;
}

std::optional<JsonView> JsonView::member(const std::string& name) const {
  std::optional<JsonView> found;
  std::string_view rest = value_.substr(1);
  skip_space(rest);
  while (rest[0] != '}') {
    const auto key = take_value(rest);
    rest.remove_prefix(1);  // the colon
    const auto value = take_value(rest);
    if (unquoted(key) == name) found = JsonView(value);
    if (rest[0] == ',') rest.remove_prefix(1);
    skip_space(rest);
  }
  return found;
}

std::optional<JsonView> JsonView::item(const std::string& index) const {
  std::int64_t wanted = 0;
  const char* const end = index.data() + index.size();
  const auto [stop, error] = std::from_chars(index.data(), end, wanted);
  if (error != std::errc{} || stop != end) return std::nullopt;
  if (wanted < 0) {
    for_each_item(value_, [&](std::string_view) { return ++wanted, true; });
    if (wanted < 0) return std::nullopt;
  }
  std::optional<JsonView> found;
  for_each_item(value_, [&](std::string_view value) {
    if (wanted-- > 0) return true;
    found = JsonView(value);
    return false;
  });
  return found;
}

std::string JsonView::text() const {
  if (value_[0] == '"') return unquoted(value_);
  std::string compact;
  for (std::string_view rest = value_; !rest.empty();) {
    const std::size_t size = rest[0] == '"' ? string_size(rest) : 1;
    if (size > 1 || kSpace.find(rest[0]) == std::string_view::npos)
      compact.append(rest.substr(0, size));
    rest.remove_prefix(size);
  }
  return compact;
}

}  // namespace gantry
