#include "actuate/launch/ssh/ssh_launcher.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "actuate/launch/batch/pilot_pool.hpp"
#include "actuate/launch/output_note.hpp"
#include "actuate/launch/sandbox.hpp"
#include "actuate/launch/ssh/host_link.hpp"
#include "actuate/launch/task_wire.hpp"
#include "actuate/move/arrivals.hpp"
#include "actuate/move/site_depot.hpp"
#include "base/ready_set.hpp"

namespace gantry {

namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

/// For the last words to get there. Bounded: a person may wait for the end.
constexpr auto kClosePatience = 5s;
/// For jobs to be given back, also one that is just being submitted.
constexpr auto kReleasePatience = 10s;

class SshLauncher final : public Launcher {
 public:
  SshLauncher(RemoteSite site, const AgentBinary& binary)
      : site_(std::move(site)), depot_(site_, binary) {
    for (const RemoteHost& host : site_.hosts)
      hosts_.emplace(std::piecewise_construct, std::forward_as_tuple(host.id),
                     std::forward_as_tuple(site_, host, binary));
    if (site_.batch && site_.batch->jobs == 0) pool_.emplace(site_, binary, PilotPool::Patience{});
  }

  /// Others connect at the same time: whoever opens several sites waits until all are settled().
  Result<> open() override { return poll(events_); }
  [[nodiscard]] bool settled() const override {
    if (pool_ && !pool_->has_looked()) return false;
    for (std::size_t i = 0; i < site_.hosts.size(); ++i)
      if ((!pool_ || pool_->lends(i)) && !hosts_.at(site_.hosts[i].id).link.was_tried())
        return false;
    return true;
  }
  [[nodiscard]] bool expects_hosts(const Resources& least) const override {
    for (std::size_t i = 0; i < site_.hosts.size(); ++i) {
      const HostLink& link = hosts_.at(site_.hosts[i].id).link;
      const bool comes = pool_ ? pool_->expects(i) : link.may_come();
      if (comes && !link.up() && link.could_run(least)) return true;
    }
    return false;
  }

  /// What is lost behind ssh is tried again.
  [[nodiscard]] bool has_given_up() const override {
    for (std::size_t i = 0; i < site_.hosts.size() && pool_; ++i)
      if (pool_->expects(i) || hosts_.at(site_.hosts[i].id).link.up()) return false;
    return pool_.has_value();
  }

  void want(std::uint64_t cores) override {
    if (pool_) pool_->want(cores);
  }

  void start(const TaskKey& key, HostId host, const Task& task, const Fingerprint& fingerprint,
             const std::vector<TaskFile>& files) override {
    Waiting waiting{host, to_wire(key, task), {}};
    agent::Start& start = waiting.start;
    const Sandbox sandbox(site_.base_dir,
                          hosts_.at(host).link.scratch() + "/" + work_folder(site_, key));
    start.keep = task.staying;
    const OutputNote note{start.outputs, start.collect, start.keep, site_.base_dir.string()};
    if (const auto problem = sandbox.move_into(start, files))
      return refuse(key, host, fingerprint, *problem);
    if (!start.keep.empty())
      start.kept_folder = hosts_.at(host).link.scratch() + "/" + kept_folder(site_, key);
    start.tag = to_tag(fingerprint);
    note.append_to(start.tag);
    auto& in_use = in_use_[key];
    for (const TaskFile& file : files) {
      if (!sandbox.relative(file.path)) continue;  // expected to be there
      if (!depot_.need(file)) waiting.files.insert(file.content);
      in_use.push_back(file);
    }
    waiting_.emplace(key, std::move(waiting));
    hand_over_ready();
  }

  void cancel(const TaskKey& key, HostId host) override {
    if (const auto found = waiting_.find(key); found != waiting_.end()) {
      waiting_.erase(found);
      release_files(key);
      AttemptReport report;
      report.key = key;
      report.cause = FailureCause::cancelled;
      report.started = kNever;
      report.ended = RealClock{}.now();
      events_.emplace_back(ReportReceived{std::move(report), {}, host, 0});
      return;
    }
    HostLink& link = hosts_.at(host).link;
    if (link.up()) link.channel().cancel(key);
  }

  void recall(HostId host) override {
    give_back_waiting(host);
    HostLink& link = hosts_.at(host).link;
    if (link.up()) link.channel().recall();
  }

