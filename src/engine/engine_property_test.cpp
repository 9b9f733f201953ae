// Random histories from a tiny world of hosts whose agents queue, start, finish, lose and forget
// tasks, and of depots that files come to and go from, with a gantry that is killed and restarted
// from its journal in between.

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <set>

#include "engine/depot_model.hpp"
#include "engine/one_run.hpp"
#include "schedule/packing.hpp"
#include "schedule/registry.hpp"

namespace gantry::engine {
namespace {

struct Plan {
  std::uint32_t tasks = 0;
  std::uint32_t retries = 0;
  std::vector<Host> hosts;
  std::vector<std::uint8_t> shapes;  ///< resources of task i: entry i modulo size
  std::vector<std::uint8_t> reads;   ///< its files, a bit each: entry i modulo size
  std::vector<double> file_bytes;
  SiteMap map;
};

Workload workload_for(const Plan& plan) {
  const auto resources = [shapes = plan.shapes](TaskId task) {
    const std::uint32_t shape = shapes[task.value() % shapes.size()];
    return Resources{.cores = 1 + shape % 3, .memory = shape / 3 % 4};
  };
  const auto files = [reads = plan.reads, count = plan.file_bytes.size()](TaskId task) {
    std::vector<FileId> list;
    for (std::uint32_t i = 0; i < count; ++i)
      if ((reads[task.value() % reads.size()] >> i & 1U) != 0) list.emplace_back(i);
    return list;
  };
  return {.count = plan.tasks,
          .resources = resources,
          .cost = {},
          .retry = {.retries = plan.retries, .backoff = std::chrono::seconds(1)},
          .file_bytes = plan.file_bytes,
          .files = files};
}

/// An agent that obeys: first in, first out, and only what fits.
struct Agent {
  Host host;
  bool up = false;
  bool draining = false;
  std::deque<TaskKey> queue{};
  std::vector<TaskKey> running{};
};

/// A strategy, and a look at what it is shown: a host's load is that of what it was given. Notes
/// the tasks that it wants to run twice.
class Watched final : public schedule::Scheduler {
 public:
  Watched(std::unique_ptr<schedule::Scheduler> strategy, std::shared_ptr<std::set<TaskId>> twins)
      : strategy_(std::move(strategy)), twins_(std::move(twins)) {}
  [[nodiscard]] schedule::Appetite appetite() const override { return strategy_->appetite(); }
  void observe(const Event& event) override { strategy_->observe(event); }
  [[nodiscard]] schedule::Plan plan(const schedule::World& world) override {
    for (const auto& [host, load, ongoing] : world.hosts) {
      schedule::Load sum = 0;
      for (const auto& each : ongoing) {
        const Resources needs = world.needs_of(each.task).resources;
        if (schedule::slots(*host, needs) > 0) sum += schedule::share(*host, needs);
      }
      RC_ASSERT(load == sum);
    }
    auto plan = strategy_->plan(world);
    for (const schedule::Twin& twin : plan.twins) twins_->insert(twin.task);
    return plan;
  }

 private:
  std::unique_ptr<schedule::Scheduler> strategy_;
  std::shared_ptr<std::set<TaskId>> twins_;
};

class World {
 public:
  World(const Plan& plan, Policy policy, std::string_view strategy)
      : plan_(plan),
        workload_(workload_for(plan)),
        policy_(policy),
        strategy_(strategy),
        depots_(plan.file_bytes, plan.map),
        engine_(new_engine()),
        shadow_(new_engine()) {
    for (const Host& host : plan.hosts) agents_[host.id] = {.host = host};
  }

