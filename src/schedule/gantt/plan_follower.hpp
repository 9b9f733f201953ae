#pragma once
/// Hands out what a Gantt plan says as soon as it can begin: a host's tasks, and a link's files, go
/// in the order of the plan. Tasks that do not fit on every host are no part of a plan: hosts with
/// room take them. Owned by a strategy.

#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <vector>

#include "schedule/numbered_world.hpp"
#include "schedule/planning.hpp"
#include "schedule/scheduler.hpp"

namespace gantry::schedule {

class PlanFollower {
 public:
  /// `share_late`: a host that has done its part of the plan, or is ahead of it, takes tasks from
  /// others of its site whose start is overdue, if it will have done them earlier. Of a host that
  /// had no part nobody knows here how fast it is.
  explicit PlanFollower(bool share_late) : share_late_(share_late) {}

  /// From now on this plan; what is left of the last one is forgotten.
  void follow(GanttPlan chart, const NumberedWorld& numbers, TimePoint now);
  /// To be told of every event.
  void observe(const Event& event);

  /// How a plan and the world got along.
  struct Outcome {
    bool fits = true;   ///< false: a task that it names is not there any more
    bool idle = false;  ///< a host has room, and the plan nothing for it
  };
  Outcome hand_out(const World& world, Plan& plan);

  [[nodiscard]] std::size_t queued() const { return queued_; }
  /// Yet to be sent to the site, in order.
  [[nodiscard]] std::deque<FileId> queued_files(SiteId site) const {
    const auto queue = moves_.find(site);
    return queue != moves_.end() ? queue->second : std::deque<FileId>{};
  }
  /// By which part of the time ahead tasks began earlier or later than the plan said.
  [[nodiscard]] double deviation() const { return ahead_ > 0 ? off_ / ahead_ : 0; }

 private:
  struct Entry {
    ClassId task_class;
    TimePoint start;  ///< as planned
    Duration length;  ///< on the host that it was planned for
  };
  struct HostQueue {
    SiteId site;
    double speed = 0;  ///< work a second, of the planned tasks
    std::deque<Entry> entries{};
  };
  /// How many of each class this plan has handed out already.
  using Taken = std::map<ClassId, std::size_t>;

  void hand_out_tasks(const World& world, const HostLoad& load, Plan& plan, Outcome& outcome);
  void prefer_what_is_there(const World& world, SiteId site, HostQueue& queue);
  /// Hands over the first entry of a queue if it can begin on the host now.
  bool start_first(const World& world, const HostLoad& load, HostQueue& queue, Load& used,
                   Plan& plan, Outcome& outcome);
  /// A host's next task waits for files. Do they come by themselves, ahead of it? If not, and if
  /// the depot has room, it is handed over: then the engine has them sent.
  bool fetch_with_task(const World& world, const Host& host, const std::vector<FileId>& files);
  [[nodiscard]] HostQueue* most_overdue(const World& world, const HostQueue& mine);
  void hand_out_choosy(const World& world, const HostLoad& load, Load used, Plan& plan);
  void hand_out_moves(const World& world, Plan& plan);

  bool share_late_;
  TimePoint planned_at_ = kNever;
  Seconds off_ = 0;    ///< of all tasks that began: sum of differences to the plan
  Seconds ahead_ = 0;  ///< and of how long they were to wait
  std::map<HostId, HostQueue> hosts_;
  std::map<SiteId, std::vector<HostQueue*>> by_site_;
  std::size_t queued_ = 0;
  std::size_t ready_ = 0;  ///< tasks, after the last call
  std::map<SiteId, std::deque<FileId>> moves_;
  std::vector<ClassId> choosy_;
  Taken taken_;                         ///< during a call
  std::set<HostId> woken_;              ///< those that may have room since they were looked at
  std::set<HostId> waiting_for_files_;  ///< hosts of sites whose depots have a limit
  std::set<SiteId> fetched_for_;        ///< during a call: sites where room may be made for a task
  bool all_woken_ = true;
};

}  // namespace gantry::schedule
