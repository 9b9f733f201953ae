#pragma once
/// From what each site fetches to who computes what when. Hosts are served in the order of time; a
/// host takes, of the files at its site, those whose tasks are most pressed, and of these tasks the
/// largest that ends before a deadline. What does not is left over: the less, the better the lists.
/// A value that refers to the situation and the estimates it was made from.

#include <cstdint>
#include <utility>
#include <vector>

#include "schedule/planning.hpp"

namespace gantry::schedule {

/// The files that each site fetches from home, in order.
using FetchLists = std::vector<std::vector<std::uint32_t>>;

struct Decoded {
  double left_over = 0;  ///< work of the tasks that found no place
  Seconds makespan = 0;  ///< when the last output is home
  GanttPlan plan{};      ///< if it was asked for
  /// By group of tasks that read the same files, and by site: what decided.
  std::vector<double> left_of_group{};
  std::vector<Seconds> idle_of_site{};             ///< seconds of hosts before the deadline
  std::vector<std::vector<std::uint32_t>> used{};  ///< by site: tasks that read each file
};

class FetchDecoder {
 public:
  FetchDecoder(const Situation& situation, const Estimates& estimates);

  [[nodiscard]] std::size_t groups() const { return groups_.size(); }
  [[nodiscard]] const std::vector<std::uint32_t>& files_of(std::size_t group) const {
    return groups_[group].files;
  }

  /// Cost: about a call of the estimates for each task. `keep_plan`: fill Decoded::plan.
  [[nodiscard]] Decoded decode(const FetchLists& lists, Seconds deadline, bool keep_plan) const;

 private:
  friend class FetchRun;

  /// Tasks that read the same files, by falling work.
  struct Group {
    std::vector<std::uint32_t> files;
    std::uint32_t first = 0;  ///< of its lots
    std::uint32_t last = 0;   ///< behind the last one
    double work = 0;
  };
  /// Tasks that cost the same.
  struct Lot {
    std::uint32_t task_class = 0;
    std::uint32_t count = 0;
    double work = 0;
  };
  struct Link {
    Seconds latency = 0;
    double bandwidth = kInfinite;
    [[nodiscard]] Seconds time(double bytes) const {
      return bytes > 0 ? latency + bytes / bandwidth : 0;
    }
  };

  void group_classes();
  void measure();

  const Situation* situation_;
  const Estimates* estimates_;
  std::vector<Group> groups_;
  std::vector<Lot> lots_;
  std::vector<double> speeds_;                              ///< of hosts, about
  std::vector<double> fastest_;                             ///< of hosts, for sure
  std::vector<Link> links_;                                 ///< of sites, about
  std::vector<std::vector<std::uint32_t>> groups_of_file_;  ///< those that read it
};

}  // namespace gantry::schedule
