#include "simulate/simulation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "simulate/kernel.hpp"
#include "simulate/virtual_time.hpp"

namespace gantry::simulate {

namespace {

/// How long after a transfer of a task's own files failed it is tried again.
constexpr double kTransferRetry = 1;
constexpr RunId kRun{1};

Way way_of(SiteId one, SiteId other, const LinkSpec& link) {
  constexpr double kDay = 86'400;
  return {.one = one,
          .other = other,
          .bandwidth = link.bandwidth.integral(0, kDay) / kDay,
          .latency = link.latency,
          .streams = link.sharing == LinkSharing::fifo ? link.streams : 1};
}

/// What is declared of links is what they do on average. Nothing is, when there is no choice of
/// links anyway.
SiteMap map_of(const VirtualGrid& grid) {
  SiteMap map{.depots = grid.depots};
  if (grid.peers.empty()) return map;
  for (std::uint32_t i = 1; i < grid.links.size(); ++i)
    if (grid.links[i]) map.ways.push_back(way_of(kHome, SiteId(i), *grid.links[i]));
  for (const PeerLink& link : grid.peers)
    map.ways.push_back(way_of(link.one, link.other, link.spec));
  return map;
}

/// The actuator, and the loop around it.
class Simulation {
 public:
  Simulation(const engine::Workload& workload, const VirtualGrid& grid,
             std::unique_ptr<schedule::Scheduler> strategy, Watch watch, FateOf fate_of)
      : workload_(workload),
        grid_(grid),
        engine_(map_of(grid)),
        watch_(std::move(watch)),
        fate_of_(std::move(fate_of)) {
    engine_.add_run(kRun, workload, {}, std::move(strategy));
    for (const auto& link : grid.links) {
      shared_links_.push_back(link ? std::optional(kernel_.add_link(*link)) : std::nullopt);
      own_links_.push_back(link ? std::optional(kernel_.add_link(*link)) : std::nullopt);
    }
    for (const PeerLink& link : grid.peers)
      peer_links_[std::minmax(link.one, link.other)] = kernel_.add_link(link.spec);
    for (const VirtualHost& host : grid.hosts) {
      const HostIndex index = kernel_.add_host(host.spec);
      hosts_.push_back({.free = host.spec.slots});
      if (kernel_.is_up(index)) host_up(index);
    }
    for (const auto& [file, site] : grid.staged)
      tell(FileArrived{file, site, time_at(kernel_.now())});
  }

  Result<Simulated> run() {
    for (;;) {
      while (carry_out(engine_.decide(time_at(kernel_.now())))) {
      }
      if (sole_run().finished()) break;
      set_alarm();
      const auto event = kernel_.next();
      if (!event) {
        const auto& counts = sole_run().counts();
        return fail(
            ErrorCode::usage,
            fmt::format("after {:.0f} s nothing happens any more, and {} tasks are not done",
                        kernel_.now(), counts.total - counts.done));
      }
      if (kernel_.now() > kLongestRun)
        return fail(ErrorCode::usage, "it takes more than a hundred years");
      take(*event);
    }
    if (const auto& counts = sole_run().counts(); counts.done < counts.total) {
      std::string why = sole_run().draining();
      if (why.empty())
        why = fmt::format("{} tasks are given up: their hosts went away again and again",
                          counts.total - counts.done);
      return fail(ErrorCode::usage, std::move(why));
    }
    result_.events = kernel_.events();
    for (const VirtualTask& task : result_.tasks)
      result_.makespan = std::max(result_.makespan, task.returned);
    return std::move(result_);
  }

