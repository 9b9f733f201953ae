#include "spec/node_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "model/decimal.hpp"
#include "model/quantity.hpp"
#include "model/suggest.hpp"

namespace gantry::spec {

tl::unexpected<Error> NodeReader::wrong_type(const YamlNode& node, std::string_view key,
                                             std::string_view expected) const {
  if (node.kind == YamlNode::Kind::null) {
    return error(node.mark(), fmt::format("'{}' has no value; expected {}", key, expected));
  }
  const std::string found =
      node.is_scalar() ? fmt::format("'{}'", node.text()) : std::string(node.kind_name());
  return error(node.mark(), fmt::format("'{}' must be {}, not {}", key, expected, found));
}

Result<> NodeReader::check_keys(const YamlNode& map, std::span<const std::string_view> known,
                                std::string_view where) const {
  for (const auto& [key, value] : map.entries) {
    if (std::find(known.begin(), known.end(), key.text) != known.end()) continue;
    std::string hint = did_you_mean(key.text, known);
    if (hint.empty()) hint = fmt::format("known keys: {}", fmt::join(known, ", "));
    return error(key.mark, fmt::format("unknown key '{}' in {}", key.text, where), std::move(hint));
  }
  return {};
}

const YamlNode* NodeReader::find(const YamlNode& map, std::string_view key) {
  for (const auto& [name, value] : map.entries) {
    if (name.text == key) return &value;
  }
  return nullptr;
}

Result<SourceText> NodeReader::text(const YamlNode& node, std::string_view key) const {
  if (!node.is_scalar()) return wrong_type(node, key, "text");
  return node.scalar;
}

Result<std::vector<SourceText>> NodeReader::texts(const YamlNode& node,
                                                  std::string_view key) const {
  std::vector<SourceText> list;
  if (node.is_scalar()) {
    list.push_back(node.scalar);
    return list;
  }
  if (!node.is_sequence()) return wrong_type(node, key, "a list of texts");
  for (const auto& item : node.items) {
    if (!item.is_scalar()) return wrong_type(item, key, "a list of texts");
    list.push_back(item.scalar);
  }
  return list;
}

Result<bool> NodeReader::boolean(const YamlNode& node, std::string_view key) const {
  if (node.is_scalar() && !node.quoted) {
    if (node.text() == "true" || node.text() == "yes") return true;
    if (node.text() == "false" || node.text() == "no") return false;
  }
  return wrong_type(node, key, "true or false");
}

Result<double> NodeReader::number(const YamlNode& node, std::string_view key) const {
  if (node.is_scalar()) {
    if (const auto value = parse_number(node.text())) return *value;
  }
  return wrong_type(node, key, "a number");
}

Result<std::uint64_t> NodeReader::whole_number(const YamlNode& node, std::string_view key,
                                               std::uint64_t least, std::uint64_t most) const {
  if (node.is_scalar()) {
    const std::string& text = node.text();
    std::uint64_t value = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status == std::errc{} && end == text.data() + text.size() && value >= least &&
        value <= most)
      return value;
  }
  return wrong_type(node, key, fmt::format("a whole number from {} to {}", least, most));
}

Result<Duration> NodeReader::duration(const YamlNode& node, std::string_view key) const {
  if (node.is_scalar()) {
    if (const auto value = parse_duration(node.text())) return *value;
  }
  return wrong_type(node, key, "a time like 90s, 1h30m or 00:10:00");
}

}  // namespace gantry::spec
