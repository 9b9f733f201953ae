#include "store/json_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <iterator>

#include "base/codec.hpp"
#include "model/visible_text.hpp"

namespace gantry::store {

namespace {

/// Characters with a short escape, and what stands for them after the backslash.
constexpr std::string_view kShort = "\"\\\n\r\t";
constexpr std::string_view kLetters = "\"\\nrt";

void append_escape(std::string& out, char c) {
  if (const std::size_t known = kShort.find(c); known != std::string_view::npos) {
    out += '\\';
    out += kLetters[known];
  } else {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned char>(c));
  }
}

/// How many characters at the start of `s` are a number as JSON writes it; 0 when none.
std::size_t number_length(std::string_view s) {
  std::size_t i = 0;
  const auto digits = [&] {
    const std::size_t first = i;
    while (i < s.size() && s[i] >= '0' && s[i] <= '9') ++i;
    return i - first;
  };
  if (i < s.size() && s[i] == '-') ++i;
  const std::size_t whole = i;
  if (digits() == 0) return 0;
  if (s[whole] == '0' && i - whole > 1) return 0;
  if (i < s.size() && s[i] == '.') {
    ++i;
    if (digits() == 0) return 0;
  }
  if (i < s.size() && (s[i] == 'e' || s[i] == 'E')) {
    ++i;
    if (i < s.size() && (s[i] == '+' || s[i] == '-')) ++i;
    if (digits() == 0) return 0;
  }
  return i;
}

/// Reads strictly what the writers above wrote.
class Reader {
 public:
  explicit Reader(std::string_view in) : in_(in) {}
  bool take(char c) {
    if (at_ >= in_.size() || in_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool string(std::string& out) {
    if (!take('"')) return false;
    for (;;) {
      const std::size_t stop = in_.find_first_of("\"\\", at_);
      if (stop == std::string_view::npos) return false;
      out.append(in_, at_, stop - at_);
      at_ = stop + 1;
      if (in_[stop] == '"') return true;
      if (!escape(out)) return false;
    }
  }
  bool value(std::string& out) {
    if (at_ < in_.size() && in_[at_] == '"') return string(out);
    const std::size_t n = number_length(in_.substr(at_));
    out.append(in_, at_, n);
    at_ += n;
    return n != 0;
  }
  [[nodiscard]] bool at_end() const { return at_ == in_.size(); }

 private:
  bool escape(std::string& out) {
    if (at_ >= in_.size()) return false;
    const char c = in_[at_++];
    if (c == 'u') return low_code_point(out);
    const std::size_t known = kLetters.find(c);
    if (known == std::string_view::npos) return false;
    out += kShort[known];
    return true;
  }
  /// Only control characters were ever written this way.
  bool low_code_point(std::string& out) {
    if (in_.substr(at_, 2) != "00" || at_ + 4 > in_.size()) return false;
    unsigned code = 0;
    const char* const digits = in_.data() + at_ + 2;
    const auto [end, error] = std::from_chars(digits, digits + 2, code, 16);
    if (error != std::errc{} || end != digits + 2 || code >= 0x80) return false;
    at_ += 4;
    out += static_cast<char>(code);
    return true;
  }

  std::string_view in_;
  std::size_t at_ = 0;
};

}  // namespace

bool is_plain_text(std::string_view bytes) {
  const auto is_ascii = [](char c) { return c != 0 && static_cast<unsigned char>(c) < 0x80; };
  for (;;) {
    const auto other = std::ranges::find_if_not(bytes, is_ascii);
    bytes.remove_prefix(static_cast<std::size_t>(other - bytes.begin()));
    if (bytes.empty()) return true;
    const Utf8Character next = first_character(bytes);
    if (!next.valid || next.point == 0) return false;
    bytes.remove_prefix(next.size);
  }
}

bool is_json_number(std::string_view text) {
  return !text.empty() && number_length(text) == text.size();
}

bool append_json_string(std::string& out, std::string_view text) {
  bool exact = true;
  const auto is_plain = [](char c) { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; };
  out += '"';
  for (;;) {
    const auto plain = std::ranges::find_if_not(text, is_plain);
    out.append(text.begin(), plain);
    text.remove_prefix(static_cast<std::size_t>(plain - text.begin()));
    if (text.empty()) break;
    const Utf8Character next = first_character(text);
    exact = exact && next.valid;
    if (!next.valid)
      out += "\xEF\xBF\xBD";
    else if (next.size == 1)
      append_escape(out, text.front());
    else
      out += text.substr(0, next.size);
    text.remove_prefix(next.size);
  }
  out += '"';
  return exact;
}

bool write_json(const Pairs& pairs, std::string& out) {
  bool exact = true;
  out = '{';
  for (const auto& [name, value] : pairs) {
    if (out.size() > 1) out += ',';
    exact &= append_json_string(out, name);
    out += ':';
    if (is_json_number(value)) {
      out += value;
    } else {
      exact &= append_json_string(out, value);
    }
  }
  out += '}';
  return exact;
}

bool write_json(const std::vector<std::string>& words, std::string& out) {
  bool exact = true;
  out = '[';
  for (const std::string& word : words) {
    if (out.size() > 1) out += ',';
    exact &= append_json_string(out, word);
  }
  out += ']';
  return exact;
}

std::optional<Pairs> read_json_pairs(std::string_view json) {
  Reader in(json);
  Pairs pairs;
  if (!in.take('{')) return std::nullopt;
  if (in.take('}')) return in.at_end() ? std::optional(pairs) : std::nullopt;
  do {
    auto& [name, value] = pairs.emplace_back();
    if (!in.string(name) || !in.take(':') || !in.value(value)) return std::nullopt;
  } while (in.take(','));
  if (!in.take('}') || !in.at_end()) return std::nullopt;
  return pairs;
}

std::optional<std::vector<std::string>> read_json_words(std::string_view json) {
  Reader in(json);
  std::vector<std::string> words;
  if (!in.take('[')) return std::nullopt;
  if (in.take(']')) return in.at_end() ? std::optional(words) : std::nullopt;
  do {
    if (!in.string(words.emplace_back())) return std::nullopt;
  } while (in.take(','));
  if (!in.take(']') || !in.at_end()) return std::nullopt;
  return words;
}

void frame_pairs(const Pairs& pairs, std::string& out) {
  Encoder to(out);
  to.u32(static_cast<std::uint32_t>(pairs.size()));
  for (const auto& [name, value] : pairs) to.str(name).str(value);
}

std::optional<Pairs> unframe_pairs(std::string_view framed) {
  Decoder in(framed);
  Pairs pairs;
  const std::uint32_t n = in.count(8);
  for (std::uint32_t i = 0; i < n && in.ok(); ++i) {
    const auto name = in.str();
    const auto value = in.str();
    pairs.emplace_back(name, value);
  }
  if (!in.ok() || !in.at_end()) return std::nullopt;
  return pairs;
}

void frame_words(const std::vector<std::string>& words, std::string& out) {
  Encoder to(out);
  to.u32(static_cast<std::uint32_t>(words.size()));
  for (const std::string& word : words) to.str(word);
}

std::optional<std::vector<std::string>> unframe_words(std::string_view framed) {
  Decoder in(framed);
  std::vector<std::string> words;
  const std::uint32_t n = in.count(4);
  for (std::uint32_t i = 0; i < n && in.ok(); ++i) words.emplace_back(in.str());
  if (!in.ok() || !in.at_end()) return std::nullopt;
  return words;
}

}  // namespace gantry::store
