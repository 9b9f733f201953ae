#pragma once
/// For tests: tasks whose memory is learnt, and how they end.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <variant>
#include <vector>

#include "engine/engine_fixture.hpp"
#include "engine/one_run.hpp"

namespace gantry::engine {

inline constexpr std::uint64_t kMebi = std::uint64_t{1} << 20U;

/// Task n has the parameter n.
inline Workload learners(std::uint32_t count, std::uint32_t cores = 1) {
  return {.count = count,
          .resources = [cores](TaskId) { return Resources{.cores = cores, .learn_memory = true}; },
          .learns_memory = true,
          .features =
              [](TaskId task) { return forecast::Features{static_cast<double>(task.value())}; }};
}

inline Host machine(std::uint32_t id, std::uint32_t cores, std::uint64_t mebi) {
  return {HostId(id), fmt::format("h{}", id), cores, mebi * kMebi};
}

inline AttemptEnded end_of(const StartAttempt& start, FailureCause cause, std::uint64_t used_mebi,
                           std::uint64_t limit = 0) {
  AttemptEnded event;
  event.report.key = start.key;
  event.report.cause = cause;
  event.report.started = at(0);
  event.report.ended = at(1);
  event.report.usage.max_rss = used_mebi * kMebi;
  event.report.memory_limit = limit;
  event.host = start.host;
  return event;
}

inline std::vector<StartAttempt> started(OneRun& engine) {
  std::vector<StartAttempt> list;
  for (const Action& action : engine.decide(at(2)))
    if (const auto* start = std::get_if<StartAttempt>(&action)) list.push_back(*start);
  return list;
}

/// Runs tasks until so many have succeeded, each with this much.
inline void let_succeed(OneRun& engine, std::size_t count, std::uint64_t used_mebi) {
  std::vector<StartAttempt> running;
  while (count > 0) {
    for (const StartAttempt& start : started(engine)) running.push_back(start);
    ASSERT_FALSE(running.empty());
    engine.apply(end_of(running.front(), FailureCause::none, used_mebi));
    running.erase(running.begin());
    --count;
  }
  for (const StartAttempt& start : running) engine.apply(AttemptReturned{start.key, start.host});
}

inline std::uint64_t given(const OneRun& engine, std::uint32_t task) {
  return engine.resources(TaskId(task)).memory / kMebi;
}

}  // namespace gantry::engine