 private:
  /// What a token stands for.
  struct Errand {
    enum class Kind : std::uint8_t { alarm, shared_file, own_inputs, computation, output, retry };
    Kind kind = Kind::alarm;
    std::uint32_t index = 0;  ///< of the attempt, or of the move
  };
  struct Attempt {
    TaskKey key;
    VirtualTask task;
    Errand::Kind next = Errand::Kind::own_inputs;  ///< to do, or being done
    bool over = false;                             ///< ended, or its host went down
    bool computing = false;
    std::optional<ActivityId> activity{};  ///< the last one that was begun for it
  };
  struct HostQueue {
    std::uint32_t free = 0;
    std::deque<std::uint32_t> waiting{};  ///< attempts whose inputs are there
  };

  [[nodiscard]] engine::RunView sole_run() const { return engine_.run(kRun); }

  void tell(const Event& event) {
    engine_.apply(event);
    if (watch_) watch_(time_at(kernel_.now()), event, sole_run());
  }

  Token token(Errand errand) {
    errands_.push_back(errand);
    return Token(errands_.size() - 1);
  }

  void host_up(HostIndex index) {
    const VirtualHost& host = grid_.hosts[index.value()];
    hosts_[index.value()] = {.free = host.spec.slots};
    tell(HostUp{{.id = HostId(index.value() + 1),
                 .name = fmt::format("host-{}", index.value() + 1),
                 .cores = host.spec.slots,
                 .site = host.site,
                 .speed = host.spec.speed}});
  }

  void host_down(HostIndex index) {
    for (Attempt& attempt : attempts_)
      if (attempt.task.host == index.value() && attempt.next != Errand::Kind::output)
        attempt.over = true;
    hosts_[index.value()] = {};
    tell(HostDown{HostId(index.value() + 1)});
  }

  void set_alarm() {
    const TimePoint wanted = engine_.next_wakeup();
    if (wanted == alarm_at_) return;
    if (alarm_) kernel_.cancel(*alarm_);
    alarm_.reset();
    alarm_at_ = wanted;
    if (wanted == kNever) return;
    const double at = std::max(seconds_at(wanted), kernel_.now());
    alarm_ = kernel_.start_timer(at, token({Errand::Kind::alarm}));
  }

  // Actions.
  // ------------------------------------------------------------------------------------------

  /// True when attempts have ended by it: the engine may want to go on at once.
  bool carry_out(const std::vector<Action>& actions) {
    bool any_ended = false;
    for (const Action& action : actions) {
      if (const auto* start = std::get_if<StartAttempt>(&action)) begin(*start);
      if (const auto* stop = std::get_if<CancelAttempt>(&action)) any_ended |= cancel(*stop);
      if (const auto* move = std::get_if<MoveFile>(&action)) send(*move);
      if (const auto* drop = std::get_if<DropFile>(&action))
        result_.drops.push_back({drop->file, drop->site, kernel_.now()});
    }
    return any_ended;
  }

  /// At once, wherever it is; what is on its way for it is not sent on.
  bool cancel(const CancelAttempt& stop) {
    const TaskKey key = stop.key;
    // What is cancelled was begun not long ago.
    const auto found = std::find_if(attempts_.rbegin(), attempts_.rend(),
                                    [&](const Attempt& each) { return each.key == key; });
    if (found == attempts_.rend() || found->over) return false;
    Attempt& attempt = *found;
    attempt.over = true;
    if (attempt.activity) kernel_.cancel(*attempt.activity);
    HostQueue& queue = hosts_[attempt.task.host];
    std::erase(queue.waiting, static_cast<std::uint32_t>(attempts_.rend() - found - 1));
    if (attempt.computing) {
      attempt.task.computed = kernel_.now();
      ++queue.free;
    }
    result_.wasted += attempt.task.computed - attempt.task.started;
    AttemptEnded ended;
    ended.report.key = attempt.key;
    ended.report.cause = FailureCause::cancelled;
    ended.host = stop.host;
    tell(ended);
    start_waiting(attempt.task.host);
    return true;
  }

  void begin(const StartAttempt& start) {
    const auto index = static_cast<std::uint32_t>(attempts_.size());
    attempts_.push_back({start.key, {.task = start.key.task, .host = start.host.value() - 1}});
    go_on(index);
  }

