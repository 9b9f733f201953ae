#include "cli/terminal/json_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "cli/terminal/format.hpp"
#include "model/visible_text.hpp"

namespace gantry::cli {
namespace {

void append_escaped(std::string& out, unsigned char c) {
  switch (c) {
    case '"':
      out += "\\\"";
      break;
    case '\\':
      out += "\\\\";
      break;
    case '\n':
      out += "\\n";
      break;
    case '\r':
      out += "\\r";
      break;
    case '\t':
      out += "\\t";
      break;
    default:
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", c);
  }
}

}  // namespace

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const auto is_plain = [](unsigned char c) {
      return c >= 0x20 && c < 0x7f && c != '"' && c != '\\';
    };
    const auto plain =
        static_cast<std::size_t>(std::ranges::find_if_not(text, is_plain) - text.begin());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (text.empty()) break;
    const Utf8Character next = first_character(text);
    if (!next.valid)
      out += "\xef\xbf\xbd";
    else if (next.size == 1)
      append_escaped(out, static_cast<unsigned char>(text.front()));
    else
      out += text.substr(0, next.size);
    text.remove_prefix(next.size);
  }
  out += '"';
}

void JsonLine::key(std::string_view name) {
  if (!first_) out_ += ',';
  first_ = false;
  append_json_string(out_, name);
  out_ += ':';
}

JsonLine& JsonLine::text(std::string_view name, std::string_view value) {
  key(name);
  append_json_string(out_, value);
  return *this;
}

JsonLine& JsonLine::real(std::string_view name, double value) {
  key(name);
  if (std::isfinite(value))
    fmt::format_to(std::back_inserter(out_), "{:.9g}", value);
  else
    out_ += "null";
  return *this;
}

JsonLine& JsonLine::flag(std::string_view name, bool value) {
  key(name);
  out_ += value ? "true" : "false";
  return *this;
}

JsonLine& JsonLine::null(std::string_view name) {
  key(name);
  out_ += "null";
  return *this;
}

JsonLine& JsonLine::scalar(std::string_view name, std::string_view value) {
  if (!is_json_number(value)) return text(name, value);
  key(name);
  out_ += value;
  return *this;
}

JsonLine& JsonLine::texts(std::string_view name, const std::vector<std::string>& values) {
  key(name);
  out_ += '[';
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i > 0) out_ += ',';
    append_json_string(out_, values[i]);
  }
  out_ += ']';
  return *this;
}

JsonLine& JsonLine::scalars(std::string_view name,
                            const std::vector<std::pair<std::string, std::string>>& values) {
  key(name);
  JsonLine inner(out_);
  for (const auto& [inner_name, value] : values) inner.scalar(inner_name, value);
  inner.close(false);
  return *this;
}

std::string& JsonLine::raw(std::string_view name) {
  key(name);
  return out_;
}

void JsonLine::close(bool end_line) {
  out_ += '}';
  if (end_line) out_ += '\n';
}

}  // namespace gantry::cli
