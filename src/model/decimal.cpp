#include "model/decimal.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "base/characters.hpp"

namespace gantry {

namespace {

constexpr std::uint8_t kMaxScale = 18;

}  // namespace

std::optional<Decimal> parse_decimal(std::string_view text) {
  std::string_view rest = text;
  const bool negative = rest.starts_with('-');
  if (negative || rest.starts_with('+')) rest.remove_prefix(1);

  WideInt digits = 0;
  int scale = 0;
  bool point = false;
  bool any = false;
  while (!rest.empty() && (is_digit(rest.front()) || (rest.front() == '.' && !point))) {
    if (rest.front() == '.') {
      point = true;
    } else {
      any = true;
      digits = digits * 10 + (rest.front() - '0');
      if (digits > INT64_MAX) return std::nullopt;
      if (point) ++scale;
    }
    rest.remove_prefix(1);
  }
  if (!any || scale > kMaxScale) return std::nullopt;

  if (!rest.empty()) {
    if (rest.front() != 'e' && rest.front() != 'E') return std::nullopt;
    rest.remove_prefix(1);
    if (rest.size() > 1 && rest.front() == '+' && is_digit(rest[1])) rest.remove_prefix(1);
    int exponent = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), exponent);
    if (error != std::errc{} || end != rest.data() + rest.size()) return std::nullopt;
    if (exponent < -64 || exponent > 64) return std::nullopt;
    scale -= exponent;
  }
  for (; scale < 0; ++scale) {
    digits *= 10;
    if (digits > INT64_MAX) return std::nullopt;
  }
  while (scale > 0 && digits % 10 == 0) {
    digits /= 10;
    --scale;
  }
  if (scale > kMaxScale) return std::nullopt;
  const auto value = static_cast<std::int64_t>(digits);
  return Decimal{negative ? -value : value, static_cast<std::uint8_t>(scale)};
}

std::optional<std::int64_t> digits_at_scale(const Decimal& value, std::uint8_t scale) {
  WideInt digits = value.digits;
  for (std::uint8_t s = value.scale; s < scale; ++s) {
    digits *= 10;
    if (digits > INT64_MAX || digits < -INT64_MAX) return std::nullopt;
  }
  return static_cast<std::int64_t>(digits);
}

void append_decimal(std::string& out, const Decimal& value, std::uint8_t width) {
  std::uint64_t digits = static_cast<std::uint64_t>(value.digits);
  if (value.digits < 0) {
    out.push_back('-');
    digits = 0 - digits;
  }
  std::uint8_t scale = value.scale;
  while (scale > 0 && digits % 10 == 0) {
    digits /= 10;
    --scale;
  }
  std::array<char, 24> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), digits).ptr;
  const auto size = static_cast<std::size_t>(end - buffer.data());
  // At least one digit stands before the point.
  const std::size_t whole = size > scale ? size - scale : 0;
  const std::size_t wanted = width > 1 ? width : 1;
  if (whole < wanted) out.append(wanted - whole, '0');
  out.append(buffer.data(), whole);
  if (scale == 0) return;
  out.push_back('.');
  if (size < scale) out.append(scale - size, '0');
  out.append(buffer.data() + whole, size - whole);
}

std::optional<double> parse_number(std::string_view text) {
  std::string_view rest = text;
  std::string_view unsigned_part = rest;
  if (rest.starts_with('-') || rest.starts_with('+')) unsigned_part.remove_prefix(1);
  if (rest.starts_with('+')) rest = unsigned_part;  // from_chars takes no plus
  // from_chars would also take "inf" and "nan".
  if (unsigned_part.empty() || (!is_digit(unsigned_part[0]) && unsigned_part[0] != '.')) {
    return std::nullopt;
  }
  double value = 0;
  const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (error != std::errc{} || end != rest.data() + rest.size()) return std::nullopt;
  return value;
}

std::string format_number(double value) {
  if (value == 0) value = 0;  // no "-0"
  std::array<char, 40> buffer{};
  // Plain digits for whole numbers up to 2^53, where every integer is exact: 100000, not 1e+05.
  const bool whole = std::abs(value) <= 9007199254740992.0 && value == std::floor(value);
  const auto end = whole ? std::to_chars(buffer.data(), buffer.data() + buffer.size(),
                                         static_cast<std::int64_t>(value))
                         : std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return {buffer.data(), end.ptr};
}

std::string format_rounded(double value, int digits) {
  std::array<char, 48> buffer{};
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                 std::chars_format::scientific, digits - 1);
  double rounded = value;
  std::from_chars(buffer.data(), end.ptr, rounded);
  return format_number(rounded);
}

}  // namespace gantry
