#include "simulate/svg_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "model/visible_text.hpp"

namespace gantry::simulate {

namespace {

std::string_view escaped(char c) {
  switch (c) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&#39;";
    default:
      return {};
  }
}

}  // namespace

std::string svg_text(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const Utf8Character next = first_character(text);
    const bool allowed = next.valid && next.point != 0xfffe && next.point != 0xffff;  // by XML
    if (const auto entity = escaped(text.front()); !entity.empty())
      result += entity;
    else if (!allowed)
      result += '?';
    else if (next.point < 0x20 || next.point == 0x7f)
      result += ' ';
    else
      result += text.substr(0, next.size);
    text.remove_prefix(next.valid && !allowed ? 1 : next.size);
  }
  return result;
}

std::string svg_number(double value) {
  std::string text = fmt::format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

std::string count_text(std::uint64_t count) {
  std::string text = fmt::format("{}", count);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

std::string count_text(std::uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", count_text(count), what, count == 1 ? "" : "s");
}

std::string duration_text(double seconds) {
  if (seconds < 10) return fmt::format("{:.3g} s", seconds);
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  struct Unit {
    std::uint64_t seconds;
    const char* name;
    std::uint64_t part;
    const char* part_name;
  };
  constexpr std::array<Unit, 3> kUnits{
      {{86400, "d", 3600, "h"}, {3600, "h", 60, "min"}, {60, "min", 1, "s"}}};
  for (const Unit& unit : kUnits) {
    // Up to ten minutes seconds say more.
    if (whole < unit.seconds || whole < 600) continue;
    const std::uint64_t rest = whole % unit.seconds / unit.part;
    if (rest == 0) return fmt::format("{} {}", whole / unit.seconds, unit.name);
    return fmt::format("{} {} {} {}", whole / unit.seconds, unit.name, rest, unit.part_name);
  }
  return fmt::format("{} s", whole);
}

std::string bytes_text(double bytes) {
  constexpr std::array kUnits{"B", "KB", "MB", "GB", "TB", "PB"};
  std::size_t unit = 0;
  while (bytes >= 999.5 && unit + 1 < kUnits.size()) {
    bytes /= 1000;
    ++unit;
  }
  if (bytes >= 10 || unit == 0) return fmt::format("{:.0f} {}", bytes, kUnits[unit]);
  return fmt::format("{} {}", svg_number(bytes), kUnits[unit]);
}

TimeAxis time_axis(double until, int marks) {
  constexpr std::array<double, 17> kReadable{1,   2,   5,    10,   15,   30,    60,    120,  300,
                                             600, 900, 1800, 3600, 7200, 10800, 21600, 43200};
  const double least = until / marks;
  double step = 86400;
  if (least <= 0.5) {
    step = std::pow(10, std::ceil(std::log10(std::max(least, 1e-9))));
  } else if (least > 43200) {
    while (step < least) step *= 2;
  } else {
    for (const double candidate : kReadable) {
      step = candidate;
      if (candidate >= least) break;
    }
  }
  if (step >= 86400) return {step, 86400, "d"};
  if (step >= 3600) return {step, 3600, "h"};
  if (step >= 60) return {step, 60, "min"};
  return {step, 1, "s"};
}

}  // namespace gantry::simulate
