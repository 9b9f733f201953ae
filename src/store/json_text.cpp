#include "store/json_text.hpp"

#include <array>
#include <cstdint>

#include "base/codec.hpp"

namespace gantry::store {

namespace {

/// The length of the UTF-8 sequence at the start of `s`, or 0 when there is none (RFC 3629:
/// shortest form, no surrogates, at most U+10FFFF).
std::size_t utf8_length(std::string_view s) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const auto tail = [&](std::size_t i) { return i < s.size() && (byte(i) & 0xC0) == 0x80; };
  const unsigned char a = byte(0);
  if (a < 0x80) return 1;
  if (a < 0xC2 || !tail(1)) return 0;
  if (a < 0xE0) return 2;
  const unsigned char b = byte(1);
  if (!tail(2)) return 0;
  if (a < 0xF0) return (a == 0xE0 && b < 0xA0) || (a == 0xED && b > 0x9F) ? 0 : 3;
  if (a > 0xF4 || !tail(3)) return 0;
  return (a == 0xF0 && b < 0x90) || (a == 0xF4 && b > 0x8F) ? 0 : 4;
}

void write_escape(unsigned char c, std::string& out) {
  static constexpr char kHex[] = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    default:
      out += "\\u00";
      out += kHex[c >> 4];
      out += kHex[c & 15];
  }
}

bool write_string(std::string_view s, std::string& out) {
  bool exact = true;
  out += '"';
  std::size_t clean = 0;  // s[clean, i) needs no change
  for (std::size_t i = 0; i < s.size();) {
    const auto c = static_cast<unsigned char>(s[i]);
    if (c >= 0x20 && c < 0x7F && c != '"' && c != '\\') {
      ++i;
      continue;
    }
    if (c >= 0x80) {
      if (const std::size_t n = utf8_length(s.substr(i)); n != 0) {
        i += n;
        continue;
      }
    }
    out.append(s, clean, i - clean);
    if (c >= 0x80) {
      out += "\xEF\xBF\xBD";
      exact = false;
    } else {
      write_escape(c, out);
    }
    clean = ++i;
  }
  out.append(s, clean);
  out += '"';
  return exact;
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
    switch (const char c = in_[at_++]) {
      case '"':
      case '\\':
        out += c;
        return true;
      case 'n':
        out += '\n';
        return true;
      case 'r':
        out += '\r';
        return true;
      case 't':
        out += '\t';
        return true;
      case 'u':
        return low_code_point(out);
      default:
        return false;
    }
  }
  /// Only control characters were ever written this way.
  bool low_code_point(std::string& out) {
    if (in_.substr(at_, 2) != "00" || at_ + 4 > in_.size()) return false;
    int code = 0;
    for (const char c : in_.substr(at_ + 2, 2)) {
      if (c >= '0' && c <= '9') {
        code = code * 16 + (c - '0');
      } else if (c >= 'a' && c <= 'f') {
        code = code * 16 + (c - 'a' + 10);
      } else {
        return false;
      }
    }
    at_ += 4;
    if (code >= 0x80) return false;
    out += static_cast<char>(code);
    return true;
  }

  std::string_view in_;
  std::size_t at_ = 0;
};

}  // namespace

bool is_plain_text(std::string_view bytes) {
  for (std::size_t i = 0; i < bytes.size();) {
    if (bytes[i] == '\0') return false;
    const std::size_t n = utf8_length(bytes.substr(i));
    if (n == 0) return false;
    i += n;
  }
  return true;
}

bool write_json(const Pairs& pairs, std::string& out) {
  bool exact = true;
  out = '{';
  for (const auto& [name, value] : pairs) {
    if (out.size() > 1) out += ',';
    exact &= write_string(name, out);
    out += ':';
    if (!value.empty() && number_length(value) == value.size()) {
      out += value;
    } else {
      exact &= write_string(value, out);
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
    exact &= write_string(word, out);
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
