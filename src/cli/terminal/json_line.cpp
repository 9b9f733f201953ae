#include "cli/terminal/json_line.hpp"

#include <fmt/format.h>

#include <cmath>
#include <iterator>

#include "store/json_text.hpp"

namespace gantry::cli {

using store::append_json_string;

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
  if (!store::is_json_number(value)) return text(name, value);
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
  return object(name, [&](JsonLine& inner) {
    for (const auto& [inner_name, value] : values) inner.scalar(inner_name, value);
  });
}

void JsonLine::close(bool end_line) {
  out_ += '}';
  if (end_line) out_ += '\n';
}

}  // namespace gantry::cli
