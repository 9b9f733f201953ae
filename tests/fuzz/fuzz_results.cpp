/// Any rule (the first line) on any output (the rest): a value, or an error that names it. JSON is
/// compared with what a library makes of it.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "model/csv.hpp"
#include "model/json_view.hpp"
#include "model/result_rules.hpp"

namespace gantry {
namespace {

using nlohmann::json;

const json* library_find(const json& node, const std::string& key) {
  if (node.is_object()) {
    const auto found = node.find(key);
    return found == node.end() ? nullptr : &*found;
  }
  const auto index = static_cast<std::size_t>(std::strtoull(key.c_str(), nullptr, 10));
  return node.is_array() && index < node.size() ? &node[index] : nullptr;
}

void check_json(const std::string& text, const std::vector<std::string>& keys) {
  const auto view = JsonView::parse(text);
  const auto document = json::parse(text, nullptr, false);
  if (!view) {
    if (!document.is_discarded() && text.find('\0') == std::string::npos) std::abort();
    return;
  }
  if (document.is_discarded()) {  // to the library these are no JSON
    if (text.find("NaN") == std::string::npos && text.find("Infinity") == std::string::npos)
      std::abort();
    return;
  }
  auto at = view;
  const json* node = &document;
  for (const auto& key : keys) {
    const bool is_index = !key.empty() && key.find_first_not_of("0123456789") == std::string::npos;
    if (node->is_array() && (!is_index || key.size() > 9)) return;
    at = at->find(key);
    node = library_find(*node, key);
    if (at.has_value() != (node != nullptr)) std::abort();
    if (!at) return;
  }
  const std::string value = at->text();
  const bool same =
      node->is_string() ? node->get<std::string>() == value : json::parse(value) == *node;
  if (!same || at->is_null() != node->is_null()) std::abort();
}

/// "json a.b.0", "csv COLUMN ROW" or a pattern.
ResultDefinition rule_of(const std::string& line) {
  ResultDefinition rule;
  rule.name = "value";
  if (line.starts_with("json ")) {
    rule.source = ResultDefinition::Source::json;
    for (std::size_t at = 5; at <= line.size();) {
      const auto dot = std::min(line.find('.', at), line.size());
      rule.keys.push_back(line.substr(at, dot - at));
      at = dot + 1;
    }
  } else if (line.starts_with("csv ")) {
    rule.source = ResultDefinition::Source::csv;
    const auto space = line.rfind(' ');
    rule.column = line.substr(4, space > 4 ? space - 4 : std::string::npos);
    rule.row = static_cast<std::uint32_t>(std::strtoul(line.c_str() + space, nullptr, 10));
  } else {
    rule.pattern = {line, {1, 1}, true};
  }
  return rule;
}

}  // namespace
}  // namespace gantry

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gantry;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto end = std::min(bytes.find('\n'), size);
  const std::string content(bytes.substr(std::min(end + 1, size)));
  const auto rule = rule_of(std::string(bytes.substr(0, end)));
  check_json(content, rule.keys);

  const auto rules = ResultRules::compile({rule}, "fuzz.yaml");
  if (!rules) return rules.error().message.starts_with("fuzz.yaml:1:1:") ? 0 : (std::abort(), 0);
  const bool from_file = rule.source != ResultDefinition::Source::standard_output;
  const std::vector<std::string> paths{from_file ? "f" : ""};
  const auto values = rules->extract(content, paths, std::vector{std::pair{paths[0], content}});
  if (!values) return values.error().message.starts_with("'value': ") ? 0 : (std::abort(), 0);
  if (values->size() != 1 || (*values)[0].second.size() > content.size()) std::abort();
  return 0;
}
