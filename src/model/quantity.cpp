#include "model/quantity.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "base/characters.hpp"
#include "model/decimal.hpp"

namespace gantry {

namespace {

// Longer than any run; the sum still fits nanoseconds in 64 bits.
constexpr double kMaxSeconds = 100.0 * 365 * 86400;

/// Takes "12.5" off the front.
std::optional<double> take_number(std::string_view& text) {
  std::size_t n = 0;
  while (n < text.size() && ((text[n] >= '0' && text[n] <= '9') || text[n] == '.')) ++n;
  const auto value = parse_number(text.substr(0, n));
  text = trim(text.substr(n));
  return value;
}

std::string_view take_letters(std::string_view& text) {
  std::size_t n = 0;
  while (n < text.size() &&
         ((text[n] >= 'a' && text[n] <= 'z') || (text[n] >= 'A' && text[n] <= 'Z')))
    ++n;
  const auto letters = text.substr(0, n);
  text = trim(text.substr(n));
  return letters;
}

std::optional<double> seconds_in(std::string_view unit) {
  constexpr std::array<std::pair<std::string_view, double>, 7> kUnits{
      {{"", 1}, {"ms", 0.001}, {"s", 1}, {"min", 60}, {"m", 60}, {"h", 3600}, {"d", 86400}}};
  for (const auto& [name, value] : kUnits) {
    if (name == unit) return value;
  }
  return std::nullopt;
}

/// [D-][HH:]MM:SS
std::optional<double> parse_clock(std::string_view text) {
  double days = 0;
  if (const auto dash = text.find('-'); dash != std::string_view::npos) {
    const auto value = parse_number(text.substr(0, dash));
    if (!value) return std::nullopt;
    days = *value;
    text = text.substr(dash + 1);
  }
  double total = 0;
  int fields = 0;
  for (;;) {
    const auto colon = text.find(':');
    const auto field = text.substr(0, colon);
    const auto value = parse_number(field);
    if (!value || *value < 0 || field.size() > 9 || ++fields > 3) return std::nullopt;
    total = total * 60 + *value;
    if (colon == std::string_view::npos) break;
    text = text.substr(colon + 1);
  }
  if (fields < 2) return std::nullopt;
  return days * 86400 + total;
}

std::optional<double> parse_units(std::string_view text) {
  double total = 0;
  bool first = true;
  while (!text.empty()) {
    const auto value = take_number(text);
    if (!value) return std::nullopt;
    const auto unit = take_letters(text);
    if (unit.empty() && !(first && text.empty())) return std::nullopt;  // "1h30"
    const auto factor = seconds_in(unit);
    if (!factor) return std::nullopt;
    total += *value * *factor;
    first = false;
  }
  if (first) return std::nullopt;
  return total;
}

}  // namespace

std::optional<std::uint64_t> parse_memory(std::string_view text) {
  constexpr double kKibi = 1024;
  constexpr double kKilo = 1000;
  text = trim(text);
  const auto value = take_number(text);
  if (!value) return std::nullopt;
  std::string unit(take_letters(text));
  if (!text.empty()) return std::nullopt;
  double factor = 1;
  if (!unit.empty() && unit != "B" && unit != "b") {
    const int power =
        static_cast<int>(std::string_view("KMGT").find(static_cast<char>(unit[0] & ~0x20))) + 1;
    const auto rest = std::string_view(unit).substr(1);
    if (power < 1) return std::nullopt;
    if (!rest.empty() && rest != "i" && rest != "iB" && rest != "B") return std::nullopt;
    factor = std::pow(rest == "B" ? kKilo : kKibi, power);
  }
  const double bytes = std::floor(*value * factor);
  if (!(bytes >= 0) || bytes > 9e18) return std::nullopt;
  return static_cast<std::uint64_t>(bytes);
}

std::optional<double> parse_bandwidth(std::string_view text) {
  if (!text.ends_with("/s")) return std::nullopt;
  text.remove_suffix(2);
  double divisor = 1;
  std::string amount(text);
  if (text.ends_with("bit")) {
    amount.replace(amount.size() - 3, 3, "B");
    divisor = 8;
  }
  const auto bytes = parse_memory(amount);
  if (!bytes || *bytes == 0) return std::nullopt;
  return static_cast<double>(*bytes) / divisor;
}

std::string format_bytes(std::uint64_t bytes) {
  constexpr std::array kUnits{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  // What would be rounded to 1024 is 1 of the next.
  for (; value >= 1023.5 && bytes >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return fmt::format("{:.4g} {}", value, kUnits[unit]);
}

std::string count_of(std::uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::optional<Duration> parse_duration(std::string_view text) {
  text = trim(text);
  const auto total =
      text.find(':') != std::string_view::npos ? parse_clock(text) : parse_units(text);
  if (!total || !(*total >= 0) || *total > kMaxSeconds) return std::nullopt;
  return from_seconds(*total);
}

}  // namespace gantry
