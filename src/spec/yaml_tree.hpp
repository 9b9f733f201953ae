#pragma once
/// A YAML document as a tree of plain values with marks. Built from yaml-cpp's events under hard
/// limits, so that no input makes it recurse deeply, grow without bound or drop a duplicate key
/// silently.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "model/source_mark.hpp"

namespace gantry::spec {

inline constexpr std::size_t kMaxYamlBytes = std::size_t{16} << 20U;  ///< also what aliases repeat
inline constexpr std::size_t kMaxYamlDepth = 32;
inline constexpr std::size_t kMaxYamlNodes = 1'000'000;  ///< also counts what aliases repeat

struct YamlEntry;

struct YamlNode {
  enum class Kind : std::uint8_t { null, scalar, sequence, map };
  Kind kind = Kind::null;
  bool quoted = false;  ///< the scalar was written in quotes or as a block
  SourceText scalar;    ///< `scalar.mark` is set for every kind
  std::vector<YamlNode> items;
  std::vector<YamlEntry> entries;

  [[nodiscard]] SourceMark mark() const { return scalar.mark; }
  [[nodiscard]] const std::string& text() const { return scalar.text; }
  [[nodiscard]] bool is_scalar() const { return kind == Kind::scalar; }
  [[nodiscard]] bool is_sequence() const { return kind == Kind::sequence; }
  [[nodiscard]] bool is_map() const { return kind == Kind::map; }
  /// "a list", "text" …: for messages.
  [[nodiscard]] std::string_view kind_name() const;
};

/// One key of a map. A struct, because a pair of what is not complete yet does not compile with
/// clang.
struct YamlEntry {
  SourceText first;
  YamlNode second;
};

/// The first document of `text`; `file` is for messages.
Result<YamlNode> parse_yaml(std::string_view text, const std::string& file);

}  // namespace gantry::spec
