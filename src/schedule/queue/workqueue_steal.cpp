#include "schedule/queue/workqueue_steal.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

#include "schedule/depot_room.hpp"
#include "schedule/numbered_world.hpp"
#include "schedule/queue/workqueue.hpp"

namespace gantry::schedule {

namespace {

/// A task that a host was given and that another one could take, or run too.
struct Candidate {
  TaskId task;
  std::size_t host = 0;   ///< that has it; its place in world.hosts
  bool behind = false;    ///< it waits behind others
  Duration left{};        ///< how long it is expected to run on; not known: how long it has run
  std::size_t place = 0;  ///< in what its host was given
  std::optional<TaskNeeds> needs{};
  bool taken = false;
};

/// Hosts and tasks at once, at most: each is compared with each. The others have their turn at the
/// next plan.
constexpr std::size_t kLookedAt = 200;

/// Finds work for hosts for which no ready task is left.
class SecondHelping {
 public:
  SecondHelping(const World& world, HandedOut out) : world_(world), out_(std::move(out)) {}

  Plan plan() {
    find_idle();
    if (!idle_.empty() && world_.hosts.size() > 1) {
      find_candidates();
      steal();
      duplicate();
    }
    plan_.starts = std::move(out_.starts);
    return std::move(plan_);
  }

 private:
  /// The least loaded first.
  void find_idle() {
    for (std::size_t i = 0; i < world_.hosts.size(); ++i)
      if (out_.loads[i] < kFull && !has_work_for(*world_.hosts[i].host, world_, out_))
        idle_.push_back(i);
    std::ranges::stable_sort(idle_, {}, [&](std::size_t i) { return out_.loads[i]; });
    if (idle_.size() > kLookedAt) idle_.resize(kLookedAt);
  }

  void find_candidates() {
    std::map<TaskId, std::uint32_t> attempts;
    for (const HostLoad& host : world_.hosts)
      for (const Ongoing& ongoing : host.ongoing)
        if (is_ours(world_, ongoing)) ++attempts[ongoing.task];
    for (std::size_t i = 0; i < world_.hosts.size(); ++i) {
      const auto& given = world_.hosts[i].ongoing;
      for (std::size_t place = 0; place < given.size(); ++place)
        if (is_ours(world_, given[place]) && !given[place].alone &&
            attempts[given[place].task] == 1)
          consider(i, place);
    }
    if (stolen_.size() > kLookedAt) stolen_.resize(kLookedAt);
    // What is expected to end last comes first.
    std::ranges::sort(doubled_, {}, [](const Candidate& c) {
      return std::tuple(!c.behind, -c.left.count(), -static_cast<std::int64_t>(c.place), c.task);
    });
    if (doubled_.size() > kLookedAt) doubled_.resize(kLookedAt);
  }

  void consider(std::size_t host, std::size_t place) {
    const Ongoing& given = world_.hosts[host].ongoing[place];
    Candidate candidate{.task = given.task, .host = host, .place = place};
    if (given.attempt == AttemptId{}) return stolen_.push_back(candidate);
    if (given.started == kNever) {
      // A host that is not overfull is about to start it.
      candidate.behind = true;
      if (world_.hosts[host].load > kFull) doubled_.push_back(candidate);
      return;
    }
    candidate.left = std::max(world_.now - given.started, Duration{0});
    if (const auto expected = world_.run_times.expected(given.cost)) {
      // What runs over its forecast is expected to take as long again as it is over. A twin is
      // quicker from twice the expected time on.
      const TimePoint overdue = given.started + 2 * *expected;
      if (world_.now < overdue) {
        if (next_ == kNever || overdue < next_) next_ = overdue;
        return;
      }
      candidate.left -= *expected;
    }
    doubled_.push_back(candidate);
  }

  void steal() {
    for (const std::size_t host : idle_)
      for (Candidate& each : stolen_)
        if (can_take(host, each, true)) plan_.steals.push_back({each.task, take(host, each)});
  }

  void duplicate() {
    // How long files would travel is not known: rather where they are.
    for (const bool files_there : {true, false})
      for (const std::size_t host : idle_)
        for (Candidate& each : doubled_)
          if (can_take(host, each, files_there))
            plan_.twins.push_back({each.task, take(host, each)});
    const bool still_idle =
        std::ranges::any_of(idle_, [&](std::size_t i) { return out_.loads[i] < kFull; });
    if (still_idle) plan_.ask_again = next_;
  }

  [[nodiscard]] bool can_take(std::size_t host, Candidate& wanted, bool files_there) const {
    if (wanted.taken || wanted.host == host || out_.loads[host] >= kFull) return false;
    if (!wanted.needs) wanted.needs = world_.needs_of(wanted.task);
    const Host& there = *world_.hosts[host].host;
    const auto& files = wanted.needs->files;
    return is_free(there, out_.loads[host], wanted.needs->resources) &&
           (files_there ? are_there(world_, there.site, files)
                        : has_room(world_, there.site, files));
  }

  HostId take(std::size_t host, Candidate& wanted) {
    wanted.taken = true;
    const Host& there = *world_.hosts[host].host;
    out_.loads[host] += share(there, wanted.needs->resources);
    return there.id;
  }

  const World& world_;
  HandedOut out_;
  std::vector<std::size_t> idle_;   ///< places in world.hosts
  std::vector<Candidate> stolen_;   ///< to be
  std::vector<Candidate> doubled_;  ///< to be
  TimePoint next_ = kNever;         ///< task is overdue
  Plan plan_;
};

}  // namespace

void WorkqueueSteal::observe(const Event&) {}

Plan WorkqueueSteal::plan(const World& world) {
  return SecondHelping(world, hand_out(world)).plan();
}

}  // namespace gantry::schedule
