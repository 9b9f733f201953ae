#pragma once
/// One column of the Gantt chart for a link that carries one transfer at a time: when it is taken.
/// A plain value.

#include <algorithm>
#include <span>
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

  /// For each of some moments, which ascend, the end of what first_gap() finds. `arrivals` are the
  /// ends(start) of these moments, and become that.
  template <class Ends>
  void first_gap_each(std::span<const Seconds> from, const Ends& ends,
                      std::span<Seconds> arrivals) const;

  /// REQUIRES: a span that first_gap() found, with nothing reserved since, and a finite end.
  /// `useless(gap)`: can nothing ever use it? Such a gap beside the span is closed, so that nobody
  /// has to look into it again.
  template <class Useless>
  void reserve(Span span, const Useless& useless);
  void reserve(Span span) {
    reserve(span, [](Span) { return false; });
  }

  /// Taken, in order, with the gaps that were closed. Spans that touch are one.
  [[nodiscard]] const std::vector<Span>& taken() const { return taken_; }

 private:
  [[nodiscard]] static bool ends_by(Seconds at, const Span& span) { return at < span.end; }
  void take(Span span);

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

template <class Ends>
void LinkColumn::first_gap_each(std::span<const Seconds> from, const Ends& ends,
                                std::span<Seconds> arrivals) const {
  if (from.empty()) return;
  auto next = std::upper_bound(taken_.begin(), taken_.end(), from.front(), ends_by);
  auto passed = taken_.end();  // of all that have to wait for its end
  Seconds behind_passed = 0;   // this is the arrival
  for (std::size_t i = 0; i < from.size(); ++i) {
    while (next != taken_.end() && next->end <= from[i]) ++next;
    if (next == taken_.end()) return;
    if (from[i] < next->start && arrivals[i] <= next->start) continue;
    if (passed != next) {
      passed = next;
      behind_passed = first_gap(next->end, ends).end;
    }
    arrivals[i] = behind_passed;
  }
}

template <class Useless>
void LinkColumn::reserve(Span span, const Useless& useless) {
  if (span.end <= span.start) return;
  const auto next = std::upper_bound(taken_.begin(), taken_.end(), span.start, ends_by);
  if (next != taken_.end() && useless(Span{span.end, next->start})) span.end = next->start;
  const Seconds before = next == taken_.begin() ? 0 : (next - 1)->end;
  if (useless(Span{before, span.start})) span.start = before;
  take(span);
}

}  // namespace gantry::schedule
