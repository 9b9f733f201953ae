#pragma once
/// The values one parameter can take: a list held in memory, or a rule that makes value i when
/// asked. Immutable; any thread.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/hash.hpp"
#include "base/result.hpp"
#include "model/decimal.hpp"

namespace gantry {

/// Which value: the index-th of a countable parameter, or the point at `fraction` of [0,1) of a
/// continuous one.
struct ValuePosition {
  std::uint32_t index = 0;
  double fraction = 0;
  friend bool operator==(const ValuePosition&, const ValuePosition&) = default;
};

class ParameterValues {
 public:
  static ParameterValues list(std::vector<std::string> values);
  /// from, from+step … up to and including `to`, exact decimals; a `from` with leading zeros pads
  /// all to its width.
  static Result<ParameterValues> range(std::string_view from, std::string_view to,
                                       std::string_view step);
  /// "1..200", "0..1 step 0.1"; nothing when the text does not look like a range.
  static std::optional<Result<ParameterValues>> range(std::string_view text);
  /// n values evenly spaced from `from` to `to`, both included.
  static Result<ParameterValues> linspace(double from, double to, std::uint32_t n);
  /// The same with a constant ratio. Both ends must be of one sign and not 0.
  static Result<ParameterValues> logspace(double from, double to, std::uint32_t n);
  static Result<ParameterValues> uniform(double from, double to);
  static Result<ParameterValues> loguniform(double from, double to);

  /// Continuous parameters only make sense in a sample.
  [[nodiscard]] bool continuous() const;
  /// How many values; 0 when continuous. May exceed what a sweep allows.
  [[nodiscard]] std::uint64_t size() const;
  /// The text that is substituted; may point into `scratch` (overwritten) or into this object.
  [[nodiscard]] std::string_view text(ValuePosition at, std::string& scratch) const;
  /// All values are numbers.
  [[nodiscard]] bool numeric() const { return numeric_; }
  /// No text is longer.
  [[nodiscard]] std::size_t longest() const { return longest_; }
  /// The values of a list; empty for every other kind.
  [[nodiscard]] std::span<const std::string> listed() const;
  /// No two values have the same text. Never true of a continuous parameter.
  [[nodiscard]] bool distinct() const;
  /// Some value may contain the character.
  [[nodiscard]] bool may_contain(char c) const;
  void add_to(Hasher& hasher) const;

 private:
  struct Listed {
    std::vector<std::string> values;
  };
  struct Range {
    std::int64_t first;
    std::int64_t step;
    std::uint64_t count;
    std::uint8_t scale;
    std::uint8_t width;
  };
  struct Spaced {
    double from;
    double to;
    std::uint32_t count;  ///< 0 = continuous
    bool logarithmic;
    std::vector<double> roots;  ///< of the ratio: root k is ratio^(2^-k-1)
  };
  using Kind = std::variant<Listed, Range, Spaced>;
  explicit ParameterValues(Kind kind);
  static Result<ParameterValues> spaced(double from, double to, std::uint32_t n, bool logarithmic);
  static std::string spaced_text(const Spaced& spaced, ValuePosition at);

  Kind kind_;
  bool numeric_ = true;
  std::size_t longest_ = kMaxDecimalText;
};

}  // namespace gantry
