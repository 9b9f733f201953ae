#pragma once
/// A value inside a JSON text, as it was written: numbers keep their digits, and nesting of any
/// depth costs no stack. Refers to the text, which must outlive it. Immutable; any thread.

#include <optional>
#include <string>
#include <string_view>

namespace gantry {

class JsonView {
 public:
  /// The whole document; nothing when `text` is not valid JSON. NaN, Infinity and -Infinity, as
  /// Python writes them, count as numbers.
  static std::optional<JsonView> parse(std::string_view text);

  /// The member of an object (the last one of that name), or the item of an array: "0" is the
  /// first, "-1" the last.
  [[nodiscard]] std::optional<JsonView> find(const std::string& key) const;
  [[nodiscard]] bool is_null() const { return value_ == "null"; }
  /// A string without its quotes and escapes; anything else as written, without the white space
  /// between its parts.
  [[nodiscard]] std::string text() const;

 private:
  explicit JsonView(std::string_view value) : value_(value) {}
  [[nodiscard]] std::optional<JsonView> member(const std::string& name) const;
  [[nodiscard]] std::optional<JsonView> item(const std::string& index) const;

  std::string_view value_;  ///< exactly one valid value
};

}  // namespace gantry
