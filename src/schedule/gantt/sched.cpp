#include "schedule/gantt/sched.hpp"

#include <algorithm>
#include <cassert>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "schedule/gantt/class_slices.hpp"
#include "schedule/gantt/slice.hpp"

namespace gantry::schedule {

namespace {

class Sched {
 public:
  Sched(const Situation& situation, const Estimates& estimates, const SchedOptions& options);
  GanttPlan run() &&;

 private:
  [[nodiscard]] Seconds covered_at() const { return options_.horizon + options_.margin; }
  [[nodiscard]] bool all_covered();
  [[nodiscard]] Slice* next();
  void assign(Slice& slice);
  [[nodiscard]] BestHosts* shared_best_hosts(const TaskClass& like);

  SchedOptions options_;
  Drawing drawing_;
  std::vector<std::uint32_t> waiting_;                   ///< of each class
  std::map<double, std::unique_ptr<BestHosts>> shared_;  ///< by bytes of output; may be none
  std::vector<Slice> slices_;
  std::uint32_t uncovered_ = 0;     ///< a host that is not covered, as far as is known
  std::uint32_t uncovered_by_ = 0;  ///< a class that it can complete
};

/// When each host is free; never if it gets nothing because it is covered.
std::vector<Seconds> free_hosts(const Situation& situation, const SchedOptions& options) {
  std::vector<Seconds> free;
  for (const PlanHost& host : situation.hosts) {
    const Seconds from = std::max(host.free_from, 0.0);
    const bool left_out =
        options.enough == Enough::each_covered && from >= options.horizon + options.margin;
    free.push_back(left_out ? kInfinite : from);
  }
  return free;
}

Sched::Sched(const Situation& situation, const Estimates& estimates, const SchedOptions& options)
    : options_(options),
      drawing_(situation, estimates, options.heuristic, options.chart, options.seed,
               free_hosts(situation, options)) {
  for (const TaskClass& task : situation.classes) waiting_.push_back(task.waiting);
  if (situation.sites.empty()) return;
  for (auto& classes : class_slices(situation.classes, drawing_.ranks.of_class)) {
    BestHosts* shared = shared_best_hosts(situation.classes[classes.front()]);
    slices_.emplace_back(drawing_, std::move(classes), shared);
  }
}

/// For all classes with the same output, if most of their works occur in several slices: looking up
/// the works of others as well does not pay otherwise.
BestHosts* Sched::shared_best_hosts(const TaskClass& like) {
  if (options_.heuristic < Heuristic::sufferage) return nullptr;
  const auto [known, is_new] = shared_.try_emplace(like.output_bytes);
  if (is_new) {
    std::vector<double> works;
    for (const TaskClass& task : drawing_.situation.classes)
      if (task.waiting > 0 && task.output_bytes == like.output_bytes) works.push_back(task.work);
    const std::size_t classes = works.size();
    std::ranges::sort(works);
    works.erase(std::unique(works.begin(), works.end()), works.end());
    if (2 * works.size() <= classes)
      known->second = std::make_unique<BestHosts>(drawing_, std::move(works), like);
  }
  return known->second.get();
}

GanttPlan Sched::run() && {
  while (Slice* slice = next()) {
    // With each_covered nothing is left to choose from when there is enough.
    const Seconds free = drawing_.chart.host_free(slice->choice()->host);
    if (options_.enough == Enough::all_covered && free >= covered_at() && all_covered()) break;
    assign(*slice);
  }
  return std::move(drawing_.chart).plan();
}

/// Is every host covered that could still complete a task? One that is not is remembered: it mostly
/// answers the next call as well.
bool Sched::all_covered() {
  const auto hosts = static_cast<std::uint32_t>(drawing_.situation.hosts.size());
  const auto classes = static_cast<std::uint32_t>(waiting_.size());
  for (std::uint32_t h = 0; h < hosts; ++h) {
    if (drawing_.chart.host_free(uncovered_) < covered_at()) {
      for (std::uint32_t c = 0; c < classes; ++c) {
        if (waiting_[uncovered_by_] > 0 &&
            drawing_.chart.fit(uncovered_by_, uncovered_).returned < kInfinite)
          return false;
        uncovered_by_ = (uncovered_by_ + 1) % classes;
      }
    }
    uncovered_ = (uncovered_ + 1) % hosts;
  }
  return true;
}

/// A slice that is not settled looks better than it is, or as good: if it is not the best even so,
/// nobody needs to know.
Slice* Sched::next() {
  for (;;) {
    Slice* least = nullptr;
    for (Slice& slice : slices_)
      if (slice.choice() != nullptr &&
          (least == nullptr || slice.choice()->priority < least->choice()->priority))
        least = &slice;
    if (least == nullptr || least->settled()) return least;
    least->settle(drawing_);
  }
}

void Sched::assign(Slice& slice) {
  const Slice::Choice choice = *slice.choice();
  std::vector<std::uint32_t> sent;
  for (const std::uint32_t file : drawing_.situation.classes[choice.task_class].files)
    if (!drawing_.chart.has_file(choice.site, file)) sent.push_back(file);

  const Placement placed = drawing_.chart.assign(choice.task_class, choice.host);
  assert(placed.returned == choice.completion.returned);
  const bool leaves = options_.enough == Enough::each_covered && placed.end >= covered_at();
  drawing_.hosts.assigned(choice.site, choice.host, leaves ? kInfinite : placed.end);

  if (--waiting_[choice.task_class] == 0) slice.remove(drawing_, choice.task_class);
  for (Slice& each : slices_) each.update(drawing_, choice.site, each.reads_any_of(sent));
}

}  // namespace

GanttPlan sched(const Situation& situation, const Estimates& estimates,
                const SchedOptions& options) {
  return Sched(situation, estimates, options).run();
}

}  // namespace gantry::schedule
