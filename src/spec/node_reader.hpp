#pragma once
/// Reads typed values from YAML nodes and complains with their place. Held by value during one
/// parse.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.hpp"
#include "spec/yaml_tree.hpp"

namespace gantry::spec {

class NodeReader {
 public:
  explicit NodeReader(std::string file) : file_(std::move(file)) {}
  [[nodiscard]] const std::string& file() const { return file_; }

  [[nodiscard]] tl::unexpected<Error> error(SourceMark mark, std::string_view message,
                                            std::string hint = {}) const {
    return fail_at(file_, mark, message, std::move(hint));
  }
  /// "'cores' must be a number, not a list".
  [[nodiscard]] tl::unexpected<Error> wrong_type(const YamlNode& node, std::string_view key,
                                                 std::string_view expected) const;

  /// Every key of the map is one of `known`.
  [[nodiscard]] Result<> check_keys(const YamlNode& map, std::span<const std::string_view> known,
                                    std::string_view where) const;
  [[nodiscard]] static const YamlNode* find(const YamlNode& map, std::string_view key);

  [[nodiscard]] Result<SourceText> text(const YamlNode& node, std::string_view key) const;
  /// A scalar or a list of scalars.
  [[nodiscard]] Result<std::vector<SourceText>> texts(const YamlNode& node,
                                                      std::string_view key) const;
  [[nodiscard]] Result<bool> boolean(const YamlNode& node, std::string_view key) const;
  [[nodiscard]] Result<double> number(const YamlNode& node, std::string_view key) const;
  [[nodiscard]] Result<std::uint64_t> count(const YamlNode& node, std::string_view key,
                                            std::uint64_t least, std::uint64_t most) const;
  [[nodiscard]] Result<Duration> duration(const YamlNode& node, std::string_view key) const;

 private:
  std::string file_;
};

}  // namespace gantry::spec
