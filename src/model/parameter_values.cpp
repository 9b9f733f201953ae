#include "model/parameter_values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/characters.hpp"

namespace gantry {

namespace {

// 15 digits hide the rounding of one sum, 12 that of the 53 products of power_of(); drawn values
// have no more either, for nobody wants to read them.
constexpr int kGridDigits = 15;
constexpr int kComputedDigits = 12;

std::uint8_t padded_width(std::string_view from) {
  if (from.starts_with('-')) from.remove_prefix(1);
  const std::size_t whole = std::min(from.find('.'), from.size());
  return whole > 1 && whole <= 18 && from[0] == '0' ? static_cast<std::uint8_t>(whole) : 0;
}

/// ratio^fraction from square roots and products alone, which IEEE 754 rounds alike on every
/// machine; pow() and exp() differ in the last digit between C libraries.
double power_of(const std::vector<double>& roots, double fraction) {
  double product = 1;
  for (const double root : roots) {
    fraction *= 2;
    if (fraction >= 1) {
      product *= root;
      fraction -= 1;
    }
  }
  return product;
}

}  // namespace

ParameterValues::ParameterValues(Kind kind) : kind_(std::move(kind)) {
  const auto* listed = std::get_if<Listed>(&kind_);
  if (listed == nullptr) return;
  longest_ = 0;
  for (const auto& value : listed->values) {
    longest_ = std::max(longest_, value.size());
    numeric_ = numeric_ && parse_number(value).has_value();
  }
}

ParameterValues ParameterValues::list(std::vector<std::string> values) {
  return ParameterValues(Listed{std::move(values)});
}

Result<ParameterValues> ParameterValues::range(std::string_view from, std::string_view to,
                                               std::string_view step) {
  const auto number = [](std::string_view text, std::string_view what) -> Result<Decimal> {
    if (const auto value = parse_decimal(text)) return *value;
    return fail(ErrorCode::usage,
                fmt::format("{} '{}' of a range is not a decimal number", what, text));
  };
  TRY_ASSIGN(const Decimal first, number(from, "start"));
  TRY_ASSIGN(const Decimal last, number(to, "end"));
  TRY_ASSIGN(const Decimal stride, number(step, "step"));
  const std::uint8_t scale = std::max({first.scale, last.scale, stride.scale});
  const auto f = digits_at_scale(first, scale);
  const auto l = digits_at_scale(last, scale);
  const auto s = digits_at_scale(stride, scale);
  if (!f || !l || !s)
    return fail(ErrorCode::usage, "the numbers of this range have too many digits");
  if (*s == 0) return fail(ErrorCode::usage, "the step of a range cannot be 0");
  const WideInt distance = static_cast<WideInt>(*l) - *f;
  if (distance != 0 && (distance > 0) != (*s > 0)) {
    return fail(ErrorCode::usage, fmt::format("the range {}..{} step {} is empty", from, to, step),
                *s > 0 ? fmt::format("to count down, write {}..{} step -{}", from, to, step) : "");
  }
  const auto count = static_cast<std::uint64_t>(distance / *s) + 1;
  return ParameterValues(Range{*f, *s, count, scale, padded_width(from)});
}

std::optional<Result<ParameterValues>> ParameterValues::range(std::string_view text) {
  text = trim(text);
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) return std::nullopt;
  std::string_view from = trim(text.substr(0, dots));
  std::string_view to = trim(text.substr(dots + 2));
  std::string_view step = "1";
  if (const std::size_t word = to.find(" step "); word != std::string_view::npos) {
    step = trim(to.substr(word + 6));
    to = trim(to.substr(0, word));
  }
  if (const std::size_t word = to.find("step"); word != std::string_view::npos &&
                                                parse_number(from) &&
                                                parse_number(trim(to.substr(0, word))))
    return fail(ErrorCode::usage, fmt::format("the range {} needs spaces around 'step'", text),
                fmt::format("write '{}..{} step {}'", from, trim(to.substr(0, word)),
                            trim(to.substr(word + 4))));
  // "../meshes" and "a..b" are text; 1..x is a range gone wrong only when its start is a number.
  if (!parse_number(from) || !parse_number(to)) return std::nullopt;
  auto values = range(from, to, step);
  if (values && values->size() == 1 && *parse_number(from) != *parse_number(to) && step == "1")
    return fail(ErrorCode::usage,
                fmt::format("the range {} has a single value, as its step is 1", text),
                fmt::format("write a step: '{}..{} step 0.1'", from, to));
  return values;
}

