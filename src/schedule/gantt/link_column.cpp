#include "schedule/gantt/link_column.hpp"

#include <cassert>
#include <iterator>

namespace gantry::schedule {

void LinkColumn::take(Span span) {
  auto next = std::upper_bound(taken_.begin(), taken_.end(), span.start, ends_by);
  assert(next == taken_.end() || span.end <= next->start);
  const bool touches_next = next != taken_.end() && next->start == span.end;
  if (next != taken_.begin() && std::prev(next)->end == span.start) {
    std::prev(next)->end = touches_next ? next->end : span.end;
    if (touches_next) taken_.erase(next);
  } else if (touches_next) {
    next->start = span.start;
  } else {
    taken_.insert(next, span);
  }
}

}  // namespace gantry::schedule
