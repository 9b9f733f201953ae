#pragma once
/// Several descriptors to wait for, as one that others can wait for. One thread.

#include <set>
#include <vector>

#include "base/fd.hpp"

namespace gantry {

class ReadySet {
 public:
  ReadySet();

  struct Wanted {
    int fd = -1;  ///< ignored when negative
    bool to_send = false;
  };
  /// From now on these, and no others. A descriptor that was closed since, and opened again as
  /// another, is noticed.
  void watch(const std::vector<Wanted>& wanted);

  /// Readable when one of them is ready; -1 when the kernel gave none.
  [[nodiscard]] int fd() const { return epoll_.get(); }

 private:
  UniqueFd epoll_;
  std::set<int> watched_;
};

}  // namespace gantry