  void acknowledge(std::uint64_t receipt) override {
    for (auto& [id, host] : hosts_) {
      std::uint64_t latest = 0;
      while (!host.delivered.empty() && host.delivered.front().ours <= receipt) {
        const Delivered& report = host.delivered.front();
        latest = report.agents;
        if (!report.swept) depot_.remove_work(work_folder(site_, report.key));
        for (const auto& printed : report.printed) depot_.remove_work(printed);
        release_files(report.key);  // only now: the sandbox had links to them
        host.delivered.pop_front();
      }
      if (latest != 0) host.link.channel().acknowledge(latest);
    }
  }

  void refuse(std::uint64_t receipt) override {
    for (const auto& [id, host] : hosts_)
      for (const Delivered& report : host.delivered)
        if (report.ours == receipt && report.keeps)
          depot_.remove_work(kept_folder(site_, report.key));
  }

  [[nodiscard]] bool files_travel(HostId) const override { return true; }
  void bring(const MoveFile& move, const std::vector<TaskFile>& files) override {
    depot_.bring(move, files);
  }
  void drop(FileId file, SiteId) override { depot_.drop(file); }
  bool probe(SiteId, std::uint64_t bytes) override {
    if (!depot_.is_quiet() || is_probed()) return false;
    return std::ranges::any_of(hosts_, [&](auto& host) { return host.second.link.probe(bytes); });
  }

  Result<> poll(std::vector<News>& events) override {
    const auto now = Clock::now();
    if (pool_) poll_pool(now);
    const bool probed = is_probed();
    for (auto& [id, host] : hosts_) {
      // Hosts of a site share its link.
      host.link.set_quiet(depot_.is_quiet() && (!probed || host.link.is_probed()));
      host.link.poll(now, heard_);
      for (auto& event : std::exchange(heard_, {})) on_heard(host, std::move(event));
      for (const double seconds : std::exchange(host.link.channel().waits(), {}))
        if (site_.batch && site_.batch->jobs > 0)
          events_.emplace_back(QueueWaited{.site = site_.id, .seconds = seconds});
      for (const auto& content : std::exchange(host.link.channel().unstaged(), {}))
        depot_.lacks(content);
    }
    depot_.set_way(way_to_depot());
    TRY(depot_.poll());
    if (const auto why = depot_.take_trouble(); !why.empty()) on_no_way(why);
    for (auto& event : std::exchange(depot_.events(), {})) events_.push_back(std::move(event));
    hand_over_ready();
    if (!trouble_.empty()) pause(now);
    arrivals_.poll(now, events_);
    for (auto& [id, host] : hosts_) deliver(host);
    if (&events != &events_) {
      std::ranges::move(events_, std::back_inserter(events));
      events_.clear();
    }
    watch();
    return {};
  }

  void glance(Glance& glance) const override {
    for (std::size_t i = 0; i < site_.hosts.size(); ++i) {
      HostGlance host = hosts_.at(site_.hosts[i].id).link.glance();
      if (pool_ && !pool_->lends(i) && host.condition != HostCondition::up)
        host.condition = pool_->is_queued(i)      ? HostCondition::queued
                         : pool_->is_suspended(i) ? HostCondition::suspended
                                                  : HostCondition::away;
      glance.hosts.push_back(std::move(host));
    }
    depot_.glance(glance.sites.emplace_back(SiteGlance{.id = site_.id, .name = site_.name}));
  }

  [[nodiscard]] int wait_fd() const override { return ready_.fd(); }
  [[nodiscard]] bool wants_to_send() const override { return false; }  // the set watches for it

  bool wind_up() override {
    const auto now = Clock::now();
    if (!wound_up_by_) wound_up_by_ = now + kClosePatience;
    if (ending_ == Ending::sends) {
      if (now < *wound_up_by_ && poll(events_) && has_to_send()) return false;
      if (pool_) release_pool();
      if (pool_) wound_up_by_ = now + kReleasePatience;
      ending_ = Ending::releases;
    }
    if (ending_ == Ending::releases) {
      if (pool_) pool_->poll(now, last_events_);
      if (pool_ && !pool_->is_released() && now < *wound_up_by_) return false;
      let_go();
    }
    return now >= *wound_up_by_ ||
           (depot_.has_ended() &&
            std::ranges::all_of(hosts_, [](auto& each) { return each.second.link.has_ended(); }));
  }