  void send(const MoveFile& move) {
    const auto index = static_cast<std::uint32_t>(moves_.size());
    moves_.push_back({move.file, move.to, kernel_.now(), kernel_.now(), move.from});
    const double bytes = workload_.file_bytes[move.file.value()];
    const auto link = link_for(move);
    if (!link) return arrived(index);
    kernel_.start_transfer(*link, bytes, token({Errand::Kind::shared_file, index}));
  }

  /// Nothing where files are at once.
  [[nodiscard]] std::optional<LinkIndex> link_for(const MoveFile& move) const {
    if (move.from == kHome) return shared_links_[move.to.value()];
    const auto peer = peer_links_.find(std::minmax(move.from, move.to));
    return peer == peer_links_.end() ? std::nullopt : std::optional(peer->second);
  }

  /// The next thing that an attempt has to do.
  void go_on(std::uint32_t index) {
    Attempt& attempt = attempts_[index];
    const SiteId site = grid_.hosts[attempt.task.host].site;
    if (attempt.next == Errand::Kind::own_inputs) {
      const double bytes = own_bytes(workload_.private_bytes, attempt.key.task);
      if (const auto& link = own_links_[site.value()]; link && bytes > 0) {
        attempt.activity = kernel_.start_transfer(*link, bytes, token({attempt.next, index}));
        return;
      }
      attempt.next = Errand::Kind::computation;
    }
    if (attempt.next == Errand::Kind::computation) {
      hosts_[attempt.task.host].waiting.push_back(index);
      return start_waiting(attempt.task.host);
    }
    const double bytes = own_bytes(workload_.output_bytes, attempt.key.task);
    if (const auto& link = shared_links_[site.value()]; link && bytes > 0) {
      attempt.activity = kernel_.start_transfer(*link, bytes, token({attempt.next, index}));
      return;
    }
    end(index);
  }

  static double own_bytes(const std::function<double(TaskId)>& bytes, TaskId task) {
    return bytes ? bytes(task) : 0;
  }

  void start_waiting(std::uint32_t host) {
    HostQueue& queue = hosts_[host];
    while (queue.free > 0 && !queue.waiting.empty()) {
      const std::uint32_t index = queue.waiting.front();
      queue.waiting.pop_front();
      --queue.free;
      Attempt& attempt = attempts_[index];
      attempt.task.started = kernel_.now();
      attempt.computing = true;
      attempt.activity = kernel_.start_computation(HostIndex(host), fate_of(attempt.key).seconds,
                                                   token({Errand::Kind::computation, index}));
      tell(AttemptStarted{attempt.key, HostId(host + 1), time_at(kernel_.now())});
    }
  }

  [[nodiscard]] Fate fate_of(const TaskKey& key) const {
    return fate_of_ ? fate_of_(key.task, key.attempt) : Fate{workload_.cost_of(key.task)};
  }

  /// It has no output.
  void die(Attempt& attempt) {
    attempt.over = true;
    result_.wasted += attempt.task.computed - attempt.task.started;
    AttemptEnded ended = end_of(attempt);
    ended.report.cause = FailureCause::exit_code;
    ended.report.code = 1;
    tell(ended);
  }

  static AttemptEnded end_of(const Attempt& attempt) {
    AttemptEnded ended;
    ended.report.key = attempt.key;
    ended.report.started = time_at(attempt.task.started);
    ended.report.ended = time_at(attempt.task.computed);
    ended.host = HostId(attempt.task.host + 1);
    return ended;
  }

  void end(std::uint32_t index) {
    Attempt& attempt = attempts_[index];
    attempt.task.returned = kernel_.now();
    attempt.over = true;
    // The output of an attempt may be on its way when its host goes down; then the task is started
    // anew, and either one may be home first.
    if (sole_run().awaits(attempt.key, HostId(attempt.task.host + 1)))
      result_.tasks.push_back(attempt.task);
    else
      result_.wasted += attempt.task.computed - attempt.task.started;
    tell(end_of(attempt));
  }

