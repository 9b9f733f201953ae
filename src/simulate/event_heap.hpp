#pragma once
/// A 4-ary heap of numbered items with a key each, from which any item can be taken. The items'
/// places are kept by the caller in one array for all heaps, as an item is in one heap at most.
/// By hand because the libraries' heaps with handles allocate a node for each item. Plain value.

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <limits>
#include <vector>

namespace gantry::simulate {

class EventHeap {
 public:
  static constexpr std::uint32_t kNowhere = std::numeric_limits<std::uint32_t>::max();
  using Places = std::vector<std::uint32_t>;  ///< by item: its place in its heap, or kNowhere

  /// The smallest key is on top; of equal ones the smallest order.
  struct Entry {
    double key = 0;
    std::uint64_t order = 0;
    std::uint32_t item = 0;
  };

  [[nodiscard]] bool empty() const { return entries_.empty(); }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  /// REQUIRES: not empty.
  [[nodiscard]] const Entry& top() const { return entries_.front(); }
  /// REQUIRES: the item is in this heap.
  [[nodiscard]] double key_of(std::uint32_t item, const Places& places) const {
    return entries_[places[item]].key;
  }

  /// Puts an item in, or changes its key.
  void set(const Entry& entry, Places& places) {
    std::uint32_t at = places[entry.item];
    if (at == kNowhere) {
      at = static_cast<std::uint32_t>(entries_.size());
      entries_.push_back(entry);
    }
    settle(at, entry, places);
  }

  /// Takes an item out, if it is in.
  void erase(std::uint32_t item, Places& places) {
    const std::uint32_t at = places[item];
    if (at == kNowhere) return;
    assert(entries_[at].item == item);
    places[item] = kNowhere;
    const Entry last = entries_.back();
    entries_.pop_back();
    if (last.item != item) settle(at, last, places);
  }

 private:
  static constexpr std::uint32_t kArity = 4;

  static bool before(const Entry& a, const Entry& b) {
    return a.key < b.key || (a.key == b.key && a.order < b.order);
  }

  void put(std::uint32_t at, const Entry& entry, Places& places) {
    entries_[at] = entry;
    places[entry.item] = at;
  }

  /// Lets `entry` rise or sink from the free place `at` to where it belongs.
  void settle(std::uint32_t at, const Entry& entry, Places& places) {
    while (at > 0) {
      const std::uint32_t parent = (at - 1) / kArity;
      if (!before(entry, entries_[parent])) break;
      put(at, entries_[parent], places);
      at = parent;
    }
    const auto count = static_cast<std::uint32_t>(entries_.size());
    for (std::uint32_t first = kArity * at + 1; first < count; first = kArity * at + 1) {
      std::uint32_t least = first;
      const std::uint32_t end = std::min(first + kArity, count);
      for (std::uint32_t child = first + 1; child < end; ++child) {
        if (before(entries_[child], entries_[least])) least = child;
      }
      if (!before(entries_[least], entry)) break;
      put(at, entries_[least], places);
      at = least;
    }
    put(at, entry, places);
  }

  std::vector<Entry> entries_;
};

}  // namespace gantry::simulate
