#pragma once
/// Numbers as people write them. Decimals keep ranges exact (0..1 step 0.1 has 0.3, not
/// 0.30000000000000004); the formatting functions write the shortest text that means the number.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gantry {

/// Room for products of 64-bit numbers, so that overflow is seen and not suffered.
__extension__ typedef __int128 WideInt;  // NOLINT(modernize-use-using): __extension__ wants it so

/// digits / 10^scale.
struct Decimal {
  std::int64_t digits = 0;
  std::uint8_t scale = 0;  ///< 0 to 18
};

/// "12", "-0.25", "1e-3"; nothing when it is no number or has more digits than fit.
std::optional<Decimal> parse_decimal(std::string_view text);

/// The same value with that many decimals; nothing when it does not fit. REQUIRES: scale >=
/// value.scale.
std::optional<std::int64_t> digits_at_scale(const Decimal& value, std::uint8_t scale);

/// Longest text that append_decimal adds.
inline constexpr std::size_t kMaxDecimalText = 40;

/// Without trailing zeros; the digits before the point padded with zeros to `width`.
void append_decimal(std::string& out, const Decimal& value, std::uint8_t width = 0);

/// The whole of `text` as a number ("1", "2.5", "-1e3"); no nan, inf, hexadecimal or surrounding
/// space.
std::optional<double> parse_number(std::string_view text);

/// The shortest text that reads back as the same number; integers without ".0".
std::string format_number(double value);
/// As %.<digits>g: rounds away the noise of a computation.
std::string format_rounded(double value, int digits);

}  // namespace gantry
