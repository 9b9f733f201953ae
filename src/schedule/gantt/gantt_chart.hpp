#pragma once
/// The chart that sched() fills: a column for each link and for each host. Says what the completion
/// of a task on a host would be, and assigns it there. A value; the situation and the estimates it
/// was made from must outlive it.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "schedule/gantt/link_column.hpp"
#include "schedule/planning.hpp"

namespace gantry::schedule {

/// How a task's own, usually small, inputs travel.
enum class PrivateInputs : std::uint8_t {
  queued,      ///< behind every input that was planned before, however long it takes
  own_stream,  ///< one after the other, beside the site's link
};

struct ChartOptions {
  bool outputs_in_chart = true;  ///< else they are sent at once and take no room
  PrivateInputs private_inputs = PrivateInputs::own_stream;
};

/// A task on a host, as it would be or is.
struct Placement {
  Seconds start = kInfinite;
  Seconds end = kInfinite;       ///< of the computation
  Seconds returned = kInfinite;  ///< its completion: the output is home
};

class GanttChart {
 public:
  GanttChart(const Situation& situation, const Estimates& estimates, const ChartOptions& options);

  [[nodiscard]] Seconds host_free(std::uint32_t host) const { return host_free_[host]; }
  [[nodiscard]] bool has_file(std::uint32_t site, std::uint32_t file) const {
    return sites_[site].file_from[file] < kInfinite;
  }

  /// When all that a task of the class reads could be at the site: the missing shared files are
  /// appended to what was planned for its link, then come the private inputs. `no_transfer_before`:
  /// 0, or what an earlier call for the same class and site left there: no transfer finds a gap
  /// before then.
  [[nodiscard]] Seconds inputs_there(const TaskClass& task, std::uint32_t site,
                                     Seconds& no_transfer_before) const;

  /// When the output of a computation that ends at `end` would be home.
  [[nodiscard]] Seconds returned(const TaskClass& task, std::uint32_t site, Seconds end) const;
  /// The same for each of `ends`; cheaper if they ascend.
  void returned_each(const TaskClass& task, std::uint32_t site, std::span<const Seconds> ends,
                     std::span<Seconds> returned) const;

  /// What assign() would give.
  [[nodiscard]] Placement fit(std::uint32_t task_class, std::uint32_t host) const;

  /// Appends a task of the class to the host's column and reserves its transfers.
  /// REQUIRES: fit(task_class, host).returned is finite.
  Placement assign(std::uint32_t task_class, std::uint32_t host);

  /// Tasks in the order of their assignment, transfers by the time of their start.
  [[nodiscard]] GanttPlan plan() &&;

 private:
  struct Site {
    LinkColumn inbound;
    LinkColumn outbound;  ///< unused with same_stream
    bool same_stream = true;
    Seconds last_input = 0;      ///< end of the last input planned for the link
    Seconds private_stream = 0;  ///< when the stream of private inputs is free
    std::vector<Seconds> file_from;
    [[nodiscard]] const LinkColumn& homeward() const { return same_stream ? inbound : outbound; }
  };

  /// The transfers that a task of some class would need before it can start.
  struct Inputs {
    std::vector<std::pair<std::uint32_t, Span>> shared;
    Span own;
  };
  /// As inputs_there(), and tells which transfers that takes if `inputs` is given.
  Seconds fit_inputs(const TaskClass& task, std::uint32_t site, Seconds& no_transfer_before,
                     Inputs* inputs) const;
  [[nodiscard]] Span shared_span(std::uint32_t site, Seconds from, double bytes) const;
  [[nodiscard]] Span private_span(std::uint32_t site, Seconds after_shared, double bytes) const;
  [[nodiscard]] Span output_span(const TaskClass& task, std::uint32_t site, Seconds end) const;
  [[nodiscard]] bool useless(std::uint32_t site, Span gap, bool inputs, bool outputs) const;
  void reserve_input(std::uint32_t site, Span span);
  void reserve_output(std::uint32_t site, Span span);
  Seconds assign_inputs(const TaskClass& task, std::uint32_t site);

  const Situation* situation_;
  const Estimates* estimates_;
  ChartOptions options_;
  double least_input_ = kInfinite;  ///< bytes of the smallest that may need a gap
  double least_output_ = kInfinite;
  std::vector<Site> sites_;
  std::vector<Seconds> host_free_;
  GanttPlan plan_;
};

}  // namespace gantry::schedule