  void arrived(std::uint32_t index) {
    VirtualMove& move = moves_[index];
    move.arrived = kernel_.now();
    result_.moves.push_back(move);
    result_.bytes_moved += workload_.file_bytes[move.file.value()];
    tell(FileArrived{move.file, move.site, time_at(kernel_.now())});
  }

  // Events.
  // -------------------------------------------------------------------------------------------

  void take(const KernelEvent& event) {
    using Kind = KernelEvent::Kind;
    switch (event.kind) {
      case Kind::host_down:
        return host_down(event.host);
      case Kind::host_up:
        return host_up(event.host);
      case Kind::link_down:
      case Kind::link_up:
        return;
      case Kind::timer:
      case Kind::done:
      case Kind::failed:
        break;
    }
    const Errand errand = errands_[event.token.value()];
    if (errand.kind == Errand::Kind::alarm) {
      alarm_.reset();
      alarm_at_ = kNever;
      return;
    }
    const bool failed = event.kind == Kind::failed;
    if (errand.kind == Errand::Kind::shared_file) {
      const VirtualMove& move = moves_[errand.index];
      if (!failed) return arrived(errand.index);
      return tell(MoveFailed{move.file, move.site, "the link went down", time_at(kernel_.now())});
    }
    Attempt& attempt = attempts_[errand.index];
    if (attempt.over) return;
    if (errand.kind == Errand::Kind::retry) return go_on(errand.index);
    if (failed) {
      kernel_.start_timer(kernel_.now() + kTransferRetry,
                          token({Errand::Kind::retry, errand.index}));
      return;
    }
    advance(errand);
  }

  void advance(const Errand& errand) {
    Attempt& attempt = attempts_[errand.index];
    const double bytes = errand.kind == Errand::Kind::own_inputs
                             ? own_bytes(workload_.private_bytes, attempt.key.task)
                         : errand.kind == Errand::Kind::output
                             ? own_bytes(workload_.output_bytes, attempt.key.task)
                             : 0;
    result_.bytes_moved += bytes;
    if (errand.kind == Errand::Kind::output) return end(errand.index);
    if (errand.kind == Errand::Kind::own_inputs) {
      attempt.next = Errand::Kind::computation;
      return go_on(errand.index);
    }
    attempt.task.computed = kernel_.now();
    attempt.computing = false;
    attempt.next = Errand::Kind::output;
    ++hosts_[attempt.task.host].free;
    if (fate_of(attempt.key).dies) {
      die(attempt);
      return start_waiting(attempt.task.host);
    }
    tell(AttemptComputed{attempt.key, HostId(attempt.task.host + 1)});
    start_waiting(attempt.task.host);
    go_on(errand.index);
  }

  const engine::Workload& workload_;
  const VirtualGrid& grid_;
  engine::Engine engine_;
  Watch watch_;
  FateOf fate_of_;
  Kernel kernel_;
  std::vector<std::optional<LinkIndex>> shared_links_;  ///< by site
  std::vector<std::optional<LinkIndex>> own_links_;
  std::map<std::pair<SiteId, SiteId>, LinkIndex> peer_links_;  ///< the lower site first
  std::vector<HostQueue> hosts_;
  std::vector<Attempt> attempts_;
  std::vector<VirtualMove> moves_;
  std::vector<Errand> errands_;
  std::optional<ActivityId> alarm_;
  TimePoint alarm_at_ = kNever;
  Simulated result_;
};

}  // namespace

Result<Simulated> simulate(const engine::Workload& workload, const VirtualGrid& grid,
                           std::unique_ptr<schedule::Scheduler> strategy, Watch watch,
                           FateOf fate_of) {
  return Simulation(workload, grid, std::move(strategy), std::move(watch), std::move(fate_of))
      .run();
}

}  // namespace gantry::simulate
