#include "forecast/series.hpp"

#include <algorithm>
#include <cmath>

namespace gantry::forecast {

namespace {
/// Battery counts with no larger ones.
constexpr double kMostValue = 1e100;
/// So many values are needed to know what is absurd, and it is so many times the range of the last
/// ones away from them. (A range is at least half as wide as its values are large.)
constexpr std::uint64_t kEnoughValues = 5;
constexpr double kAbsurd = 20;
constexpr double kLeastRange = 0.5;
/// Two absurd values within this factor of each other are no accident; nor are three in a row.
constexpr double kAlike = 4;
constexpr std::uint32_t kNoAccident = 3;
/// Of a first value that nobody has forecast: its mean absolute error, relative to it.
constexpr double kFirstGuess = 0.3;

/// In seconds, whatever the times are.
double between(TimePoint from, TimePoint to) {
  std::int64_t ns = 0;
  if (__builtin_sub_overflow(to_ns(to), to_ns(from), &ns))
    return from < to ? std::numeric_limits<double>::max() : std::numeric_limits<double>::lowest();
  return static_cast<double>(ns) * 1e-9;
}

std::size_t horizon_for(double ahead, double step) {
  constexpr double kFar = Battery::kHorizons.back();
  const double steps = step * kFar > ahead ? ahead / step : ahead > 0 ? kFar : 1;
  return Battery::nearest_horizon(static_cast<std::uint32_t>(std::lround(std::min(steps, kFar))));
}

bool alike(double a, double b) {
  return (a < 0) == (b < 0) && std::abs(a) <= kAlike * std::abs(b) &&
         std::abs(b) <= kAlike * std::abs(a);
}

}  // namespace

std::string_view reason(Verdict verdict) {
  constexpr std::array<std::string_view, 7> kReasons{
      "was taken",
      "is not a number",
      "is infinite",
      "is out of bounds",
      "is not later than the one before",
      "is so much later that a clock must have jumped",
      "is far from all that was seen"};
  return kReasons[static_cast<std::size_t>(verdict)];
}

Verdict Series::observe(TimePoint at, double value) {
  const Verdict verdict = judge(at, value);
  if (verdict != Verdict::taken) {
    ++quarantined_;
    return verdict;
  }
  absurd_in_a_row_ = odd_times_in_a_row_ = 0;
  answer_.reset();
  if (at < last_) made_count_ = 0;  // nothing that was said before can come due by this clock
  score(at, value);
  battery_.observe(value);
  last_ = at;
  value_ = value;
  remember(at);
  return Verdict::taken;
}

Verdict Series::judge(TimePoint at, double value) {
  if (std::isnan(value)) return Verdict::not_a_number;
  if (std::isinf(value)) return Verdict::infinite;
  if (value < kind_.lowest || value > kind_.highest || std::abs(value) > kMostValue)
    return Verdict::out_of_bounds;
  if (battery_.observations() == 0) return Verdict::taken;
  const Verdict of_time = judge_time(at);
  return of_time == Verdict::taken ? judge_size(value) : of_time;
}

Verdict Series::judge_size(double value) {
  if (!is_absurd(value)) return Verdict::taken;
  const bool again = absurd_in_a_row_ > 0 && alike(absurd_value_, value);
  absurd_value_ = value;
  return ++absurd_in_a_row_ >= kNoAccident || again ? Verdict::taken : Verdict::absurd;
}

bool Series::is_absurd(double value) const {
  if (battery_.observations() < kEnoughValues) return false;
  const double low = battery_.recent().lowest();
  const double high = battery_.recent().highest();
  const double range = std::max(high - low, kLeastRange * std::max(std::abs(low), std::abs(high)));
  return range > 0 && std::max(value - high, low - value) > kAbsurd * range;
}

Verdict Series::judge_time(TimePoint at) {
  const double since = between(last_, at);
  const bool later = since > 0 || (since == 0 && kind_.together);
  if (later && since <= seconds(kind_.longest_pause)) return Verdict::taken;
  // Odd times are believed when they make sense among themselves.
  const double since_odd = odd_times_in_a_row_ > 0 ? between(odd_time_, at) : 0;
  const bool again = since_odd > 0 && since_odd <= seconds(kind_.longest_pause);
  odd_times_in_a_row_ = again ? odd_times_in_a_row_ + 1 : 1;
  odd_time_ = at;
  if (later) return again ? Verdict::taken : Verdict::clock_jump;
  return odd_times_in_a_row_ < kNoAccident ? Verdict::not_later : Verdict::taken;
}

void Series::score(TimePoint at, double value) {
  const double guess = kFirstGuess * std::abs(value_);
  for (std::uint64_t ago = 1; ago <= std::min<std::uint64_t>(made_count_, kKept); ago *= 2) {
    const Made& made = made_[(made_count_ - ago) % kKept];
    const double ahead = between(made.at, at);
    const double miss = value - made.values[horizon_for(ahead, made.step)];
    const bool inside = look_ahead_.score(ahead, miss, value, guess);
    if (ago == 1) add(next_, miss, value, inside);
  }
}

void Series::remember(TimePoint at) {
  if (made_count_ > 0) pauses_.push(between(made_[(made_count_ - 1) % kKept].at, at));
  Made& made = made_[made_count_++ % kKept];
  made.at = at;
  made.step = pauses_.size() > 0 ? pauses_.median() : 0;
  for (std::size_t i = 0; i < Battery::kHorizons.size(); ++i)
    made.values[i] = bounded(battery_.forecast(Battery::kHorizons[i])->value);
}

double Series::bounded(double value) const {
  return std::clamp(value, kind_.lowest, kind_.highest);
}

std::optional<Series::Forecast> Series::forecast(Duration ahead) const {
  if (battery_.observations() == 0) return std::nullopt;
  if (answer_ && answered_ == ahead) return answer_;
  const Made& made = made_[(made_count_ - 1) % kKept];
  const double far = std::max(seconds(ahead), 0.0);
  const std::size_t horizon = horizon_for(far, made.step);
  const double value = made.values[horizon];
  const Margin margin = look_ahead_.margin(far, kFirstGuess * std::abs(value_));
  answer_ = Forecast{value, bounded(value - margin.below), bounded(value + margin.above),
                     battery_.forecast(Battery::kHorizons[horizon])->member};
  answered_ = ahead;
  return answer_;
}

Accuracy Series::accuracy(Duration ahead) const {
  return look_ahead_.accuracy(std::max(seconds(ahead), 0.0));
}

}  // namespace gantry::forecast