Result<ParameterValues> ParameterValues::spaced(double from, double to, std::uint32_t n,
                                                bool logarithmic) {
  Spaced spaced{from, to, n, logarithmic, {}};
  if (!std::isfinite(from) || !std::isfinite(to) || !std::isfinite(to - from)) {
    return fail(ErrorCode::usage, "both ends must be finite numbers");
  }
  if (logarithmic) {
    const double ratio = to / from;
    if (!(ratio > 0) || !std::isfinite(ratio)) {
      return fail(ErrorCode::usage,
                  "both ends of a logarithmic scale must be above 0 (or both below)");
    }
    double root = ratio;
    for (int bit = 0; bit < 53; ++bit) spaced.roots.push_back(root = std::sqrt(root));
  }
  return ParameterValues(std::move(spaced));
}

Result<ParameterValues> ParameterValues::linspace(double from, double to, std::uint32_t n) {
  if (n == 0) return fail(ErrorCode::usage, "linspace needs at least 1 value");
  return spaced(from, to, n, false);
}
Result<ParameterValues> ParameterValues::logspace(double from, double to, std::uint32_t n) {
  if (n == 0) return fail(ErrorCode::usage, "logspace needs at least 1 value");
  return spaced(from, to, n, true);
}
Result<ParameterValues> ParameterValues::uniform(double from, double to) {
  return spaced(from, to, 0, false);
}
Result<ParameterValues> ParameterValues::loguniform(double from, double to) {
  return spaced(from, to, 0, true);
}

bool ParameterValues::continuous() const {
  const auto* spaced = std::get_if<Spaced>(&kind_);
  return spaced != nullptr && spaced->count == 0;
}

std::uint64_t ParameterValues::size() const {
  if (const auto* listed = std::get_if<Listed>(&kind_)) return listed->values.size();
  if (const auto* range = std::get_if<Range>(&kind_)) return range->count;
  return std::get<Spaced>(kind_).count;
}

std::string ParameterValues::spaced_text(const Spaced& spaced, ValuePosition at) {
  double fraction = at.fraction;
  if (spaced.count != 0) {
    if (at.index == 0) return format_number(spaced.from);
    if (at.index == spaced.count - 1) return format_number(spaced.to);
    fraction = static_cast<double>(at.index) / (spaced.count - 1);
  }
  if (spaced.logarithmic) {
    return format_rounded(spaced.from * power_of(spaced.roots, fraction), kComputedDigits);
  }
  const double value = spaced.from + (spaced.to - spaced.from) * fraction;
  return format_rounded(value, spaced.count == 0 ? kComputedDigits : kGridDigits);
}

std::string_view ParameterValues::text(ValuePosition at, std::string& scratch) const {
  if (const auto* listed = std::get_if<Listed>(&kind_)) return listed->values[at.index];
  if (const auto* range = std::get_if<Range>(&kind_)) {
    scratch.clear();
    // The product may need 65 bits, the sum is between the ends of the range.
    const WideInt digits = range->first + static_cast<WideInt>(range->step) * at.index;
    append_decimal(scratch, {static_cast<std::int64_t>(digits), range->scale}, range->width);
  } else {
    scratch = spaced_text(std::get<Spaced>(kind_), at);
  }
  return scratch;
}

std::span<const std::string> ParameterValues::listed() const {
  const auto* listed = std::get_if<Listed>(&kind_);
  return listed != nullptr ? std::span<const std::string>(listed->values)
                           : std::span<const std::string>();
}

bool ParameterValues::distinct() const {
  if (std::holds_alternative<Range>(kind_)) return true;
  if (!std::holds_alternative<Listed>(kind_))
    return false;  // neighbours may round to the same text
  std::vector<std::string_view> sorted(listed().begin(), listed().end());
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

bool ParameterValues::may_contain(char c) const {
  if (!std::holds_alternative<Listed>(kind_)) {
    return std::string_view("0123456789.-+e").find(c) != std::string_view::npos;
  }
  return std::any_of(listed().begin(), listed().end(),
                     [c](const std::string& value) { return value.find(c) != std::string::npos; });
}

void ParameterValues::add_to(Hasher& hasher) const {
  hasher.add(kind_.index());
  if (const auto* listed = std::get_if<Listed>(&kind_)) {
    hasher.add(listed->values.size());
    for (const auto& value : listed->values) hasher.add(value);
  } else if (const auto* range = std::get_if<Range>(&kind_)) {
    hasher.add(static_cast<std::uint64_t>(range->first))
        .add(static_cast<std::uint64_t>(range->step));
    hasher.add(range->count).add(range->scale).add(range->width);
  } else {
    const auto& spaced = std::get<Spaced>(kind_);
    hasher.add(format_number(spaced.from)).add(format_number(spaced.to));
    hasher.add(spaced.count).add(spaced.logarithmic ? 1 : 0);
  }
}

}  // namespace gantry
