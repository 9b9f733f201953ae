#include "agent/limit_watch.hpp"

#include <algorithm>

namespace gantry::agent {

namespace {

/// Later than any clock reads, instead of an overflow.
SteadyTime later(SteadyTime now, Duration wait) {
  return SteadyTime::max() - now < wait ? SteadyTime::max() : now + std::max(wait, Duration{0});
}

}  // namespace

LimitWatch::LimitWatch(const Limits& limits, SteadyTime now) : limits_(limits) {
  if (limits.timeout > Duration{0}) deadline_ = later(now, limits.timeout);
  if (limits.memory > 0) memory_check_ = later(now, kMemoryInterval);
}

std::optional<Duration> LimitWatch::until_next_check(SteadyTime now) const {
  const SteadyTime next = std::min({deadline_, kill_at_, memory_check_});
  if (next == kNotEver) return std::nullopt;
  return std::max(Duration{0}, Duration(next - now));
}

LimitWatch::Do LimitWatch::on_time(SteadyTime now) {
  if (now >= kill_at_) return kill(now);
  if (now >= deadline_) return stop(Cause::timeout, now);
  return Do::nothing;
}

LimitWatch::Do LimitWatch::on_memory(std::uint64_t bytes, SteadyTime now) {
  memory_check_ = later(now, kMemoryInterval);
  if (bytes <= limits_.memory) return Do::nothing;
  // Not politely: the whole machine is at stake. Also when it was asked to end for another reason.
  memory_check_ = kNotEver;
  if (reason_ == Cause::none) reason_ = Cause::out_of_memory;
  return kill(now);
}

LimitWatch::Do LimitWatch::on_cancel(SteadyTime now) {
  return stop(Cause::cancelled, now);
}

LimitWatch::Do LimitWatch::stop(Cause why, SteadyTime now) {
  if (reason_ != Cause::none) return Do::nothing;
  reason_ = why;
  deadline_ = kNotEver;
  kill_at_ = later(now, limits_.grace);
  return Do::terminate;
}

LimitWatch::Do LimitWatch::kill(SteadyTime now) {
  deadline_ = kNotEver;
  killing_ = true;
  kill_at_ = later(now, kKillInterval);
  return Do::kill;
}

}  // namespace gantry::agent