  /// One thing happens, chosen by `dice`; then gantry acts on it.
  void step(std::uint32_t dice) {
    now_ += std::chrono::milliseconds(dice % 700);
    Agent& agent = agents_[HostId(1 + dice / 7 % static_cast<std::uint32_t>(agents_.size()))];
    const std::uint32_t more = dice / 1000;
    switch (dice % 100) {
      case 0:
        return restart(false, more);
      case 1:
        return restart(true, more);
      case 2:
        return vanish(agent);
      case 3:
        return tell(CancelRequested{RunId(1), false, {TaskId(1 + more % plan_.tasks)}, now_});
      case 4:
        return repeat_a_report(more);
      case 5:
        return give_back(agent);
      case 6:
        return drain(agent);
      default:
        break;
    }
    if (dice % 100 < 12) return end_a_move(more, true);
    if (dice % 100 < 13) return end_a_move(more, false);
    if (dice % 100 < 14) return lose_a_file(more);
    // Of hosts that are not up, and with shares that cannot be, too.
    if (dice % 100 < 20)
      return tell(
          HostLoaded{agent.host.id, static_cast<double>(more % 130) / 100 - 0.1, now_, now_});
    if (dice % 100 < 23) return tell(HostQueued{agent.host, more % 3 == 0 ? kNever : now_});
    if (dice % 100 < 24)
      return tell(SiteEchoed{SiteId(more % 3), more % 9 / 10.0 - 0.1, now_, more % 5 * 1e5 - 1e5,
                             more % 4 / 10.0 - 0.1});
    if (dice % 100 < 25) return tell(QueueWaited{SiteId(more % 3), more % 90 - 5.0, now_});
    if (!agent.up) return bring_up(agent);
    if (dice % 2 == 0) return start_one(agent, more);
    finish_one(agent, more);
  }

  /// From now on everything succeeds: does the run come to its end?
  void play_out() {
    for (int i = 0; i < 10'000 && !engine_.finished(); ++i) {
      now_ += std::chrono::seconds(5);
      for (auto left = depots_.moving().size(); left > 0; --left) end_a_move(0, true);
      for (auto& [id, agent] : agents_) {
        if (!agent.up || agent.draining) bring_up(agent);
        start_one(agent, 1);
        while (!agent.running.empty()) finish(agent, 0, FailureCause::none);
      }
    }
    RC_ASSERT(engine_.finished());
  }

  void check_end() const {
    if (!engine_.draining().empty() || only_) return;
    const Counts& counts = engine_.counts();
    RC_ASSERT(counts.done + counts.failed + counts.cancelled == counts.total);
    for (const TaskId task : succeeded_) RC_ASSERT(engine_.state(task) == TaskState::done);
  }

  void drain() { tell(DrainRequested{RunId(1), "enough"}); }
  void cancel_all() { tell(CancelRequested{RunId(1), true, {}, now_}); }
  [[nodiscard]] const OneRun& engine() const { return engine_; }

 private:
  [[nodiscard]] OneRun new_engine() const {
    return {
        workload_, policy_,
        std::make_unique<Watched>(std::move(schedule::make_scheduler(strategy_).value()), twins_),
        plan_.map};
  }

  /// From a snapshot that was made anywhere in the journal, and the rest of it.
  [[nodiscard]] OneRun restored_engine(std::uint32_t dice) const {
    const auto kept = journal_.begin() + dice % (std::ssize(journal_) + 1);
    OneRun before = new_engine();
    std::for_each(journal_.begin(), kept, [&](const Event& event) { before.apply(event); });
    OneRun engine = new_engine();
    engine.apply(RunRestored{OneRun::kId, before.snapshot(OneRun::kId)});
    RC_ASSERT(engine.snapshot(OneRun::kId) == before.snapshot(OneRun::kId));
    std::for_each(kept, journal_.end(), [&](const Event& event) { engine.apply(event); });
    return engine;
  }

  void tell(const Event& event) {
    apply(event);
    act();
  }

  void apply(const Event& event) {
    bool journalled = std::holds_alternative<TaskInvalidated>(event) ||
                      std::holds_alternative<CancelRequested>(event);
    if (const auto* ended = std::get_if<AttemptEnded>(&event)) {
      const TaskKey& key = ended->report.key;
      journalled = engine_.awaits(key, ended->host);
      if (!journalled) used_.erase(key);  // nobody remembers it
      if (journalled && ended->report.cause == FailureCause::none)
        RC_ASSERT(succeeded_.insert(key.task).second || only_);  // exactly one result
    }
    engine_.apply(event);
    shadow_.apply(event);
    if (journalled) journal_.push_back(event);
  }

