#pragma once
/// A piecewise-constant, non-negative function of time: what a CPU leaves to us, what a link
/// carries, how long a batch queue makes one wait. Times are seconds from 0. An immutable value;
/// copies share the steps, so that a thousand hosts may use one trace, each with a shift of its
/// own.

#include <limits>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/result.hpp"

namespace gantry::simulate {

inline constexpr double kForever = std::numeric_limits<double>::infinity();

/// The source of all chance here: specified to the bit by the standard, so a seed means the same on
/// every machine.
using Random = std::mt19937_64;

/// `value` holds from `time` until the next step.
struct TraceStep {
  double time = 0;
  double value = 0;
  friend bool operator==(const TraceStep&, const TraceStep&) = default;
};

/// Why `step` cannot follow `before` (null: it is the first one); nothing when it can.
std::optional<std::string> trace_step_problem(const TraceStep* before, const TraceStep& step);

class Trace {
 public:
  /// The same value at all times. REQUIRES: finite, >= 0.
  explicit Trace(double constant = 1);

  /// The first step's value also holds before it, the last one's for ever; with a period (later
  /// than the last step) the whole starts again at each multiple of it. Fails when there are no
  /// steps, times do not rise, or a number is negative or not finite.
  static Result<Trace> make(std::vector<TraceStep> steps, std::optional<double> period = {});

  /// All times below are >= 0; every call is O(log steps).
  [[nodiscard]] double value(double time) const;
  /// REQUIRES: from <= to, both finite.
  [[nodiscard]] double integral(double from, double to) const;
  /// The first moment t >= from at which integral(from, t) reaches `amount`; kForever when it never
  /// does. An amount that comes out even with the beginning of a pause may, by its last bit, be
  /// done only after it. REQUIRES: amount >= 0.
  [[nodiscard]] double when_done(double from, double amount) const;
  /// The same for amounts that ascend, each of which is replaced by its moment: one walk for all.
  void when_done_each(double from, std::span<double> amounts) const;
  /// when_done() of one amount from each of these moments, which it replaces; cheaper if they
  /// ascend.
  void when_done_from_each(std::span<double> moments, double amount) const;

  /// This trace as seen by a clock that is `offset` ahead: value(t) becomes value(t + offset).
  /// REQUIRES: finite, >= 0.
  [[nodiscard]] Trace shifted(double offset) const;
  /// Shifted to any moment of its period (of its steps, if it has no period) with equal chance.
  [[nodiscard]] Trace shifted_at_random(Random& random) const;

  /// No value is larger. At once.
  [[nodiscard]] double largest() const;
  /// As given, before any shift.
  [[nodiscard]] std::vector<TraceStep> steps() const;
  [[nodiscard]] std::optional<double> period() const;

 private:
  struct Steps;
  /// A moment of the trace: so far into its step number `step`, after whole periods.
  struct Place;

  double constant_;
  double offset_ = 0;
  std::shared_ptr<const Steps> steps_;  ///< none when constant
};

}  // namespace gantry::simulate
