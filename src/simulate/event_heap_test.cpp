#include "simulate/event_heap.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <map>
#include <tuple>

namespace gantry::simulate {
namespace {

// Against a sorted map: keys are few, so that equal ones, changes and removals are common.
TEST(EventHeapProperty, GivesTheSmallestWhateverHappenedBefore) {
  EXPECT_TRUE(rc::check([](const std::vector<std::tuple<std::uint8_t, std::uint8_t>>& steps) {
    EventHeap heap;
    EventHeap::Places places(64, EventHeap::kNowhere);
    std::map<std::uint32_t, double> keys;
    for (const auto& [dice, key] : steps) {
      const std::uint32_t item = dice % 64U;
      if (dice < 170) {
        heap.set({key / 16 * 1.0, 100U - item, item}, places);
        keys[item] = key / 16;
      } else {
        heap.erase(item, places);
        keys.erase(item);
      }
      RC_ASSERT(heap.size() == keys.size());
      if (keys.empty()) continue;
      std::pair<double, std::uint64_t> least{1e9, 0};
      for (const auto& [i, k] : keys) least = std::min(least, {k, std::uint64_t{100} - i});
      RC_ASSERT(heap.top().key == least.first);
      RC_ASSERT(heap.top().order == least.second);
      for (const auto& [i, k] : keys) RC_ASSERT(heap.key_of(i, places) == k);
    }
  }));
}

}  // namespace
}  // namespace gantry::simulate