  void act() {
    // A twin that reads files may start later, when they have arrived.
    std::erase_if(*twins_, [&](TaskId task) { return workload_.files_of(task).empty(); });
    const auto actions = engine_.decide(now_);
    const auto same = shadow_.decide(now_);
    RC_ASSERT(describe(actions) == describe(same));
    for (const Action& action : actions) {
      if (const auto* start = std::get_if<StartAttempt>(&action)) take(*start);
      if (const auto* stop = std::get_if<CancelAttempt>(&action)) cancel(*stop);
      if (const auto* recall = std::get_if<RecallQueued>(&action))
        recalled_.push_back(recall->host);
      if (const auto* move = std::get_if<MoveFile>(&action)) depots_.begin(*move);
      if (const auto* drop = std::get_if<DropFile>(&action))
        depots_.drop(*drop, is_read(drop->file, drop->site));
    }
    check_now();
  }

  static std::vector<std::array<std::uint32_t, 4>> describe(const std::vector<Action>& actions) {
    std::vector<std::array<std::uint32_t, 4>> list;
    for (const Action& action : actions) {
      if (const auto* a = std::get_if<StartAttempt>(&action))
        list.push_back({0, a->key.task.value(), a->key.attempt.value(), a->host.value()});
      if (const auto* a = std::get_if<CancelAttempt>(&action))
        list.push_back({1, a->key.task.value(), a->key.attempt.value(), a->host.value()});
      if (const auto* a = std::get_if<RecallQueued>(&action))
        list.push_back({2, 0, 0, a->host.value()});
      if (const auto* a = std::get_if<MoveFile>(&action))
        list.push_back({3, a->file.value(), a->from.value(), a->to.value()});
      if (const auto* a = std::get_if<DropFile>(&action))
        list.push_back({4, a->file.value(), 0, a->site.value()});
    }
    RC_ASSERT(list.size() == actions.size());  // none was left out
    return list;
  }

  void take(const StartAttempt& start) {
    const TaskKey key = start.key;
    Agent& agent = agents_.at(start.host);
    RC_ASSERT(engine_.draining().empty());
    RC_ASSERT(agent.up && !agent.draining);
    RC_ASSERT(schedule::slots(agent.host, workload_.resources_of(start.key.task)) > 0U);
    for (const FileId file : workload_.files_of(start.key.task))
      RC_ASSERT(depots_.is_there(file, agent.host.site));
    // Never beside its twin, unless it is wanted; then on another host. (Both may start at once.)
    if (const std::size_t out = times_out(start.key.task); out > 0)
      RC_ASSERT(out == 1U && twins_->erase(start.key.task) > 0);
    RC_ASSERT(std::ranges::count(agent.queue, start.key.task, &TaskKey::task) +
                  std::ranges::count(agent.running, start.key.task, &TaskKey::task) ==
              0);
    RC_ASSERT(used_.insert(key).second);                       // nor under a number that was used
    RC_ASSERT(!succeeded_.contains(start.key.task) || only_);  // nor again when it is done
    agent.queue.push_back(key);
  }

  void cancel(const CancelAttempt& stop) {
    Agent& agent = agents_.at(stop.host);
    const TaskKey key = stop.key;
    RC_ASSERT(std::erase(agent.queue, key) + std::erase(agent.running, key) == 1U);
    cancelled_.push_back({key, agent.host.id});
  }

  void check_now() const {
    const Counts& c = engine_.counts();
    RC_ASSERT(c.pending + c.staging + c.handed_over + c.running + c.waiting + c.done + c.failed +
                  c.cancelled ==
              c.total);
    std::set<TaskId> out;
    for (const auto& [key, host] : cancelled_) out.insert(key.task);
    for (const auto& [id, agent] : agents_) {
      for (const TaskKey& key : agent.queue) out.insert(key.task);
      for (const TaskKey& key : agent.running) out.insert(key.task);
    }
    if (engine_.finished() && !only_) RC_ASSERT(out.empty());
    std::erase_if(out, [&](TaskId task) { return engine_.state(task) == TaskState::done; });
    RC_ASSERT(c.handed_over + c.running == out.size());
  }

