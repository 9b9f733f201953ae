#pragma once
/// Builds one JSON object on one line. Written by hand because a number must come out with the
/// digits that a task printed (a library would parse and round it), a million lines must take less
/// than a second, and text may be invalid UTF-8 (bad bytes become U+FFFD). Appends to a caller's
/// buffer; one thread.

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace gantry::cli {

class JsonLine {
 public:
  /// Opens the object in `out`, which must outlive this.
  explicit JsonLine(std::string& out) : out_(out) { out_ += '{'; }

  JsonLine& text(std::string_view name, std::string_view value);
  JsonLine& number(std::string_view name, std::integral auto value) {
    key(name);
    out_ += std::to_string(value);
    return *this;
  }
  JsonLine& real(std::string_view name, double value);  ///< null when it is not finite
  JsonLine& real(std::string_view name, std::optional<double> value) {
    return value ? real(name, *value) : null(name);
  }
  JsonLine& flag(std::string_view name, bool value);
  JsonLine& null(std::string_view name);
  /// A number when the text is one by JSON's grammar, else a string.
  JsonLine& scalar(std::string_view name, std::string_view value);
  JsonLine& texts(std::string_view name, const std::vector<std::string>& values);
  /// An object; `fill(JsonLine&)` gives it its members.
  template <class Fill>
  JsonLine& object(std::string_view name, const Fill& fill) {
    key(name);
    JsonLine inner(out_);
    fill(inner);
    inner.close(false);
    return *this;
  }
  /// An object of scalars.
  JsonLine& scalars(std::string_view name,
                    const std::vector<std::pair<std::string, std::string>>& values);
  /// A list of objects; `fill(JsonLine&, item)` gives each its members.
  template <class Items, class Fill>
  JsonLine& objects(std::string_view name, const Items& items, const Fill& fill) {
    key(name);
    out_ += '[';
    bool first = true;
    for (const auto& item : items) {
      if (!std::exchange(first, false)) out_ += ',';
      JsonLine object(out_);
      fill(object, item);
      object.close(false);
    }
    out_ += ']';
    return *this;
  }
  /// Closes the object, with a line end when asked.
  void close(bool end_line = true);

 private:
  void key(std::string_view name);

  std::string& out_;
  bool first_ = true;
};

}  // namespace gantry::cli
