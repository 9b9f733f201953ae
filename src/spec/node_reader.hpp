#pragma once
/// Reads typed values from YAML nodes and complains with their place. Held by value during one
/// parse.

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/time.hpp"
#include "model/suggest.hpp"
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
  [[nodiscard]] Result<Duration> duration(const YamlNode& node, std::string_view key) const;
  /// REQUIRES: `most` fits the number's type.
  template <class Number = std::uint64_t>
  [[nodiscard]] Result<Number> count(const YamlNode& node, std::string_view key,
                                     std::uint64_t least, std::uint64_t most) const {
    TRY_ASSIGN(const std::uint64_t value, whole_number(node, key, least, most));
    return static_cast<Number>(value);
  }

  /// The place among `items` of the one that the node names.
  template <class Items>
  [[nodiscard]] Result<std::uint32_t> index_of(const YamlNode& node, std::string_view key,
                                               const Items& items, std::string_view what) const {
    TRY_ASSIGN(const auto name, text(node, key));
    std::vector<std::string> names;
    for (const auto& item : items) {
      if (item.name == name.text) return static_cast<std::uint32_t>(names.size());
      names.push_back(item.name);
    }
    return error(name.mark, fmt::format("there is no {} '{}'", what, name.text),
                 did_you_mean(name.text, names));
  }

  /// A key that may be missing: then `to` stays as it is.
  template <class T>
  [[nodiscard]] Result<> read(const YamlNode& map, std::string_view key, T& to) const {
    if (const YamlNode* node = find(map, key)) {
      TRY_ASSIGN(to, value<T>(*node, key));
    }
    return {};
  }
  template <class Number>
  [[nodiscard]] Result<> read_count(const YamlNode& map, std::string_view key, Number& to,
                                    std::uint64_t least, std::uint64_t most) const {
    if (const YamlNode* node = find(map, key)) {
      TRY_ASSIGN(to, count<Number>(*node, key, least, most));
    }
    return {};
  }

 private:
  template <class T>
  [[nodiscard]] Result<T> value(const YamlNode& node, std::string_view key) const {
    if constexpr (std::is_same_v<T, SourceText> || std::is_same_v<T, std::optional<SourceText>>)
      return text(node, key);
    if constexpr (std::is_same_v<T, std::vector<SourceText>>) return texts(node, key);
    if constexpr (std::is_same_v<T, bool>) return boolean(node, key);
    if constexpr (std::is_same_v<T, double>) return number(node, key);
    if constexpr (std::is_same_v<T, Duration>) return duration(node, key);
    if constexpr (std::is_same_v<T, std::string>)
      return text(node, key).map([](SourceText&& found) { return std::move(found.text); });
  }
  [[nodiscard]] Result<std::uint64_t> whole_number(const YamlNode& node, std::string_view key,
                                                   std::uint64_t least, std::uint64_t most) const;

  std::string file_;
};

}  // namespace gantry::spec