  /// Not those that were told to end.
  [[nodiscard]] std::size_t times_out(TaskId task) const {
    std::ptrdiff_t times = 0;
    for (const auto& [id, agent] : agents_)
      times += std::ranges::count(agent.queue, task, &TaskKey::task) +
               std::ranges::count(agent.running, task, &TaskKey::task);
    return static_cast<std::size_t>(times);
  }

  /// Also by attempts that were told to end, and have not.
  [[nodiscard]] bool is_read(FileId file, SiteId site) const {
    const auto reads = [&](const TaskKey& key) {
      return std::ranges::count(workload_.files_of(key.task), file) > 0;
    };
    return std::ranges::any_of(agents_,
                               [&](const auto& entry) {
                                 const Agent& agent = entry.second;
                                 return agent.host.site == site &&
                                        (std::ranges::any_of(agent.queue, reads) ||
                                         std::ranges::any_of(agent.running, reads));
                               }) ||
           std::ranges::any_of(cancelled_, [&](const auto& entry) {
             return agents_.at(entry.second).host.site == site && reads(entry.first);
           });
  }

  void end_a_move(std::uint32_t dice, bool arrives) {
    const auto moving = depots_.moving();
    if (moving.empty()) return act();
    const auto [site, file] = moving[dice % moving.size()];
    if (arrives) {
      depots_.arrive(site, file);
      return tell(FileArrived{file, site, now_});
    }
    depots_.lose(site, file);
    tell(MoveFailed{file, site, "no route", now_});
  }

  /// A person tidies up.
  void lose_a_file(std::uint32_t dice) {
    const auto there = depots_.present();
    if (there.empty()) return act();
    const auto [site, file] = there[dice % there.size()];
    depots_.lose(site, file);
    tell(FileGone{file, site});
  }

  void bring_up(Agent& agent) {
    agent.up = true;
    agent.draining = false;
    tell(HostUp{agent.host});
  }

  /// A person wants it for something else; later it comes back, now and then.
  void drain(Agent& agent) {
    if (!agent.up) return;
    if (agent.draining) return bring_up(agent);
    agent.draining = true;
    tell(HostDraining{agent.host.id});
  }

  void vanish(Agent& agent) {
    if (!agent.up) return;
    agent.up = false;
    // A careful driver journals what it knows to be lost, so that numbers stay used after a
    // restart.
    for (const TaskKey& key : agent.running) apply(ended(key, agent, FailureCause::lost));
    for (const TaskKey& key : agent.queue) apply(ended(key, agent, FailureCause::lost));
    agent.running.clear();
    agent.queue.clear();
    std::erase_if(cancelled_, [&](const auto& c) {
      if (c.second != agent.host.id) return false;
      apply(ended(c.first, agent, FailureCause::lost));
      return true;
    });
    tell(HostDown{agent.host.id});
  }

  /// An honest agent's answers to recall; queues also come back unasked when a connection breaks.
  void give_back(Agent& agent) {
    answer_cancels();
    const bool asked = std::erase(recalled_, agent.host.id) > 0;
    if (asked || agent.queue.size() % 2 == 0) {
      for (const TaskKey& key : agent.queue) {
        apply(AttemptReturned{key, agent.host.id});
        used_.erase(key);
      }
      agent.queue.clear();
    }
    act();
  }

  void start_one(Agent& agent, std::uint32_t dice) {
    answer_cancels();
    if (agent.queue.empty()) return act();
    const TaskKey key = agent.queue.front();
    std::uint32_t cores = 0;
    std::uint64_t memory = 0;
    for (const TaskKey& other : agent.running) {
      cores += workload_.resources_of(other.task).cores;
      memory += workload_.resources_of(other.task).memory;
    }
    const Resources needs = workload_.resources_of(key.task);
    if (cores + needs.cores > agent.host.cores || memory + needs.memory > agent.host.memory) return;
    agent.queue.pop_front();
    agent.running.push_back(key);
    if (dice % 5 != 0) tell(AttemptStarted{key, agent.host.id, now_});  // else the news is late
  }

