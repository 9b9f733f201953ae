#pragma once
/// One column of the Gantt chart for a link that carries one transfer at a time: when it is taken.
/// A plain value.

#include <algorithm>
#include <vector>

#include "schedule/planning.hpp"

namespace gantry::schedule {

struct Span {
  Seconds start = 0;
  Seconds end = 0;
  friend bool operator==(const Span&, const Span&) = default;
};

class LinkColumn {
 public:
  /// What is under way keeps the link until then.
  explicit LinkColumn(Seconds free_from = 0) { reserve({0, free_from}); }

  /// Where the first gap after `from` is that holds a transfer; `ends(start)` tells when one ends
  /// that begins at `start`, and must not decrease. The end is infinite if it fits nowhere.
  template <class Ends>
  [[nodiscard]] Span first_gap(Seconds from, const Ends& ends) const;

  /// REQUIRES: a span that first_gap() found, with nothing reserved since, and a finite end.
  void reserve(Span span);

  /// Taken, in order. Spans that touch are one.
  [[nodiscard]] const std::vector<Span>& taken() const { return taken_; }

 private:
  [[nodiscard]] static bool ends_by(Seconds at, const Span& span) { return at < span.end; }

  std::vector<Span> taken_;
};

template <class Ends>
Span LinkColumn::first_gap(Seconds from, const Ends& ends) const {
  auto next = std::upper_bound(taken_.begin(), taken_.end(), from, ends_by);
  Seconds start = from;
  for (; next != taken_.end(); ++next) {
    if (start < next->start) {
      const Seconds end = ends(start);
      if (end <= next->start) return {start, end};
    }
    start = next->end;
  }
  return {start, ends(start)};
}

}  // namespace gantry::schedule
