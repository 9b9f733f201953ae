#pragma once
/// How fast the tasks of this host got on, of the speed that they would have with the processors to
/// themselves: less when others compute here too, or when a quota holds them back. From how long
/// the kernel let their threads wait. Owned by the agent; a look finds a bounded number of
/// processes, and reads a file for each of a bounded number of threads.

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string_view>

namespace gantry::agent {

/// Of a thread, since it was made; nanoseconds.
struct ThreadTimes {
  std::uint64_t ran = 0;
  std::uint64_t waited = 0;  ///< for a processor, though it wanted to run
};
/// As /proc/PID/task/TID/schedstat has them.
[[nodiscard]] std::optional<ThreadTimes> parse_schedstat(std::string_view text);

/// Of the threads of one task, between two looks.
struct TaskTimes {
  std::chrono::nanoseconds lasted{0};
  ThreadTimes spent{};
};

/// Sums up tasks.
class ProgressSum {
 public:
  void add(const TaskTimes& task);
  /// In thousandths. Nothing when the tasks hardly wanted to compute: then what they waited says
  /// nothing.
  [[nodiscard]] std::optional<std::uint32_t> permille() const;

 private:
  double wanted_ = 0;  ///< nanoseconds, of one processor for each task at the most
  double waited_ = 0;  ///< of those
  double lasted_ = 0;
};

class ProcessorShare {
 public:
  using Clock = std::chrono::steady_clock;
  /// Threads looked at: what is beyond is not.
  static constexpr std::size_t kMostThreads = 256;

  /// A task that runs: its processes are the descendants of this one. `lasts`: since it began.
  struct Watched {
    pid_t shepherd = -1;
    std::chrono::nanoseconds lasts{0};
  };
  /// Since the last look, of tasks that run now. Nothing where the kernel does not tell, and when
  /// they hardly wanted to compute.
  std::optional<std::uint32_t> look(std::span<const Watched> tasks, Clock::time_point now);

 private:
  /// Nothing when not all could be looked at.
  std::optional<ThreadTimes> spent_by(pid_t shepherd, std::map<pid_t, ThreadTimes>& seen) const;

  std::map<pid_t, ThreadTimes> last_;  ///< by thread
  std::optional<Clock::time_point> looked_;
};

}  // namespace gantry::agent
