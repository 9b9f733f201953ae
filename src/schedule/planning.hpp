#pragma once
/// What a planner that knows files sees of the world, and what it answers. Plain values in seconds
/// from "now"; indices into these vectors instead of ids. Whoever builds a Situation keeps what the
/// indices mean. Tasks that read the same files and cost the same are one class: a million tasks
/// are a number here.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

namespace gantry::schedule {

/// Seconds after now. What is under way may have begun before: negative.
using Seconds = double;
inline constexpr Seconds kInfinite = std::numeric_limits<Seconds>::infinity();

struct SharedFile {
  double bytes = 0;
};

struct TaskClass {
  std::uint32_t waiting = 0;           ///< tasks that have neither started nor been promised a host
  double work = 1;                     ///< seconds on a host of speed 1 that is not loaded
  std::vector<std::uint32_t> files{};  ///< shared inputs, sorted
  double private_bytes = 0;            ///< inputs of each task's own, sent when it is assigned
  double output_bytes = 0;             ///< sent home when it has ended
};

/// One way for files from home to a site, used by one transfer at a time in the order of the plan.
struct SiteLink {
  Seconds free_from = 0;  ///< when what is under way there will be done
};

struct PlanSite {
  SiteLink inbound{};
  SiteLink outbound{};
  bool same_stream = true;  ///< inbound and outbound share one link: its column is `inbound`
  /// When each shared file is there: 0 = already, infinity = not on its way.
  std::vector<Seconds> file_from{};
};

struct PlanHost {
  std::uint32_t site = 0;
  Seconds free_from = 0;  ///< when what runs there will be done
};

struct Situation {
  std::vector<SharedFile> files;
  std::vector<TaskClass> classes;
  std::vector<PlanSite> sites;
  std::vector<PlanHost> hosts;  ///< one for each slot
};

/// When things will be done. The simulator's oracle, a noisy copy of it, and the forecasts of real
/// runs answer alike. No answer is before `from`, and none decreases when `from` or `bytes` grows.
class Estimates {
 public:
  virtual ~Estimates() = default;
  /// When a task of `work` that starts on the host at `from` ends; infinity = never.
  [[nodiscard]] virtual Seconds computed(std::uint32_t host, Seconds from, double work) const = 0;
  /// When a transfer between home and the site that starts at `from` has arrived.
  [[nodiscard]] virtual Seconds moved(std::uint32_t site, Seconds from, double bytes,
                                      bool outbound) const = 0;

  /// The same as computed() for each of `works`, which ascend. Override it where one walk is
  /// cheaper.
  virtual void computed_each(std::uint32_t host, Seconds from, std::span<const double> works,
                             std::span<Seconds> ends) const {
    for (std::size_t i = 0; i < works.size(); ++i) ends[i] = computed(host, from, works[i]);
  }
  /// The same as moved() for each of `starts`, which ascend and are not in the memory of
  /// `arrivals`.
  virtual void moved_each(std::uint32_t site, std::span<const Seconds> starts, double bytes,
                          bool outbound, std::span<Seconds> arrivals) const {
    for (std::size_t i = 0; i < starts.size(); ++i)
      arrivals[i] = moved(site, starts[i], bytes, outbound);
  }
  /// A speed that the host never exceeds: computed() >= from + work / fastest(), rounding included.
  /// The tighter, the fewer hosts a planner has to ask about.
  [[nodiscard]] virtual double fastest(std::uint32_t /*host*/) const { return kInfinite; }
};

struct PlannedTask {
  std::uint32_t task_class = 0;
  std::uint32_t host = 0;
  Seconds start = 0;
  Seconds end = 0;       ///< of the computation
  Seconds returned = 0;  ///< when its output is home
  friend bool operator==(const PlannedTask&, const PlannedTask&) = default;
};

/// A shared file, or the private inputs or the output of the planned task with this index.
struct PlannedTransfer {
  enum class What : std::uint8_t { shared_file, private_inputs, output };
  What what = What::shared_file;
  std::uint32_t index = 0;
  std::uint32_t site = 0;
  Seconds start = 0;
  Seconds end = 0;
  friend bool operator==(const PlannedTransfer&, const PlannedTransfer&) = default;
};

/// Each host runs its tasks, and each link its inputs, in this order; the times are what was
/// expected. Outputs are here only when they were given a place in the chart, and are sent when
/// they are there: one that is late holds up nobody.
struct GanttPlan {
  std::vector<PlannedTask> tasks;
  std::vector<PlannedTransfer> transfers;
  friend bool operator==(const GanttPlan&, const GanttPlan&) = default;
};

}  // namespace gantry::schedule
