#include "cli/terminal/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <ctime>
#include <limits>

#include "base/characters.hpp"

namespace gantry::cli {
namespace {

std::string local_time(TimePoint time, const char* format) {
  if (time == kNever) return "-";
  const std::time_t whole = to_ns(time) / 1'000'000'000;
  std::tm parts{};
  if (localtime_r(&whole, &parts) == nullptr) return "-";
  std::array<char, 32> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), format, &parts);
  return {text.data(), size};
}

}  // namespace

std::string format_duration(Duration duration) {
  const double s = seconds(duration);
  if (s < 0) return "-";
  if (s < 0.9995) return fmt::format("{:.0f} ms", s * 1000);
  if (s < 9.995) return fmt::format("{:.2f} s", s);
  if (s < 59.95) return fmt::format("{:.1f} s", s);
  const auto whole = static_cast<std::int64_t>(std::llround(s));
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  if (whole < 86400) return fmt::format("{}h{:02}m", whole / 3600, whole / 60 % 60);
  return fmt::format("{}d{:02}h", whole / 86400, whole / 3600 % 24);
}

std::string format_eta(const Eta& eta) {
  const auto rounded = [](Duration time) {
    const double s = seconds(time);
    return s < 59.95 ? fmt::format("{:.0f} s", std::max(s, 1.0)) : format_duration(time);
  };
  std::string text = rounded(eta.expected);
  constexpr double kWorthTelling = 0.1;
  const std::string soonest = rounded(eta.soonest);
  const std::string latest = rounded(eta.latest);
  if (soonest == latest ||
      seconds(eta.latest - eta.soonest) < kWorthTelling * seconds(eta.expected))
    return text;
  return text + fmt::format(" ({} to {})", soonest, latest);
}

std::string format_rate(double per_second) {
  if (per_second >= 9.95) return fmt::format("{:.0f} tasks/s", per_second);
  return fmt::format("{:.2g} tasks/s", per_second);
}

std::string format_bandwidth(double bytes_per_second) {
  if (bytes_per_second >= 1e9) return fmt::format("{:.3g} GB/s", bytes_per_second / 1e9);
  return bytes_per_second >= 1e6 ? fmt::format("{:.3g} MB/s", bytes_per_second / 1e6)
                                 : fmt::format("{:.3g} kB/s", bytes_per_second / 1e3);
}

std::string format_time(TimePoint time) {
  return local_time(time, "%Y-%m-%d %H:%M:%S");
}

std::string format_time_short(TimePoint time, TimePoint now) {
  const bool this_year = local_time(time, "%Y") == local_time(now, "%Y");
  return local_time(time, this_year ? "%b %d %H:%M" : "%Y-%m-%d");
}

std::string format_time_iso(TimePoint time) {
  if (time == kNever) return {};
  const std::int64_t ns = to_ns(time);
  const std::time_t whole = ns / 1'000'000'000;
  std::tm parts{};
  if (gmtime_r(&whole, &parts) == nullptr) return {};
  std::array<char, 32> text{};
  const std::size_t size = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%S", &parts);
  return fmt::format("{}.{:03}Z", std::string_view(text.data(), size), ns / 1'000'000 % 1000);
}

std::optional<double> parse_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::string round_number(std::string_view text) {
  constexpr int kDigits = 6;
  if (text.find_first_of(".eE") == std::string_view::npos) return std::string(text);
  const auto value = parse_number(text);
  if (!value || !std::isfinite(*value)) return std::string(text);
  const std::string_view mantissa = text.substr(0, text.find_first_of("eE"));
  const std::size_t first = std::min(mantissa.find_first_of("123456789"), mantissa.size());
  const auto digits = std::count_if(mantissa.begin() + static_cast<std::ptrdiff_t>(first),
                                    mantissa.end(), is_digit);
  if (digits <= kDigits) return std::string(text);
  const double size = std::abs(*value);
  const int whole = size >= 1 && size < 1e15 ? static_cast<int>(std::log10(size)) + 1 : 0;
  return fmt::format("{:.{}g}", *value, std::max(kDigits, whole + 1));
}

std::optional<std::string> fit_number(std::string_view text, std::size_t width) {
  const auto value = parse_number(text);
  if (!value || !std::isfinite(*value)) return std::nullopt;
  if (text.size() <= width) return std::string(text);
  for (int digits = std::numeric_limits<double>::max_digits10; digits > 0; --digits)
    if (auto shorter = fmt::format("{:.{}g}", *value, digits); shorter.size() <= width)
      return shorter;
  return std::nullopt;
}

}  // namespace gantry::cli
