#pragma once
/// Text with placeholders: `{seed}` stands for a parameter's value, `{{` and `}}` for braces.
/// Parsed once, then rendered for each task. Immutable after parsing; any thread.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "model/source_mark.hpp"

namespace gantry {

/// What of a value is substituted, spelt as GNU parallel does: {} {.} {/} {//} {/.}
enum class ValuePart : std::uint8_t {
  whole,
  no_extension,
  base_name,
  directory,
  base_name_no_extension
};

/// How a value is written where it stands.
enum class ValueQuoting : std::uint8_t {
  none,
  shell_word,
  inside_single,
  inside_double,
  after_name,  ///< inside double quotes, right after $NAME
};

/// The names that may stand in braces, each for a slot; several may stand for one.
class SlotNames {
 public:
  void add(std::string name, std::uint32_t slot) { names_.emplace_back(std::move(name), slot); }
  [[nodiscard]] std::optional<std::uint32_t> find(std::string_view name) const;
  /// "did you mean …?" or the list of what there is.
  [[nodiscard]] std::string suggest(std::string_view name) const;

 private:
  std::vector<std::pair<std::string, std::uint32_t>> names_;
};

class TextTemplate {
 public:
  /// A constant empty text.
  TextTemplate() = default;
  /// Braces that hold no placeholder are kept as they are, unless others of the same text are
  /// doubled: then all literal braces must be.
  static Result<TextTemplate> parse(const SourceText& source, const SlotNames& names,
                                    const std::string& file);
  /// For a command that /bin/sh reads: every value is quoted for the place where it stands. Refused
  /// in places where no quoting is safe (here-documents, backticks, arithmetic, comments …).
  static Result<TextTemplate> parse_shell(const SourceText& source, const SlotNames& names,
                                          const std::string& file);

  /// Values by slot.
  void append_to(std::string& out, std::span<const std::string_view> values) const;

  [[nodiscard]] bool constant() const { return pieces_.empty(); }
  /// What follows the last placeholder; all of it when constant().
  [[nodiscard]] const std::string& tail() const { return tail_; }
  /// The slots that are used, each once.
  [[nodiscard]] std::vector<std::uint32_t> slots() const;
  /// An upper bound of the rendered length when slot s is at most longest[s] long.
  [[nodiscard]] std::size_t longest(std::span<const std::size_t> longest_values) const;
  /// Different values always give different texts: every value ends where its neighbour begins.
  /// `may_contain` tells whether some value of a slot has a character.
  [[nodiscard]] bool tells_values_apart(
      const std::function<bool(std::uint32_t slot, char c)>& may_contain) const;

 private:
  friend class TemplateParser;
  struct Piece {
    std::string before;
    std::uint32_t slot;
    ValuePart part;
    ValueQuoting quoting;
  };
  std::vector<Piece> pieces_;
  std::string tail_;
};

/// Letters, digits and '_', not beginning with a digit.
bool is_parameter_name(std::string_view name);

/// The part of a value that a placeholder asks for.
std::string_view value_part(std::string_view value, ValuePart part);

/// A placeholder's inside, split: "g/." is name "g" and part base_name_no_extension. The name may
/// be empty, a number or "#". Nothing when it is no placeholder.
struct PlaceholderName {
  std::string_view name;
  ValuePart part = ValuePart::whole;
};
std::optional<PlaceholderName> parse_placeholder(std::string_view inside);
/// Of all placeholders in the text, known or not; they point into it.
std::vector<std::string_view> placeholder_names(std::string_view text);
/// The text has at least one placeholder, known or not.
bool has_placeholder(std::string_view text);

}  // namespace gantry