  void close() override {
    while (!wind_up()) std::this_thread::sleep_for(5ms);
  }
  std::vector<std::string> last_words() override {
    std::vector<std::string> words;
    for (auto& event : std::exchange(last_events_, {}))
      if (auto* notice = find_in<Notice>(event)) words.push_back(std::move(notice->text));
    return words;
  }

 private:
  /// How far it has wound up: it sends what waits, gives jobs back, and waits for its programs.
  enum class Ending { sends, releases, ends };
  /// A task whose files are not all there yet.
  struct Waiting {
    HostId host;
    agent::Start start;
    std::set<Digest> files;
  };
  struct Delivered {
    std::uint64_t ours = 0;
    std::uint64_t agents = 0;
    TaskKey key;
    bool swept = false;
    bool keeps = false;  ///< outputs of it stay there
    std::vector<std::string> printed{};
  };
  struct SiteHost {
    SiteHost(const RemoteSite& site, const RemoteHost& host, const AgentBinary& binary)
        : link(site, host, binary) {}
    HostLink link;
    std::deque<Delivered> delivered;
  };

  [[nodiscard]] const RemoteHost* way_to_depot() const {
    std::vector<const RemoteHost*> up;
    for (const auto& [id, host] : hosts_)
      if (host.link.up()) up.push_back(&host.link.host());
    return up.empty() ? nullptr : up[ways_tried_ % up.size()];
  }

  [[nodiscard]] bool is_probed() const {
    return std::ranges::any_of(hosts_,
                               [](const auto& each) { return each.second.link.is_probed(); });
  }

  /// Agents answer, but files cannot go there: over the next host, perhaps. What is started
  /// meanwhile would wait in vain, and what it makes would not come home.
  void on_no_way(const std::string& why) {
    ++ways_tried_;
    if (!depot_.is_cut_off()) return;
    if (trouble_.empty())
      trouble_ = "files cannot be brought there: " + std::string(last_line(why));
    for (const auto& [id, host] : hosts_) give_back_waiting(id);
    depot_.tell_not_brought();
  }

  /// Hosts come and go with the jobs that they are.
  void poll_pool(Clock::time_point now) {
    // First: what was started since the last time must not be given back.
    std::set<HostId> awaited;
    for (const auto& [key, waiting] : waiting_) awaited.insert(waiting.host);
    for (std::size_t i = 0; i < site_.hosts.size(); ++i) {
      SiteHost& host = hosts_.at(site_.hosts[i].id);
      if (host.link.up())
        pool_->on_use(i, awaited.contains(site_.hosts[i].id) ? 0 : free_slots(host), now);
      else
        pool_->on_down(i);
    }
    pool_->poll(now, events_);
    for (std::size_t i = 0; i < site_.hosts.size(); ++i) {
      HostLink& link = hosts_.at(site_.hosts[i].id).link;
      link.set_lent(pool_->lends(i));
      if (pool_->gave_back(i)) link.give_back(events_);
    }
  }

  /// Of a job's slots. None while something of what ran there is on its way.
  [[nodiscard]] std::uint32_t free_slots(SiteHost& host) const {
    const RemoteHost& about = host.link.host();
    if (arrivals_.any_of(about.id) || !host.delivered.empty()) return 0;
    const std::size_t given = host.link.channel().outstanding();
    const std::uint32_t slots = std::max(1U, about.slots);
    return slots - static_cast<std::uint32_t>(std::min<std::size_t>(given, slots));
  }

  [[nodiscard]] bool has_to_send() const {
    return depot_.wants_to_send() || std::ranges::any_of(hosts_, [](const auto& each) {
             return each.second.link.wants_to_send();
           });
  }

  /// What runs goes on, with its job. The others are given back.
  void release_pool() {
    std::vector<bool> idle;
    for (const RemoteHost& host : site_.hosts)
      idle.push_back(hosts_.at(host.id).link.channel().is_idle());
    pool_->release(idle);
  }

  void let_go() {
    if (std::exchange(ending_, Ending::ends) == Ending::ends) return;
    if (pool_) pool_->close(last_events_);
    for (auto& [id, host] : hosts_) host.link.close();
    depot_.close();
  }

