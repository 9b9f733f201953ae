#include "spec/parameter_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "model/decimal.hpp"
#include "model/parameter_space.hpp"
#include "model/suggest.hpp"
#include "spec/spec.hpp"

namespace gantry::spec {

namespace {

constexpr std::array<std::string_view, 12> kRules{"from",     "to",      "step",       "linspace",
                                                  "logspace", "uniform", "loguniform", "integer",
                                                  "choice",   "glob",    "lines",      "csv"};

}  // namespace

std::vector<std::string> split_lines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.emplace_back(line);
  }
  return lines;
}

Result<ParameterValues> ParameterReader::placed(Result<ParameterValues> values,
                                                SourceMark mark) const {
  if (values) return values;
  return reader_.error(mark, values.error().message, values.error().hint);
}

Result<std::vector<ParameterDefinition>> ParameterReader::read(const YamlNode& node) {
  if (!node.is_map()) return reader_.wrong_type(node, "parameters", "a map from names to values");
  std::vector<ParameterDefinition> parameters;
  for (const auto& [name, value] : node.entries) {
    TRY_ASSIGN(auto definition, parameter(name, value));
    parameters.push_back(std::move(definition));
  }
  return parameters;
}

Result<ParameterDefinition> ParameterReader::parameter(const SourceText& name,
                                                       const YamlNode& node) {
  std::uint32_t link = 0;
  const auto values = [&]() -> Result<ParameterValues> {
    switch (node.kind) {
      case YamlNode::Kind::scalar:
        return scalar(node);
      case YamlNode::Kind::sequence:
        return list(node, name.text);
      case YamlNode::Kind::map:
        return rule(node, name.text, link);
      case YamlNode::Kind::null:
        break;
    }
    return reader_.wrong_type(node, name.text,
                              "values: a range like 1..10, a list [a, b], or a rule");
  }();
  if (!values) return tl::unexpected<Error>(values.error());
  return ParameterDefinition{name.text, *values, name.mark, link};
}

Result<ParameterValues> ParameterReader::scalar(const YamlNode& node) {
  if (auto range = ParameterValues::range(node.text()))
    return placed(std::move(*range), node.mark());
  return ParameterValues::list({node.text()});
}

Result<ParameterValues> ParameterReader::list(const YamlNode& node, std::string_view name) {
  std::vector<std::string> values;
  std::string scratch;
  for (const auto& item : node.items) {
    if (!item.is_scalar()) {
      return reader_.error(
          item.mark(),
          fmt::format("a value of '{}' must be text or a number, not {}", name, item.kind_name()),
          item.kind == YamlNode::Kind::null ? "write '' for an empty text" : "");
    }
    auto range = item.quoted ? std::nullopt : ParameterValues::range(item.text());
    if (!range) {
      values.push_back(item.text());
      continue;
    }
    TRY_ASSIGN(const auto part, placed(std::move(*range), item.mark()));
    if (part.size() > kMaxYamlNodes - listed_) {
      return reader_.error(item.mark(), "this range is too long to be part of a list",
                           "make it the parameter's only value");
    }
    listed_ += part.size();
    for (std::uint32_t i = 0; i < part.size(); ++i) values.emplace_back(part.text({i, 0}, scratch));
  }
  if (values.empty())
    return reader_.error(node.mark(), fmt::format("parameter '{}' has no values", name));
  return ParameterValues::list(std::move(values));
}

Result<ParameterValues> ParameterReader::rule(const YamlNode& node, std::string_view name,
                                              std::uint32_t& link) {
  if (node.entries.empty())
    return reader_.error(node.mark(), fmt::format("parameter '{}' has no values", name));
  const auto& [kind, value] = node.entries[0];
  if (NodeReader::find(node, "from") != nullptr || NodeReader::find(node, "to") != nullptr)
    return stepped(node);
  if (const YamlNode* file = NodeReader::find(node, "csv")) return csv(node, *file, name, link);
  if (node.entries.size() > 1) {
    const std::array<std::string_view, 1> only{kind.text};
    TRY(reader_.check_keys(node, std::span(only), fmt::format("parameter '{}'", name)));
  }
  if (kind.text == "glob") return glob(value);
  if (kind.text == "lines") return lines(value);
  if (kind.text == "choice") {
    if (!value.is_sequence()) return reader_.wrong_type(value, "choice", "a list");
    return list(value, name);
  }
  const std::array<std::string_view, 5> numeric{"linspace", "logspace", "uniform", "loguniform",
                                                "integer"};
  if (std::find(numeric.begin(), numeric.end(), kind.text) != numeric.end())
    return bounds(kind.text, value);
  std::string hint = did_you_mean(kind.text, kRules);
  if (hint.empty()) hint = fmt::format("known: {}", fmt::join(kRules, ", "));
  return reader_.error(kind.mark,
                       fmt::format("unknown key '{}' in parameter '{}'", kind.text, name),
                       std::move(hint));
}

Result<ParameterValues> ParameterReader::stepped(const YamlNode& node) {
  const std::array<std::string_view, 3> known{"from", "to", "step"};
  TRY(reader_.check_keys(node, known, "a range"));
  std::array<std::string, 3> texts{"", "", "1"};
  for (std::size_t k = 0; k < known.size(); ++k) {
    const YamlNode* value = NodeReader::find(node, known[k]);
    if (value == nullptr && k == 2) continue;
    if (value == nullptr)
      return reader_.error(node.mark(), fmt::format("a range needs '{}'", known[k]));
    TRY(reader_.number(*value, known[k]));
    texts[k] = value->text();
  }
  return placed(ParameterValues::range(texts[0], texts[1], texts[2]), node.mark());
}

