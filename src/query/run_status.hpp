#pragma once
/// Where a run stands: who drives it, how many tasks are in which state, and when it will end.
/// A plain value.

#include <cstdint>
#include <optional>
#include <string_view>

#include "query/agent_view.hpp"
#include "store/store.hpp"

namespace gantry::query {

enum class RunPhase : std::uint8_t {
  running,      ///< a gantry drives it
  interrupted,  ///< nobody drives it, and some tasks have not ended: run it again to continue
  finished,
};

std::string_view to_string(RunPhase phase);

/// The process that drives this run now. `holder` is what RunLock::holder() said.
std::optional<int> driver_of(const store::RunRecord& record, std::optional<int> holder);
RunPhase phase_of(const store::RunRecord& record, std::optional<int> holder);

struct RunStatus {
  RunPhase phase = RunPhase::finished;
  std::optional<int> driver{};  ///< the process
  store::Counts counts{};       ///< with what runs now, even without a gantry
  AgentView::Tally outlived{};  ///< tasks that have outlived their gantry; none if one drives
  std::uint32_t unknown = 0;    ///< pending by the journal, but at a site when gantry was killed
  std::uint32_t pending = 0;    ///< neither ended, running nor unknown
  Eta eta{};                    ///< the driver's forecast, less the time since; 0 if there is none
};

Result<RunStatus> status_of(const store::Store& store, const AgentView& agent,
                            const store::RunRecord& record, std::optional<int> holder,
                            TimePoint now);

}  // namespace gantry::query