  void answer_cancels() {
    while (!cancelled_.empty()) {
      const auto [key, host] = cancelled_.front();
      cancelled_.pop_front();
      // One whose twin was first may have ended before it could be cancelled.
      constexpr std::array kEnds{FailureCause::cancelled, FailureCause::none,
                                 FailureCause::exit_code};
      const bool too_late = engine_.state(key.task) == TaskState::done;
      const auto cause = too_late ? kEnds[key.task.value() % kEnds.size()] : kEnds[0];
      apply(ended(key, agents_.at(host), cause));
    }
  }

  void finish_one(Agent& agent, std::uint32_t dice) {
    if (agent.running.empty()) return;
    constexpr std::array kEnds{FailureCause::none,          FailureCause::none,
                               FailureCause::exit_code,     FailureCause::timeout,
                               FailureCause::missing_input, FailureCause::lost};
    finish(agent, dice % agent.running.size(), kEnds[dice / 16 % kEnds.size()]);
  }

  void finish(Agent& agent, std::size_t index, FailureCause cause) {
    const TaskKey key = agent.running[index];
    agent.running.erase(agent.running.begin() + static_cast<std::ptrdiff_t>(index));
    tell(ended(key, agent, cause));
  }

  AttemptEnded ended(const TaskKey& key, const Agent& agent, FailureCause cause) const {
    AttemptEnded event;
    event.report.key = key;
    event.report.cause = cause;
    event.report.code = 1;
    event.report.started = now_ - std::chrono::milliseconds(300);
    event.report.ended = now_;
    event.host = agent.host.id;
    return event;
  }

  void repeat_a_report(std::uint32_t dice) {
    if (journal_.empty()) return;
    const Event event = journal_[dice % journal_.size()];
    if (!std::holds_alternative<AttemptEnded>(event)) return;
    const Counts before = engine_.counts();
    engine_.apply(event);
    shadow_.apply(event);
    RC_ASSERT(before.done == engine_.counts().done);
    RC_ASSERT(before.failed == engine_.counts().failed);
    act();
  }

  /// kill -9 of gantry. Agents go on; what they only queued they forget, what runs is adopted.
  void restart(bool only, std::uint32_t dice) {
    // Some cancels it could not send any more.
    std::erase_if(cancelled_, [&](const auto& c) {
      Agent& agent = agents_.at(c.second);
      const bool lost = c.first.task.value() % 2 == 0;
      if (lost) agent.running.push_back(c.first);
      return lost;
    });
    answer_cancels();
    only_ = only;
    recalled_.clear();
    OneRun fresh = new_engine();
    for (const Event& event : journal_) fresh.apply(event);
    for (std::uint32_t i = 1; i <= plan_.tasks; ++i)
      RC_ASSERT((fresh.state(TaskId(i)) == TaskState::done) ==
                (engine_.state(TaskId(i)) == TaskState::done));
    const std::vector<TaskId> some{TaskId(1), TaskId(plan_.tasks)};
    for (OneRun* engine : {&fresh, &shadow_}) {
      if (engine == &shadow_) shadow_ = restored_engine(dice);
      if (only)
        engine->resume_only(some);
      else
        engine->resume();
    }
    engine_ = std::move(fresh);
    if (only)
      for (const TaskId task : some) invalidate(task);
    for (const auto& [site, file] : depots_.moving()) depots_.lose(site, file);
    for (const auto& [site, file] : depots_.present()) apply(FileArrived{file, site, now_, true});
    for (auto& [id, agent] : agents_) {
      agent.draining = false;
      if (!agent.up) continue;
      for (const TaskKey& key : agent.queue) used_.erase(key);
      agent.queue.clear();
      apply(HostUp{agent.host});
      for (const TaskKey& key : agent.running) apply(AttemptStarted{key, id, now_});
    }
    act();
  }

  /// As the driver does for `retry`: the journal must say that the old result does not count any
  /// more.
  void invalidate(TaskId task) {
    journal_.emplace_back(TaskInvalidated{RunId(1), task, "retry asked for", now_});
    succeeded_.erase(task);
  }

