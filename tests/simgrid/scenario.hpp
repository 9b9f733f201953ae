#pragma once
/// A random grid and what it has to do, for the event kernel and for SimGrid alike: tasks that go
/// through their phases one after the other, each on one host or link, and try again what failed.
/// No two things happen at the same moment but by design, as the two simulators may order them
/// differently.

#include <cmath>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "simulate/kernel.hpp"

namespace gantry::simulate {

struct ScenarioOptions {
  LinkSharing sharing = LinkSharing::fifo;
  bool traces = false;
  bool outages = false;
};

/// One end of a task's phase.
struct PhaseEnd {
  std::uint32_t phase = 0;
  double time = 0;
  bool failed = false;
};

class Scenario {
 public:
  Scenario(const ScenarioOptions& options, std::uint64_t seed) : options_(options), random_(seed) {
    for (std::uint32_t i = 0; i < 1 + dice(4); ++i) hosts_.push_back(any_host());
    for (std::uint32_t i = 0; i < 1 + dice(3); ++i) links_.push_back(any_link());
    for (std::uint32_t i = 0; i < 5 + dice(30); ++i) tasks_.push_back(any_task());
  }

  /// What oracle.py reads.
  [[nodiscard]] nlohmann::json json() const;
  /// By task.
  [[nodiscard]] std::vector<std::vector<PhaseEnd>> run_in_kernel() const;

 private:
  struct Phase {
    bool transfer = false;
    std::uint32_t resource = 0;
    double amount = 0;
  };
  struct ScenarioTask {
    double at = 0;
    double retry = 0;
    std::vector<Phase> phases;
  };

  std::uint32_t dice(std::uint32_t sides) { return static_cast<std::uint32_t>(random_() % sides); }
  double between(double low, double high) {
    return low + (high - low) * static_cast<double>(random_() >> 11U) * 0x1.0p-53;
  }

  Trace any_trace(double low, double high, double pause) {
    if (!options_.traces) return Trace::make({{0, between(low, high)}}).value();
    std::vector<TraceStep> steps;
    double time = 0;
    for (std::uint32_t i = 0; i < 2 + dice(8); ++i) {
      // Some of them are pauses. The last step is none, so that all work comes to an end.
      steps.push_back({time, dice(6) == 0 ? pause : between(low, high)});
      time += between(1, 60);
    }
    steps.push_back({time, between(low, high)});
    const bool again = dice(3) != 0;
    return Trace::make(steps, again ? std::optional(time + between(1, 60)) : std::nullopt).value();
  }

  std::vector<Outage> any_outages() {
    std::vector<Outage> outages;
    double time = between(1, 100);
    for (std::uint32_t i = 0; options_.outages && i < dice(5); ++i) {
      const double until = time + between(1, 30);
      outages.push_back({time, until});
      time = until + between(10, 100);
    }
    return outages;
  }

  HostSpec any_host() {
    return {.speed = between(0.5, 4),
            .availability = any_trace(0.05, 1, 0),
            .slots = 1 + dice(3),
            .outages = any_outages()};
  }

  LinkSpec any_link() {
    // SimGrid takes a bandwidth of 0 for none that it has to heed.
    return {.bandwidth = any_trace(1e5, 1e7, 1),
            .latency = dice(3) == 0 ? 0 : between(0.001, 2),
            .sharing = options_.sharing,
            .streams = 1 + dice(3),
            .outages = any_outages()};
  }

  ScenarioTask any_task() {
    ScenarioTask task{.at = between(0, 50), .retry = between(0.5, 20), .phases = {}};
    for (std::uint32_t i = 0; i < 1 + dice(4); ++i) {
      const bool transfer = i % 2 == 0;
      const auto resources = static_cast<std::uint32_t>(transfer ? links_.size() : hosts_.size());
      // SimGrid counts whole bytes.
      const double amount = transfer ? std::floor(between(1, 5e7)) : between(0.1, 60);
      task.phases.push_back({transfer, dice(resources), amount});
    }
    return task;
  }

  ScenarioOptions options_;
  Random random_;
  std::vector<HostSpec> hosts_;
  std::vector<LinkSpec> links_;
  std::vector<ScenarioTask> tasks_;
};

inline nlohmann::json json_of(const Trace& trace) {
  nlohmann::json json;
  for (const TraceStep& step : trace.steps()) json["steps"].push_back({step.time, step.value});
  if (trace.period()) json["period"] = *trace.period();
  return json;
}

inline nlohmann::json json_of(const std::vector<Outage>& outages) {
  auto json = nlohmann::json::array();
  for (const Outage& outage : outages) json.push_back({outage.from, outage.until});
  return json;
}

inline nlohmann::json Scenario::json() const {
  nlohmann::json json;
  for (const HostSpec& host : hosts_) {
    json["hosts"].push_back({{"speed", host.speed},
                             {"slots", host.slots},
                             {"availability", json_of(host.availability)},
                             {"outages", json_of(host.outages)}});
  }
  for (const LinkSpec& link : links_) {
    json["links"].push_back({{"latency", link.latency},
                             {"streams", link.streams},
                             {"fair", link.sharing == LinkSharing::fair},
                             {"bandwidth", json_of(link.bandwidth)},
                             {"outages", json_of(link.outages)}});
  }
  for (const ScenarioTask& task : tasks_) {
    nlohmann::json phases;
    for (const Phase& phase : task.phases) {
      if (phase.transfer) {
        phases.push_back({{"link", phase.resource}, {"bytes", std::uint64_t(phase.amount)}});
      } else {
        phases.push_back({{"host", phase.resource}, {"work", phase.amount}});
      }
    }
    json["tasks"].push_back({{"at", task.at}, {"retry", task.retry}, {"phases", phases}});
  }
  return json;
}

inline std::vector<std::vector<PhaseEnd>> Scenario::run_in_kernel() const {
  Kernel kernel;
  for (const HostSpec& host : hosts_) kernel.add_host(host);
  for (const LinkSpec& link : links_) kernel.add_link(link);
  for (std::size_t i = 0; i < tasks_.size(); ++i) kernel.start_timer(tasks_[i].at, Token(i));
  std::vector<std::uint32_t> at(tasks_.size(), 0);  // by task: the phase it is in
  std::vector<std::vector<PhaseEnd>> ends(tasks_.size());
  while (const auto event = kernel.next()) {
    if (event->kind > KernelEvent::Kind::timer) continue;  // the state of a resource
    const std::size_t i = event->token.value();
    if (event->kind != KernelEvent::Kind::timer) {
      const bool failed = event->kind == KernelEvent::Kind::failed;
      ends[i].push_back({at[i], event->time, failed});
      if (failed) {
        kernel.start_timer(event->time + tasks_[i].retry, event->token);
        continue;
      }
      if (++at[i] == tasks_[i].phases.size()) continue;
    }
    const Phase& phase = tasks_[i].phases[at[i]];
    if (phase.transfer) {
      kernel.start_transfer(LinkIndex(phase.resource), phase.amount, event->token);
    } else {
      kernel.start_computation(HostIndex(phase.resource), phase.amount, event->token);
    }
  }
  return ends;
}

}  // namespace gantry::simulate