Result<ParameterValues> ParameterReader::bounds(const std::string& kind, const YamlNode& node) {
  const bool counted = kind == "linspace" || kind == "logspace";
  const std::size_t size = counted ? 3 : 2;
  if (!node.is_sequence() || node.items.size() != size) {
    return reader_.wrong_type(node, kind,
                              counted ? "[first, last, how many]" : "[lowest, highest]");
  }
  TRY_ASSIGN(const double from, reader_.number(node.items[0], kind));
  TRY_ASSIGN(const double to, reader_.number(node.items[1], kind));
  if (kind == "integer") {
    return placed(ParameterValues::range(node.items[0].text(), node.items[1].text(), "1"),
                  node.mark());
  }
  if (!counted) {
    return placed(kind == "uniform" ? ParameterValues::uniform(from, to)
                                    : ParameterValues::loguniform(from, to),
                  node.mark());
  }
  TRY_ASSIGN(const auto n, reader_.count<std::uint32_t>(node.items[2], kind, 1, kMaxValues));
  return placed(kind == "linspace" ? ParameterValues::linspace(from, to, n)
                                   : ParameterValues::logspace(from, to, n),
                node.mark());
}

Result<ParameterValues> ParameterReader::glob(const YamlNode& node) {
  TRY_ASSIGN(const auto patterns, reader_.texts(node, "glob"));
  std::vector<std::string> values;
  for (const auto& pattern : patterns) {
    const bool absolute = pattern.text.starts_with('/');
    // The directory itself is no pattern, whatever its name holds.
    std::string prefix;
    for (const char c : absolute ? std::string() : base_dir_.string() + "/") {
      if (std::string_view("*?[]\\{}").find(c) != std::string_view::npos) prefix.push_back('\\');
      prefix.push_back(c);
    }
    const auto paths = data_.matches(prefix + pattern.text);
    const std::size_t skip = absolute ? 0 : base_dir_.string().size() + 1;
    for (const auto& path : paths) values.push_back(path.substr(std::min(skip, path.size())));
    if (paths.empty()) {
      return reader_.error(pattern.mark, fmt::format("no file matches '{}'", pattern.text),
                           "patterns are relative to " + base_dir_.string());
    }
  }
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return ParameterValues::list(std::move(values));
}

Result<ParameterValues> ParameterReader::lines(const YamlNode& node) {
  TRY_ASSIGN(const auto file, reader_.text(node, "lines"));
  const auto content = data_.content(resolve(file.text));
  if (!content) return reader_.error(file.mark, content.error().message, content.error().hint);
  auto values = split_lines(*content);
  if (values.empty()) return reader_.error(file.mark, fmt::format("{} has no lines", file.text));
  return ParameterValues::list(std::move(values));
}

Result<ParameterReader::LinkedCsv*> ParameterReader::table(const SourceText& file) {
  const std::string path = resolve(file.text).lexically_normal().string();
  if (const auto known = tables_.find(path); known != tables_.end()) return &known->second;
  const auto content = data_.content(path);
  if (!content) return reader_.error(file.mark, content.error().message, content.error().hint);
  auto parsed = parse_csv(*content);
  if (!parsed)
    return reader_.error(file.mark, fmt::format("{}: {}", file.text, parsed.error().message));
  if (parsed->rows.empty())
    return reader_.error(file.mark, fmt::format("{} has no rows below its header", file.text));
  // The links of `combine:` count from 1; those of tables must not meet them.
  const auto link = static_cast<std::uint32_t>(0x80000000U + tables_.size());
  return &tables_.emplace(path, LinkedCsv{std::move(*parsed), link}).first->second;
}

Result<ParameterValues> ParameterReader::csv(const YamlNode& rule, const YamlNode& node,
                                             std::string_view name, std::uint32_t& link) {
  const std::array<std::string_view, 2> outer{"csv", "column"};
  const std::array<std::string_view, 2> inner{"file", "column"};
  TRY(reader_.check_keys(rule, outer, fmt::format("parameter '{}'", name)));
  const YamlNode* file = &node;
  if (node.is_map()) {
    TRY(reader_.check_keys(node, inner, "csv"));
    file = NodeReader::find(node, "file");
    if (file == nullptr) return reader_.error(node.mark(), "csv needs 'file'");
  }
  TRY_ASSIGN(const auto path, reader_.text(*file, "csv"));
  SourceText wanted{std::string(name), path.mark, false};
  TRY(reader_.read(rule, "column", wanted));
  if (node.is_map()) TRY(reader_.read(node, "column", wanted));
  TRY_ASSIGN(const LinkedCsv* const source, table(path));
  const auto at = source->table.column(wanted.text);
  if (!at) {
    std::string hint = did_you_mean(wanted.text, source->table.header);
    if (hint.empty()) hint = fmt::format("its columns: {}", fmt::join(source->table.header, ", "));
    return reader_.error(wanted.mark, fmt::format("{} has no column '{}'", path.text, wanted.text),
                         std::move(hint));
  }
  std::vector<std::string> values;
  for (const auto& row : source->table.rows) values.push_back(row[*at]);
  link = source->link;
  return ParameterValues::list(std::move(values));
}

}  // namespace gantry::spec
