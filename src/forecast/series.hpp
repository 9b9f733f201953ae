#pragma once
/// What one thing is like over time (a host's pace, a link's bandwidth, a queue's wait), and what
/// it will be like: a Battery, times, and how good its forecasts were. Values that cannot be are
/// kept out. Reads no clock, allocates nothing. A plain value of eight kilobytes at most; one
/// thread.

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "base/time.hpp"
#include "forecast/battery.hpp"
#include "forecast/look_ahead.hpp"

namespace gantry::forecast {

/// What is possible for values of a kind, and their times.
struct SeriesKind {
  double lowest = 0;
  double highest = std::numeric_limits<double>::infinity();
  bool together = false;  ///< several values may have the same time
  /// A longer pause is taken for a clock that jumped, until the next value confirms it.
  Duration longest_pause = std::chrono::hours(24 * 7);
};

enum class Verdict : std::uint8_t {
  taken,
  not_a_number,
  infinite,
  out_of_bounds,  ///< of the kind
  not_later,      ///< its time is before, or the same as, that of the last one
  clock_jump,     ///< its time is much later
  absurd,         ///< far from all that was seen of late
};
/// For people: "is not a number".
[[nodiscard]] std::string_view reason(Verdict verdict);

class Series {
 public:
  explicit Series(const SeriesKind& kind = {}) : kind_(kind) {}

  /// What is not taken is counted and has no other effect, but for this: a second value in a row
  /// that is absurd in the same way is believed, and so is a third in a row whose time is before
  /// the last one's, because the thing or its clock has then really changed.
  Verdict observe(TimePoint at, double value);

  struct Forecast {
    double value = 0;
    double low = 0;  ///< four in five values lie from low to high
    double high = 0;
    std::string_view member;  ///< who of the battery says so
  };
  /// Of the value that comes so long after the last one. Nothing before the first one.
  [[nodiscard]] std::optional<Forecast> forecast(Duration ahead = {}) const;

  /// Of the forecasts of the next value, each made when the one before it had come.
  [[nodiscard]] const Accuracy& accuracy() const { return next_; }
  /// Of all that looked about so far ahead (made one, two, four, eight and sixteen values before).
  [[nodiscard]] Accuracy accuracy(Duration ahead) const;

  [[nodiscard]] std::uint64_t observations() const { return battery_.observations(); }
  [[nodiscard]] std::uint64_t quarantined() const { return quarantined_; }
  /// The last that was taken. kNever: none.
  [[nodiscard]] TimePoint last_time() const { return last_; }

 private:
  static constexpr std::size_t kKept = 16;

  /// What would have been said at some time.
  struct Made {
    TimePoint at{};
    double step = 0;  ///< seconds between two values, usually
    std::array<double, Battery::kHorizons.size()> values{};
  };

  [[nodiscard]] Verdict judge(TimePoint at, double value);
  [[nodiscard]] Verdict judge_time(TimePoint at);
  [[nodiscard]] Verdict judge_size(double value);
  [[nodiscard]] bool is_absurd(double value) const;
  void score(TimePoint at, double value);
  void remember(TimePoint at);
  [[nodiscard]] double bounded(double value) const;

  SeriesKind kind_;
  Battery battery_;
  LookAhead look_ahead_;
  Accuracy next_;
  SortedWindow<11> pauses_;         ///< seconds between values
  std::array<Made, kKept> made_{};  ///< after each of the last values
  std::uint64_t made_count_ = 0;
  TimePoint last_{};
  double value_ = 0;
  std::uint64_t quarantined_ = 0;
  // What is held against the next value; forgotten when one is taken.
  double absurd_value_ = 0;
  std::uint32_t absurd_in_a_row_ = 0;
  TimePoint odd_time_{};
  std::uint32_t odd_times_in_a_row_ = 0;
  // The last answer, until the next observation.
  mutable std::optional<Forecast> answer_;
  mutable Duration answered_{};
};

}  // namespace gantry::forecast
