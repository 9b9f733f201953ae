#include "driver/kept_waits.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "forecast/grid_forecast.hpp"

namespace gantry::driver {

namespace {

using forecast::QueueWaits;
using WaitsJson = nlohmann::json;

constexpr const char* kWaitsKind = "queue waits";
constexpr std::uint32_t kMostQueues = 100;
constexpr std::size_t kMostWaitsText = 16 << 10;

/// Jobs of another partition, or of whole tasks, wait for something else.
std::string queue_name(const GridSite& site) {
  return WaitsJson::array({site.name, site.batch.login, site.batch.queue,
                           site.batch.jobs > 0 ? "jobs" : "pilots"})
      .dump(-1, ' ', false, WaitsJson::error_handler_t::replace);
}

std::string waits_text(const QueueWaits& queue) {
  WaitsJson waits = WaitsJson::array();
  for (const auto& [at, seconds] : queue.recent())
    waits.push_back(WaitsJson::array({to_ns(at), seconds}));
  return WaitsJson{{"version", 1}, {"waits", std::move(waits)}}.dump();
}

/// Nothing when it is damaged. What they are is for the series to judge.
std::optional<std::vector<QueueWaits::Wait>> read_waits(const std::string& text) {
  if (text.size() > kMostWaitsText) return std::nullopt;
  const WaitsJson whole = WaitsJson::parse(text, nullptr, false);
  if (!whole.is_object() || whole.value("version", WaitsJson()) != 1) return std::nullopt;
  const WaitsJson rows = whole.value("waits", WaitsJson());
  if (!rows.is_array() || rows.size() > QueueWaits::kKept) return std::nullopt;
  std::vector<QueueWaits::Wait> waits;
  for (const WaitsJson& row : rows) {
    if (!row.is_array() || row.size() != 2 || !row[0].is_number_integer() || !row[1].is_number())
      return std::nullopt;
    waits.push_back({from_ns(row[0].get<std::int64_t>()), row[1].get<double>()});
  }
  return waits;
}

}  // namespace

std::string recall_waits(const store::Store& store, const GridSite& site, SiteId id,
                         engine::Engine& engine, TimePoint now) {
  if (!lends_by_jobs(site.access)) return {};
  const auto unused = [&](const std::string& why) {
    return fmt::format("what earlier runs have seen of the queue of {} is not used: {}", site.name,
                       why);
  };
  const auto stored = store.learned(kWaitsKind, queue_name(site));
  if (!stored) return unused(stored.error().message);
  if (!*stored) return {};
  const auto waits = read_waits((*stored)->value);
  if (!waits) return unused("it is damaged");
  // What is yet to come was stored before somebody set the clock.
  for (const auto& [at, seconds] : *waits)
    if (at <= now) engine.apply(QueueWaited{id, seconds, at});
  return {};
}

Result<> keep_waits(store::Store& store, const Grid& grid, const engine::Engine& engine,
                    TimePoint now) {
  for (std::uint32_t i = 0; i < grid.sites.size(); ++i) {
    const QueueWaits* queue = engine.seen().queue(SiteId(i));
    if (queue == nullptr || !lends_by_jobs(grid.sites[i].access)) continue;
    TRY(store.learn(kWaitsKind, {queue_name(grid.sites[i]), now, waits_text(*queue)}, kMostQueues));
  }
  return {};
}

}  // namespace gantry::driver
