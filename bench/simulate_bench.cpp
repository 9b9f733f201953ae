// Events a second of the simulator's kernel on one core. An item is an event that the driver sees;
// what the driver starts in answer to it is part of its cost. Every trace has 1,440 steps and is
// generated.
#include <benchmark/benchmark.h>

#include <vector>

#include "simulate/kernel.hpp"
#include "simulate/trace_generator.hpp"

namespace gantry::simulate {
namespace {

constexpr std::uint32_t kSteps = 1440;

Trace availability(Random& random) {
  static const auto kModel = availability_model({.mean = 0.7, .deviation = 0.2}).value();
  static const Trace kTrace = [] {
    Random seed(1);
    return kModel.generate(seed);
  }();
  return kTrace.shifted_at_random(random);
}

Trace bandwidth(Random& random) {
  static const Trace kTrace = [] {
    Random seed(2);
    return bandwidth_model({.mean = 1e6, .deviation = 4e5, .steps = kSteps}).value().generate(seed);
  }();
  return kTrace.shifted_at_random(random);
}

double any(Random& random, double most) {
  return most * static_cast<double>(random() >> 11U) * 0x1.0p-53;
}

/// Takes events, and starts for each what `again` starts.
template <class Again>
void drive(benchmark::State& state, Kernel& kernel, Again again) {
  for (auto _ : state) {
    const auto event = kernel.next();
    if (!event) {
      state.SkipWithError("nothing happens any more");
      break;
    }
    again(*event);
  }
  state.SetItemsProcessed(state.iterations());
}

/// 4 slots a host, always full; as many wait.
void computations(benchmark::State& state) {
  Random random(3);
  Kernel kernel;
  const auto hosts = static_cast<std::uint64_t>(state.range(0));
  for (std::uint64_t i = 0; i < hosts; ++i) {
    const HostIndex host = kernel.add_host({.availability = availability(random), .slots = 4});
    for (int task = 0; task < 8; ++task) {
      kernel.start_computation(host, any(random, 1000), Token(i));
    }
  }
  drive(state, kernel, [&](const KernelEvent& event) {
    kernel.start_computation(event.host, any(random, 1000), event.token);
  });
}

/// `range(1)` transfers on each of `range(0)` links, always.
void transfers(benchmark::State& state, LinkSharing sharing) {
  Random random(4);
  Kernel kernel;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    const LinkIndex link =
        kernel.add_link({.bandwidth = bandwidth(random), .latency = 0.05, .sharing = sharing});
    for (std::int64_t k = 0; k < state.range(1); ++k) {
      kernel.start_transfer(link, any(random, 1e7), Token(1));
    }
  }
  drive(state, kernel, [&](const KernelEvent& event) {
    kernel.start_transfer(event.link, any(random, 1e7), event.token);
  });
}

void timers(benchmark::State& state) {
  Random random(5);
  Kernel kernel;
  for (std::int64_t i = 0; i < state.range(0); ++i) {
    kernel.start_timer(any(random, 1000), Token(1));
  }
  drive(state, kernel, [&](const KernelEvent& event) {
    kernel.start_timer(event.time + any(random, 1000), event.token);
  });
}

/// A sweep on 20 sites behind a link each, half of them fair, with 50 hosts of 2 slots: input,
/// computation, output, next task.
void sweep(benchmark::State& state) {
  constexpr std::uint32_t kSites = 20;
  constexpr std::uint32_t kHosts = 50;
  Random random(6);
  Kernel kernel;
  for (std::uint32_t site = 0; site < kSites; ++site) {
    kernel.add_link({.bandwidth = bandwidth(random),
                     .latency = 0.05,
                     .sharing = site % 2 == 0 ? LinkSharing::fifo : LinkSharing::fair});
    for (std::uint32_t host = 0; host < kHosts; ++host) {
      kernel.add_host({.availability = availability(random), .slots = 2});
    }
  }
  // A token is the host; its lowest bit says whether the computation is still to come.
  for (std::uint32_t host = 0; host < kSites * kHosts; ++host) {
    for (int slot = 0; slot < 3; ++slot) {
      kernel.start_transfer(LinkIndex(host / kHosts), any(random, 1e6), Token(2 * host));
    }
  }
  drive(state, kernel, [&](const KernelEvent& event) {
    const auto host = static_cast<std::uint32_t>(event.token.value() / 2);
    const LinkIndex link(host / kHosts);
    if (event.token.value() % 2 == 0) {
      kernel.start_computation(HostIndex(host), any(random, 500), Token(2 * host + 1));
    } else {
      kernel.start_transfer(link, any(random, 1e5), Token(2 * host));
    }
  });
}

BENCHMARK(computations)->Arg(100)->Arg(10'000);
BENCHMARK_CAPTURE(transfers, fifo, LinkSharing::fifo)->Args({100, 50});
BENCHMARK_CAPTURE(transfers, fair, LinkSharing::fair)->Args({100, 50})->Args({1, 10'000});
BENCHMARK(timers)->Arg(1000)->Arg(1'000'000);
BENCHMARK(sweep);

}  // namespace
}  // namespace gantry::simulate

BENCHMARK_MAIN();
