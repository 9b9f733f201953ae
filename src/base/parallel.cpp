#include "base/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <thread>
#include <vector>

namespace gantry {

void in_parallel(std::size_t count, std::uint32_t threads,
                 const std::function<bool(std::size_t)>& work) {
  if (threads == 0) threads = std::max(std::thread::hardware_concurrency(), 1U);
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> stop = false;
  const auto run = [&] {
    for (std::size_t i = next.fetch_add(1); i < count && !stop; i = next.fetch_add(1))
      if (!work(i)) stop = true;
  };
  std::vector<std::jthread> running;
  for (std::size_t i = 0; i < std::min<std::size_t>(threads, count); ++i) running.emplace_back(run);
}

}  // namespace gantry
