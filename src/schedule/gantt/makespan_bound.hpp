#pragma once
/// Lower bounds on when the waiting tasks of a situation can all be done, whoever plans: what a
/// scheduler reached is to be read as a distance from them. Pure functions.

#include "schedule/planning.hpp"

namespace gantry::schedule {

/// What hosts and links can do at most, between two moments in seconds from now. Answers never fall
/// when `until` grows, nor rise when `from` does; too much only weakens the bounds.
class Capacities {
 public:
  virtual ~Capacities() = default;
  /// The work that a slot can do.
  [[nodiscard]] virtual double work(std::uint32_t host, Seconds from, Seconds until) const = 0;
  /// The bytes that can arrive of what starts at `from` or later, over all streams; infinity at
  /// home.
  [[nodiscard]] virtual double bytes(std::uint32_t site, Seconds from, Seconds until,
                                     bool outbound) const = 0;
};

struct MakespanBounds {
  /// No file to wait for: the work of all tasks, and the longest of them.
  Seconds compute = 0;
  /// Files have to be there: no task before its files' earliest arrival, and each link carries what
  /// the tasks at its site need. Not before `compute`.
  Seconds data = 0;
};

struct MakespanBoundOptions {
  /// Tasks' own inputs share the links with shared files.
  bool private_inputs_on_link = true;
  /// So do their outputs.
  bool outputs_on_link = true;
};

/// Infinity when the tasks cannot be done at all. Costs some twenty linear programs over (files,
/// sites).
[[nodiscard]] MakespanBounds makespan_bounds(const Situation& situation,
                                             const Capacities& capacities,
                                             const MakespanBoundOptions& options = {});

}  // namespace gantry::schedule
