#include "query/run_status.hpp"

#include <algorithm>
#include <array>

namespace gantry::query {
namespace {

Eta eta_of(const store::RunRecord& record, TimePoint now) {
  if (record.eta.expected <= Duration{0}) return {};
  constexpr Duration kSoon = std::chrono::milliseconds(100);
  const Duration passed = std::max(now - record.updated, Duration{0});
  const auto left = [&](Duration rest) { return std::max(rest - passed, kSoon); };
  return {left(record.eta.expected), left(record.eta.soonest), left(record.eta.latest)};
}

/// Neither ended nor running.
std::uint32_t left_of(const store::Counts& counts) {
  const std::uint64_t accounted =
      std::uint64_t{counts.done} + counts.failed + counts.cancelled + counts.running;
  return accounted < counts.total ? static_cast<std::uint32_t>(counts.total - accounted) : 0;
}

}  // namespace

std::string_view to_string(RunPhase phase) {
  constexpr std::array<std::string_view, 3> kNames{"running", "interrupted", "finished"};
  return kNames[static_cast<std::size_t>(phase)];
}

std::optional<int> driver_of(const store::RunRecord& record, std::optional<int> holder) {
  // Holder 0 has not written its number yet; the record's own tells which run it drives.
  const bool driven = holder && record.pid != 0 && (*holder == 0 || *holder == record.pid);
  return driven ? std::optional<int>(record.pid) : std::nullopt;
}

RunPhase phase_of(const store::RunRecord& record, std::optional<int> holder) {
  if (driver_of(record, holder)) return RunPhase::running;
  return record.state == store::RunState::finished ? RunPhase::finished : RunPhase::interrupted;
}

Result<RunStatus> status_of(const store::Store& store, const AgentView& agent,
                            const store::RunRecord& record, std::optional<int> holder,
                            TimePoint now) {
  RunStatus status{.phase = phase_of(record, holder),
                   .driver = driver_of(record, holder),
                   .counts = record.counts};
  if (status.driver) {
    status.eta = eta_of(record, now);
  } else {
    TRY_ASSIGN(status.outlived, agent.count(store, record.id));
    status.counts.running =
        status.outlived.running;  // not the last figure of a driver that is gone
  }
  const std::uint32_t left = left_of(status.counts);
  status.unknown = std::min(left, status.outlived.unseen);
  status.pending = left - status.unknown;
  return status;
}

}  // namespace gantry::query
