#pragma once
/// How long jobs have waited in queues of batch sites, kept in the store for the next runs.

#include <string>

#include "engine/engine.hpp"
#include "model/grid.hpp"
#include "store/store.hpp"

namespace gantry::driver {

/// Tells the engine what earlier runs have seen of the site's queue. Returns what a person should
/// know: why what is there is not used.
[[nodiscard]] std::string recall_waits(const store::Store& store, const GridSite& site, SiteId id,
                                       engine::Engine& engine, TimePoint now);
/// Joins the open group. Nothing happens for sites whose queues nobody knows.
Result<> keep_waits(store::Store& store, const Grid& grid, const engine::Engine& engine,
                    TimePoint now);

}  // namespace gantry::driver
