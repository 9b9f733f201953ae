// Observations a second of forecasts on one core: each is scored, taken in, and followed by a
// question. The values are autoregressive.
#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "base/chance.hpp"
#include "forecast/battery.hpp"
#include "forecast/series.hpp"

namespace gantry::forecast {
namespace {

constexpr std::size_t kValues = 1 << 16;

const std::vector<double>& values() {
  static const std::vector<double> kAll = [] {
    std::mt19937_64 random(1);
    std::vector<double> all;
    for (double away = 0; all.size() < kValues; away = 0.9 * away + unit_of(random()) - 0.5)
      all.push_back(100 + 10 * away);
    return all;
  }();
  return kAll;
}

void battery(benchmark::State& state) {
  const auto& all = values();
  Battery battery;
  std::size_t i = 0;
  for (auto _ : state) {
    battery.observe(all[i++ % kValues]);
    benchmark::DoNotOptimize(battery.forecast()->value);
  }
  state.SetItemsProcessed(state.iterations());
}

void series(benchmark::State& state) {
  const auto& all = values();
  Series series;
  std::size_t i = 0;
  TimePoint now{};
  for (auto _ : state) {
    series.observe(now += std::chrono::seconds(1), all[i++ % kValues]);
    benchmark::DoNotOptimize(series.forecast(std::chrono::seconds(4))->high);
  }
  state.SetItemsProcessed(state.iterations());
}

/// A value for each of many in turn: none is in the cache.
void many_series(benchmark::State& state) {
  const auto& all = values();
  std::vector<Series> many(static_cast<std::size_t>(state.range(0)));
  std::size_t i = 0;
  TimePoint now{};
  for (auto _ : state) {
    Series& one = many[i % many.size()];
    one.observe(now += std::chrono::milliseconds(1), all[i++ % kValues]);
    benchmark::DoNotOptimize(one.forecast(std::chrono::seconds(4))->high);
  }
  state.SetItemsProcessed(state.iterations());
}

/// The last answer, again.
void question(benchmark::State& state) {
  Series series;
  for (std::size_t i = 0; i < 1000; ++i)
    series.observe(TimePoint{} + std::chrono::seconds(i), values()[i]);
  for (auto _ : state) benchmark::DoNotOptimize(series.forecast(std::chrono::seconds(4))->value);
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(battery);
BENCHMARK(series);
BENCHMARK(many_series)->Arg(10'000);
BENCHMARK(question);

}  // namespace
}  // namespace gantry::forecast

BENCHMARK_MAIN();
