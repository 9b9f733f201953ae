// The series that forecasts are tried on: generated ones, and those of files.
#include <fmt/format.h>

#include <algorithm>
#include <boost/random/normal_distribution.hpp>
#include <cmath>
#include <functional>
#include <numbers>

#include "base/fd.hpp"
#include "simulate/draws.hpp"
#include "simulate/forecast_experiment.hpp"
#include "simulate/trace_file.hpp"

namespace gantry::simulate {

namespace {

constexpr std::size_t kLength = 500;

/// One value after the other, never negative.
using NextValue = std::function<double()>;

/// All below share: a level from 50 to 150, noise relative to it.
struct Source {
  Random random;
  boost::random::normal_distribution<double> normal{0, 1};  // the same on every machine

  double noise() { return normal(random); }
  double level() { return between(random, 50, 150); }
  bool chance(double probability) { return unit_of(random()) < probability; }
};

NextValue autoregressive(Source& source) {
  const double memory = between(source.random, 0.3, 0.99);
  return [&source, memory, level = source.level(), away = source.noise()]() mutable {
    away = memory * away + std::sqrt(1 - memory * memory) * source.noise();
    return level * (1 + 0.2 * away);
  };
}

NextValue regimes(Source& source) {
  return [&source, level = source.level(), spread = 0.1]() mutable {
    if (source.chance(0.02)) {
      level = between(source.random, 10, 200);
      spread = between(source.random, 0.02, 0.22);
    }
    return level * (1 + spread * source.noise());
  };
}

NextValue cycle(Source& source) {
  const double length = between(source.random, 50, 300);
  const double height = between(source.random, 0.1, 0.5);
  const double spread = between(source.random, 0.01, 0.11);
  return [&source, length, height, spread, level = source.level(),
          at = between(source.random, 0, length)]() mutable {
    const double turn = 2 * std::numbers::pi * (at += 1) / length;
    return level * (1 + height * std::sin(turn) + spread * source.noise());
  };
}

NextValue spikes(Source& source) {
  return [&source, level = source.level()] {
    const double high = source.chance(0.05) ? between(source.random, 2, 10) : 1;
    return level * high * (1 + 0.05 * source.noise());
  };
}

/// Ten times as much, or a tenth.
NextValue steps(Source& source) {
  return [&source, level = source.level()]() mutable {
    if (source.chance(1.0 / 150)) {
      const bool up = level < 10 || (level < 1e4 && source.chance(0.5));
      level *= up ? 10 : 0.1;
    }
    return level * (1 + 0.05 * source.noise());
  };
}

NextValue walk(Source& source) {
  return [&source, level = source.level()]() mutable {
    return level *= std::exp(0.03 * source.noise());
  };
}

struct Kind {
  std::string_view name;
  NextValue (*make)(Source&);
};
constexpr std::array<Kind, 6> kKinds{{{"autoregressive", autoregressive},
                                      {"regimes", regimes},
                                      {"cycle", cycle},
                                      {"spikes", spikes},
                                      {"steps", steps},
                                      {"walk", walk}}};

std::vector<double> values_of(const Trace& trace) {
  std::vector<double> values;
  for (const TraceStep& step : trace.steps()) values.push_back(step.value);
  return values;
}

std::string half(std::string_view group, std::size_t place) {
  return fmt::format("{} {}", group, place % 2 == 0 ? "even" : "odd");
}

/// The first line that says something.
std::string_view first_line(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::size_t first = line.find_first_not_of(" \t\r");
    if (first != std::string_view::npos && line[first] != '#') return line;
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return {};
}

}  // namespace

std::vector<ForecastSeries> generated_series(std::uint64_t seed, std::uint32_t each) {
  std::vector<ForecastSeries> all;
  for (const Kind& kind : kKinds) {
    for (std::uint32_t i = 0; i < each; ++i) {
      Source source{.random = chance_for(seed, kind.name, i)};
      const NextValue next = kind.make(source);
      ForecastSeries series{std::string(kind.name), fmt::format("{}", i + 1), {}};
      while (series.values.size() < kLength) series.values.push_back(std::max(0.0, next()));
      all.push_back(std::move(series));
    }
  }
  return all;
}

Result<std::vector<ForecastSeries>> parse_series(std::string_view text, const std::string& name,
                                                 std::size_t place) {
  std::vector<ForecastSeries> all;
  const std::string_view line = first_line(text);
  const auto commas = std::count(line.begin(), line.end(), ',');
  const std::string file = std::filesystem::path(name).filename().string();
  if (commas > 1) {
    TRY_ASSIGN(const std::vector<HostTrace> hosts, parse_planetlab(text, name));
    for (std::size_t i = 0; i < hosts.size(); ++i)
      all.push_back({half("CPU", i), hosts[i].host, values_of(hosts[i].availability)});
  } else if (commas == 1) {
    TRY_ASSIGN(const Trace trace, parse_trace_csv(text, name));
    all.push_back({half("trace", place), file, values_of(trace)});
  } else {
    TRY_ASSIGN(const Trace trace, parse_bandwidth(text, name));
    all.push_back({half("bandwidth", place), file, values_of(trace)});
  }
  return all;
}

Result<std::vector<ForecastSeries>> load_series(const std::filesystem::path& path,
                                                std::size_t place) {
  TRY_ASSIGN(const std::string text, read_file(path));
  return parse_series(text, path.string(), place);
}

}  // namespace gantry::simulate