  void refuse(const TaskKey& key, HostId host, const Fingerprint& fingerprint,
              const std::string& why) {
    AttemptReport report;
    report.key = key;
    report.cause = FailureCause::start_failed;
    report.detail = why;
    report.started = report.ended = RealClock{}.now();
    events_.emplace_back(ReportReceived{std::move(report), fingerprint, host, 0});
  }

  void hand_over_ready() {
    for (auto at = waiting_.begin(); at != waiting_.end();) {
      Waiting& waiting = at->second;
      std::erase_if(waiting.files, [&](const Digest& file) { return depot_.has(file); });
      HostLink& link = hosts_.at(waiting.host).link;
      const auto missing = std::ranges::find_if(
          waiting.files, [&](const Digest& file) { return !depot_.expects(file); });
      const bool lost = missing != waiting.files.end();
      if (lost && trouble_.empty()) trouble_ = depot_.why_not(*missing);
      if (lost || !link.up()) {
        events_.emplace_back(AttemptReturned{at->first, waiting.host});
        release_files(at->first);
      } else if (waiting.files.empty()) {
        link.channel().start(waiting.start);
      } else {
        ++at;
        continue;
      }
      at = waiting_.erase(at);
    }
  }

  /// Whatever else is started here would fail the same way, and quickly.
  void pause(Clock::time_point now) {
    const std::string why = std::exchange(trouble_, {});
    for (auto& [id, host] : hosts_) host.link.pause(now, why);
  }

  void give_back_waiting(HostId host) {
    for (auto at = waiting_.begin(); at != waiting_.end();) {
      if (at->second.host != host) {
        ++at;
        continue;
      }
      events_.emplace_back(AttemptReturned{at->first, host});
      release_files(at->first);
      at = waiting_.erase(at);
    }
  }

  void release_files(const TaskKey& key) {
    const auto found = in_use_.find(key);
    if (found == in_use_.end()) return;
    for (const TaskFile& file : found->second) depot_.release(file);
    in_use_.erase(found);
  }

  void on_heard(SiteHost& host, News event) {
    if (find_in<HostDown>(event) != nullptr) {
      // What it had reported it will report again.
      give_back_waiting(host.link.host().id);
      arrivals_.on_vanished(host.link.host().id);
      host.delivered.clear();
    }
    auto* report = std::get_if<ReportReceived>(&event);
    if (report == nullptr) {
      if (const auto* returned = find_in<AttemptReturned>(event)) release_files(returned->key);
      events_.push_back(std::move(event));
      return;
    }
    arrivals_.take(std::move(*report), host.link.host(), host.link.scratch());
  }

  void deliver(SiteHost& host) {
    while (auto report = arrivals_.next_of(host.link.host().id)) {
      const std::uint64_t agents = std::exchange(report->receipt, ++receipts_);
      host.delivered.push_back({receipts_, agents, report->report.key, report->swept,
                                !report->report.remote_files.empty(),
                                std::exchange(report->printed, {})});
      events_.emplace_back(std::move(*report));
    }
  }

  void watch() {
    std::vector<ReadySet::Wanted> wanted;
    for (const auto& [id, host] : hosts_)
      wanted.push_back({host.link.fd(), host.link.wants_to_send()});
    depot_.add_wanted(wanted);
    if (pool_) pool_->add_wanted(wanted);
    ready_.watch(wanted);
  }

  RemoteSite site_;
  SiteDepot depot_;
  Arrivals arrivals_{site_, depot_};
  std::map<HostId, SiteHost> hosts_;
  std::optional<PilotPool> pool_;  ///< when the hosts are jobs
  std::map<TaskKey, Waiting> waiting_;
  std::map<TaskKey, std::vector<TaskFile>> in_use_;  ///< of tasks that were handed over
  ReadySet ready_;
  std::vector<News> heard_;
  std::vector<News> events_;
  std::vector<News> last_events_;  ///< of jobs that are given back at the end
  std::string trouble_;            ///< why files cannot be sent to the site
  std::size_t ways_tried_ = 0;     ///< to its depot, in vain
  Ending ending_ = Ending::sends;
  std::optional<Clock::time_point> wound_up_by_;  ///< once it has begun to
  std::uint64_t receipts_ = 0;
};

}  // namespace

std::unique_ptr<Launcher> make_ssh_launcher(RemoteSite site, const AgentBinary& binary) {
  return std::make_unique<SshLauncher>(std::move(site), binary);
}

}  // namespace gantry
