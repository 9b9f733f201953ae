#include "spec/yaml_tree.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/mark.h>
#include <yaml-cpp/parser.h>

#include <array>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include "model/template.hpp"

namespace gantry::spec {

namespace {

/// Leaves yaml-cpp's parser from inside a callback; caught in parse_yaml.
struct Refused {
  SourceMark mark;
  std::string message;
  std::string hint;
};

SourceMark to_mark(const YAML::Mark& mark) {
  if (mark.is_null()) return {1, 1};
  return {static_cast<std::uint32_t>(mark.line + 1), static_cast<std::uint32_t>(mark.column + 1)};
}

/// What a copy of a node holds.
struct Extent {
  std::size_t nodes = 0;
  std::size_t bytes = 0;  ///< of text
};

void measure(const YamlNode& node, Extent& extent) {
  ++extent.nodes;
  extent.bytes += node.scalar.text.size();
  for (const auto& item : node.items) measure(item, extent);
  for (const auto& entry : node.entries) {
    ++extent.nodes;
    extent.bytes += entry.first.text.size();
    measure(entry.second, extent);
  }
}

std::size_t depth_of(const YamlNode& node) {
  std::size_t deepest = 0;
  for (const auto& item : node.items) deepest = std::max(deepest, depth_of(item));
  for (const auto& entry : node.entries) deepest = std::max(deepest, depth_of(entry.second));
  return deepest + 1;
}

class TreeBuilder final : public YAML::EventHandler {
 public:
  explicit TreeBuilder(std::string_view text) : text_(text) {}
  [[nodiscard]] YamlNode take() { return std::move(root_); }

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    YamlNode node;
    node.scalar.mark = to_mark(mark);
    add(std::move(node), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto known = anchors_.find(anchor);
    if (known == anchors_.end())
      throw Refused{to_mark(mark), "an alias is inside the node that it repeats", {}};
    // A chain of aliases to aliases doubles at every step: count what it unfolds to before copying.
    Extent extent;
    measure(known->second, extent);
    budget(extent.nodes, to_mark(mark));
    repeated_ += extent.bytes;
    if (repeated_ > kMaxYamlBytes) {
      throw Refused{to_mark(mark),
                    fmt::format("aliases repeat more than {} MiB of text", kMaxYamlBytes >> 20U),
                    "put long values into a file and pass the file's name"};
    }
    if (depth_of(known->second) + open_.size() > kMaxYamlDepth) too_deep(to_mark(mark));
    YamlNode copy = known->second;
    place(std::move(copy));
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& value) override {
    YamlNode node;
    node.kind = YamlNode::Kind::scalar;
    node.quoted = tag == "!";
    node.scalar = locate(mark, value);
    if (!node.quoted && (value == "~" || value == "null" || value.empty()))
      node.kind = YamlNode::Kind::null;
    add(std::move(node), anchor);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(YamlNode::Kind::sequence, mark, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(YamlNode::Kind::map, mark, anchor);
  }
  void OnMapEnd() override { close(); }

 private:
  struct Open {
    YamlNode node;
    YAML::anchor_t anchor;
    bool has_key = false;
    SourceText key{};
    std::set<std::string> keys{};
  };

  /// The scalar with its place; exact when the file holds the very same bytes there.
  [[nodiscard]] SourceText locate(const YAML::Mark& mark, const std::string& value) const {
    SourceText source{value, to_mark(mark), false};
    if (mark.pos < 0 || value.find('\n') != std::string::npos) return source;
    auto at = static_cast<std::size_t>(mark.pos);
    if (at < text_.size() && (text_[at] == '"' || text_[at] == '\'')) {
      ++at;
      ++source.mark.column;
    }
    source.exact = at < text_.size() && text_.substr(at, value.size()) == value;
    return source;
  }

  [[noreturn]] static void too_deep(SourceMark mark) {
    throw Refused{mark, fmt::format("nested more than {} levels deep", kMaxYamlDepth), {}};
  }

  void budget(std::size_t nodes, SourceMark mark) {
    nodes_ += nodes;
    if (nodes_ > kMaxYamlNodes) {
      throw Refused{mark, fmt::format("more than {} values", kMaxYamlNodes),
                    "put long lists into a file and use lines: or csv:"};
    }
  }

  void open(YamlNode::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
    if (open_.size() >= kMaxYamlDepth) too_deep(to_mark(mark));
    budget(1, to_mark(mark));
    Open level{{}, anchor};
    level.node.kind = kind;
    level.node.scalar.mark = to_mark(mark);
    open_.push_back(std::move(level));
  }
  void close() {
    Open level = std::move(open_.back());
    open_.pop_back();
    if (level.anchor != 0) anchors_[level.anchor] = level.node;
    place(std::move(level.node));
  }
  void add(YamlNode node, YAML::anchor_t anchor) {
    budget(1, node.mark());
    if (anchor != 0) anchors_[anchor] = node;
    place(std::move(node));
  }

  void place(YamlNode node) {
    if (open_.empty()) {
      root_ = std::move(node);
      return;
    }
    Open& level = open_.back();
    if (level.node.is_sequence()) {
      level.node.items.push_back(std::move(node));
    } else if (level.has_key) {
      // yaml-cpp puts a missing value at the next token, maybe lines below its key.
      if (node.kind == YamlNode::Kind::null) node.scalar.mark = level.key.mark;
      level.node.entries.push_back({std::move(level.key), std::move(node)});
      level.has_key = false;
    } else {
      if (!node.is_scalar()) throw Refused{node.mark(), "a key must be plain text", {}};
      if (!level.keys.insert(node.text()).second) {
        throw Refused{node.mark(), fmt::format("the key '{}' appears twice", node.text()),
                      "remove one of them"};
      }
      level.key = std::move(node.scalar);
      level.has_key = true;
    }
  }

  std::string_view text_;
  YamlNode root_{YamlNode::Kind::null, false, {"", {1, 1}, false}, {}, {}};
  std::vector<Open> open_;
  std::map<YAML::anchor_t, YamlNode> anchors_;
  std::size_t nodes_ = 0;
  std::size_t repeated_ = 0;  ///< bytes of text, by aliases
};

/// The mistakes that people make most, guessed from the line or the one before it.
std::string syntax_hint(std::string_view text, SourceMark mark) {
  std::vector<std::string_view> lines{""};
  while (lines.size() <= mark.line && !text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (mark.line >= lines.size()) return {};
  for (const auto line : {lines[mark.line], lines[mark.line - (mark.line > 1 ? 1 : 0)]}) {
    const std::size_t indent = std::min(line.find_first_not_of(" \t"), line.size());
    if (line.substr(0, indent).find('\t') != std::string_view::npos)
      return "YAML is indented with spaces, not with tabs";
    const std::size_t colon = line.find(": ");
    if (colon < line.size() && line.find(": ", colon + 2) < line.size() &&
        line.find_first_of("'\"") == std::string_view::npos && line.find('{') > colon + 2)
      return "text that holds ': ' needs quotes: 'echo a: b'";
    if (has_placeholder(line))
      return "text with braces needs quotes in a list, in a map and where it begins with one: "
             "'{name}.dat'";
  }
  return {};
}

}  // namespace

std::string_view YamlNode::kind_name() const {
  constexpr std::array<std::string_view, 4> kNames{"nothing", "text", "a list", "a map"};
  return kNames[static_cast<std::size_t>(kind)];
}

Result<YamlNode> parse_yaml(std::string_view text, const std::string& file) {
  if (text.size() > kMaxYamlBytes) {
    return fail_at(file, {}, fmt::format("longer than {} MiB", kMaxYamlBytes >> 20U),
                   "put long lists into a file and use lines: or csv:");
  }
  TreeBuilder builder(text);
  try {
    std::istringstream stream{std::string(text)};
    YAML::Parser parser(stream);
    parser.HandleNextDocument(builder);
    TreeBuilder second(text);
    const bool more = parser.HandleNextDocument(second);
    if (const YamlNode root = second.take(); more && root.kind != YamlNode::Kind::null)
      return fail_at(file, root.mark(), "a second YAML document begins here",
                     "a sweep file holds one study: remove the line '---' or write two files");
  } catch (const Refused& refused) {
    return fail_at(file, refused.mark, refused.message, refused.hint);
  } catch (const YAML::Exception& error) {
    const SourceMark mark = to_mark(error.mark);
    return fail_at(file, mark, "not valid YAML: " + error.msg, syntax_hint(text, mark));
  }
  return builder.take();
}

}  // namespace gantry::spec
