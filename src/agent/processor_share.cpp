#include "agent/processor_share.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "agent/process_tree.hpp"
#include "base/fd.hpp"

namespace gantry::agent {

namespace {

/// All tasks together must have wanted so much: a quota lets a thread run for a tenth of a second,
/// and then wait, so that less is chance.
constexpr double kLeastWanted = 200e6;
/// And this part of the time that they lasted: what mostly sleeps is not slowed down.
constexpr double kLeastPart = 0.1;

}  // namespace

std::optional<ThreadTimes> parse_schedstat(std::string_view text) {
  ThreadTimes times;
  const char* const end = text.data() + text.size();
  const auto ran = std::from_chars(text.data(), end, times.ran);
  if (ran.ec != std::errc{} || ran.ptr == end || *ran.ptr != ' ') return std::nullopt;
  const auto waited = std::from_chars(ran.ptr + 1, end, times.waited);
  if (waited.ec != std::errc{}) return std::nullopt;
  return times;
}

/// While its threads sleep a task is not held up; nor is it for longer than it lasted, however many
/// threads it has.
void ProgressSum::add(const TaskTimes& task) {
  const auto lasted = static_cast<double>(task.lasted.count());
  if (!(lasted > 0)) return;
  const auto ran = static_cast<double>(task.spent.ran);
  const auto waited = static_cast<double>(task.spent.waited);
  lasted_ += lasted;
  if (ran + waited <= 0) return;
  const double wanted = std::min(ran + waited, lasted);
  wanted_ += wanted;
  waited_ += wanted * (waited / (ran + waited));
}

std::optional<std::uint32_t> ProgressSum::permille() const {
  if (wanted_ < kLeastWanted || wanted_ < kLeastPart * lasted_) return std::nullopt;
  return static_cast<std::uint32_t>(std::lround(1000 * (1 - waited_ / lasted_)));
}

std::optional<ThreadTimes> ProcessorShare::spent_by(pid_t shepherd,
                                                    std::map<pid_t, ThreadTimes>& seen) const {
  ThreadTimes sum;
  for (const pid_t pid : descendants(shepherd, kMostThreads + 1)) {
    for (const pid_t thread : threads(pid)) {
      if (seen.size() >= kMostThreads) return std::nullopt;
      const auto text = read_file("/proc/" + std::to_string(pid) + "/task/" +
                                  std::to_string(thread) + "/schedstat");
      const auto now = text ? parse_schedstat(*text) : std::nullopt;
      if (!now) continue;  // it has ended meanwhile, or the kernel does not tell
      seen[thread] = *now;
      const auto before = last_.find(thread);
      // One that spent more before is another one, which had the same number.
      const bool same = before != last_.end() && before->second.ran <= now->ran &&
                        before->second.waited <= now->waited;
      sum.ran += now->ran - (same ? before->second.ran : 0);
      sum.waited += now->waited - (same ? before->second.waited : 0);
    }
  }
  return sum;
}

std::optional<std::uint32_t> ProcessorShare::look(std::span<const Watched> tasks,
                                                  Clock::time_point now) {
  using std::chrono::nanoseconds;
  const nanoseconds since = looked_ ? now - *looked_ : nanoseconds::max();
  looked_ = now;
  std::map<pid_t, ThreadTimes> seen;
  ProgressSum sum;
  for (const Watched& task : tasks) {
    const auto spent = spent_by(task.shepherd, seen);
    if (!spent) break;
    sum.add({std::min(since, task.lasts), *spent});
  }
  last_ = std::move(seen);
  return sum.permille();
}

}  // namespace gantry::agent
