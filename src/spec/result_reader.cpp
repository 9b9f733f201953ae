#include "spec/result_reader.hpp"

#include <fmt/format.h>

#include <array>

namespace gantry::spec {

namespace {

using Source = ResultDefinition::Source;

/// "a.b.0", or a list when a key has dots of its own.
Result<std::vector<std::string>> json_keys(const NodeReader& reader, const YamlNode& node) {
  std::vector<std::string> keys;
  if (node.is_sequence()) {
    TRY_ASSIGN(const auto texts, reader.texts(node, "key"));
    for (const auto& text : texts) keys.push_back(text.text);
    return keys;
  }
  TRY_ASSIGN(const auto path, reader.text(node, "key"));
  for (std::size_t from = 0; from <= path.text.size();) {
    const std::size_t dot = std::min(path.text.find('.', from), path.text.size());
    keys.push_back(path.text.substr(from, dot - from));
    from = dot + 1;
  }
  return keys;
}

Result<> read_json(const NodeReader& reader, const YamlNode& node, ResultDefinition& rule) {
  constexpr std::array<std::string_view, 3> kKeys{"json", "key", "optional"};
  TRY(reader.check_keys(node, kKeys, fmt::format("result '{}'", rule.name)));
  rule.source = Source::json;
  TRY(reader.read(node, "json", rule.file));
  rule.keys = {rule.name};
  if (const YamlNode* key = NodeReader::find(node, "key")) {
    TRY_ASSIGN(rule.keys, json_keys(reader, *key));
  }
  return {};
}

Result<> read_csv(const NodeReader& reader, const YamlNode& node, ResultDefinition& rule) {
  constexpr std::array<std::string_view, 4> kKeys{"csv", "column", "row", "optional"};
  constexpr std::uint64_t kMaxRow = 0xffffffffU;
  TRY(reader.check_keys(node, kKeys, fmt::format("result '{}'", rule.name)));
  rule.source = Source::csv;
  TRY(reader.read(node, "csv", rule.file));
  rule.column = rule.name;
  TRY(reader.read(node, "column", rule.column));
  const YamlNode* row = NodeReader::find(node, "row");
  if (row == nullptr || row->text() == "last") return {};
  if (row->text() == "first") {
    rule.row = 1;
    return {};
  }
  const auto number = reader.count(*row, "row", 1, kMaxRow);
  if (!number) return reader.wrong_type(*row, "row", "first, last or a number from 1");
  rule.row = static_cast<std::uint32_t>(*number);
  return {};
}

Result<> read_stdout(const NodeReader& reader, const YamlNode& node, ResultDefinition& rule) {
  constexpr std::array<std::string_view, 2> kKeys{"stdout", "optional"};
  TRY(reader.check_keys(node, kKeys, fmt::format("result '{}'", rule.name)));
  return reader.read(node, "stdout", rule.pattern);
}

Result<ResultDefinition> read_rule(const NodeReader& reader, const SourceText& name,
                                   const YamlNode& node) {
  ResultDefinition rule;
  rule.name = name.text;
  rule.mark = name.mark;
  if (node.is_scalar()) {
    rule.pattern = node.scalar;
    return rule;
  }
  constexpr std::string_view kExpected =
      "a regular expression, or a map with stdout:, json: or csv:";
  if (!node.is_map()) return reader.wrong_type(node, name.text, kExpected);
  TRY(reader.read(node, "optional", rule.optional));
  if (NodeReader::find(node, "json") != nullptr) {
    TRY(read_json(reader, node, rule));
  } else if (NodeReader::find(node, "csv") != nullptr) {
    TRY(read_csv(reader, node, rule));
  } else if (NodeReader::find(node, "stdout") != nullptr) {
    TRY(read_stdout(reader, node, rule));
  } else {
    constexpr std::array<std::string_view, 4> kKeys{"stdout", "json", "csv", "optional"};
    TRY(reader.check_keys(node, kKeys, fmt::format("result '{}'", rule.name)));
    return reader.wrong_type(node, name.text, kExpected);
  }
  return rule;
}

}  // namespace

Result<std::vector<ResultDefinition>> read_results(const NodeReader& reader, const YamlNode& node) {
  if (!node.is_map()) return reader.wrong_type(node, "results", "a map from names to rules");
  std::vector<ResultDefinition> rules;
  for (const auto& [name, value] : node.entries) {
    TRY_ASSIGN(auto rule, read_rule(reader, name, value));
    rules.push_back(std::move(rule));
  }
  return rules;
}

}  // namespace gantry::spec