  Plan plan_;
  Workload workload_;
  Policy policy_;
  std::string_view strategy_;
  TimePoint now_ = TimePoint{} + std::chrono::hours(1);
  /// Of the last plans.
  std::shared_ptr<std::set<TaskId>> twins_ = std::make_shared<std::set<TaskId>>();
  DepotModel depots_;
  OneRun engine_;
  OneRun shadow_;  ///< told the same: must do the same
  std::map<HostId, Agent> agents_;
  std::vector<Event> journal_;
  std::deque<std::pair<TaskKey, HostId>> cancelled_;  ///< cancelled, the report is on its way
  std::vector<HostId> recalled_;
  std::set<TaskKey> used_;
  std::set<TaskId> succeeded_;
  bool only_ = false;
};

/// From the whole range: rapidcheck would begin with small numbers, and so with the first site.
template <class T>
T any_of(T low, T end) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<T>(low, end));
}
std::vector<std::uint8_t> any_bytes() {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::nonEmpty<std::vector<std::uint8_t>>());
}

Plan any_plan() {
  Plan plan;
  plan.tasks = any_of(1U, 40U);
  plan.retries = any_of(0U, 3U);
  const auto count = any_of(1U, 7U);
  for (std::uint32_t i = 1; i <= count; ++i)
    plan.hosts.push_back({HostId(i), "h", any_of(1U, 5U), any_of<std::uint64_t>(0, 6)});
  for (Host& host : plan.hosts) host.site = SiteId(any_of(0U, 3U));
  // The first host can run everything.
  plan.hosts[0].cores = 4;
  plan.hosts[0].memory = 8;
  plan.hosts[0].site = kHome;
  plan.shapes = any_bytes();
  plan.reads = any_bytes();
  for (std::uint32_t i = any_of(0U, 6U); i > 0; --i) plan.file_bytes.push_back(any_of(1, 9));
  // The first depot may be too small for some tasks; the second has no limit. Each may give files
  // to the other, which is quicker than to fetch them from home.
  plan.map.limit_depot(SiteId(1), any_of(1, 25));
  if (*rc::gen::arbitrary<bool>())
    plan.map.ways = {{.other = SiteId(1), .bandwidth = 2},
                     {.other = SiteId(2), .bandwidth = 2},
                     {.one = SiteId(1), .other = SiteId(2), .bandwidth = 10}};
  return plan;
}

std::vector<std::uint32_t> any_history() {
  // Long ones from the first case on, and with the whole range of dice.
  const auto dice = rc::gen::inRange<std::uint32_t>(0, 100'000'000);
  return *rc::gen::resize(600, rc::gen::container<std::vector<std::uint32_t>>(dice));
}

/// With every strategy there is.
class EngineProperty : public ::testing::TestWithParam<std::string_view> {
 protected:
  /// Calls `finish(world)` after any history.
  template <class Finish>
  static void check(Policy policy, Finish finish) {
    EXPECT_TRUE(rc::check([&] {
      World world(any_plan(), policy, GetParam());
      for (const std::uint32_t dice : any_history()) world.step(dice);
      finish(world);
    }));
  }
};

INSTANTIATE_TEST_SUITE_P(Strategies, EngineProperty,
                         ::testing::ValuesIn(schedule::strategy_names()), [](const auto& strategy) {
                           std::string name(strategy.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

TEST_P(EngineProperty, EveryTaskEndsOnceAndRunsTwiceAtOnceOnlyIfWanted) {
  check({.keep_going = true}, [](World& world) {
    world.play_out();
    world.check_end();
  });
}

TEST_P(EngineProperty, DrainingEndsWithNothingOutstanding) {
  check({.max_fails = 3}, [](World& world) {
    world.drain();
    world.play_out();
  });
}

TEST_P(EngineProperty, AfterCancellingAllNothingIsLeftToRun) {
  check({.keep_going = true}, [](World& world) {
    world.cancel_all();
    world.play_out();
    const Counts& counts = world.engine().counts();
    RC_ASSERT(counts.pending + counts.waiting == 0U);
  });
}

}  // namespace
}  // namespace gantry::engine
