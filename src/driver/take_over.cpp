#include "driver/take_over.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "driver/claims.hpp"

namespace gantry::driver {

namespace {

constexpr std::size_t kMostCommandShown = 200;

std::string what_both_do(const Task& task, const Claim& claim) {
  if (claim.file != nullptr)
    return "write " + std::filesystem::path(*claim.file).lexically_normal().string();
  std::string command = fmt::format("{}", fmt::join(task.argv, " "));
  if (command.size() > kMostCommandShown) command = command.substr(0, kMostCommandShown) + "...";
  return fmt::format("run '{}' in {}", command, task.workdir);
}

class TakeOver {
 public:
  TakeOver(Sites& sites, Leftovers leftovers, store::Store& store, UndrivenRuns& others,
           std::span<const Job> jobs, const std::set<RunId>& ours, const Observer& observer,
           const Clock& clock)
      : sites_(sites),
        leftovers_(leftovers),
        store_(store),
        others_(others),
        jobs_(jobs),
        ours_(ours),
        observer_(observer),
        clock_(clock) {}

  Result<Opened> run() {
    // Of a session which did not live to take them: dropped.
    TRY_ASSIGN(const auto old, store_.take_requests());
    for (const auto& request : old) TRY(refuse_study(request));
    TRY(open());
    TRY_ASSIGN(awaited_, twins_of(jobs_, others_));
    TRY(store_.commit());
    announce();
    const TimePoint began = clock_.now();
    while (!awaited_.empty()) {
      if (observer_.waiting) observer_.waiting(count(), clock_.now() - began);
      TRY(wait_for_news(sites_));
      TRY(take_news());
      TRY(take_requests());
      TRY(store_.commit());
    }
    return std::move(opened_);
  }

 private:
  Result<> open() {
    for (;;) {
      TRY_ASSIGN(const bool done, sites_.open(leftovers_, clock_.now()));
      TRY(take_news());
      if (done) return {};
      TRY(wait_for_news(sites_));
    }
  }

  Result<> take_news() {
    std::vector<News> news;
    TRY(sites_.poll(clock_.now(), news));
    for (auto& each : news) TRY(on_news(std::move(each)));
    return {};
  }

  Result<> on_news(News news) {
    if (auto* notice = find_in<Notice>(news)) {
      if (observer_.notice) observer_.notice(notice->text);
      return {};
    }
    if (const auto* appeared = find_in<HostUp>(news)) {
      host_names_[appeared->host.id] = appeared->host.name;
    } else if (const auto* vanished = find_in<HostDown>(news)) {
      // It may never come back; if it does, its tasks have written into folders of their own.
      for (const auto& [key, host] : others_.running())
        if (host == vanished->host) awaited_.erase(key);
    } else if (const auto* running = find_in<AttemptStarted>(news)) {
      TRY_ASSIGN(const bool others, is_others(running->key));
      if (others) others_.started(running->key, running->host);
    } else if (auto* report = find_in<ReportReceived>(news)) {
      opened_.receipt = std::max(opened_.receipt, report->receipt);
      TRY_ASSIGN(const bool others, is_others(report->report.key));
      if (others) {
        awaited_.erase(report->report.key);
        TRY_ASSIGN(const std::string why,
                   others_.take(*report, host_names_[report->host], clock_.now()));
        if (why.empty()) return {};  // else the session tries again
      }
    }
    opened_.news.push_back(std::move(news));
    return {};
  }

  /// Numbers that no run has are left to the session, whose run may get such a number.
  Result<bool> is_others(const TaskKey& key) {
    if (ours_.contains(key.run)) return false;
    return others_.knows(key.run);
  }

  void announce() const {
    std::map<RunId, std::uint32_t> tasks;
    for (const auto& key : awaited_) ++tasks[key.run];
    for (const auto& [run, n] : tasks) {
      if (!observer_.notice) return;
      observer_.notice(
          fmt::format("waiting for {} of run {} that still run{}; 'gantry cancel --run {}' ends {}",
                      n == 1 ? "1 task" : fmt::format("{} tasks", n), run.value(),
                      n == 1 ? "s" : "", run.value(), n == 1 ? "it" : "them"));
    }
  }

  Result<> take_requests() {
    TRY_ASSIGN(const auto requests, store_.take_requests());
    for (const auto& request : requests) {
      TRY(refuse_study(request));
      TRY(others_.cancel(request, sites_, clock_.now()));
    }
    return {};
  }

  /// Whoever asks to join waits for an answer.
  Result<> refuse_study(const store::Request& request) {
    if (!request.study) return {};
    return store_.answer(request.id, fail(ErrorCode::busy, "the gantry here is still starting",
                                          "run the same command again in a moment"));
  }

  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(awaited_.size()); }

  Sites& sites_;
  Leftovers leftovers_;
  store::Store& store_;
  UndrivenRuns& others_;
  std::span<const Job> jobs_;
  const std::set<RunId>& ours_;
  const Observer& observer_;
  const Clock& clock_;
  std::map<HostId, std::string> host_names_;
  std::set<TaskKey> awaited_;
  Opened opened_;
};

}  // namespace

Result<std::set<TaskKey>> twins_of(std::span<const Job> jobs, UndrivenRuns& others) {
  std::set<TaskKey> twins;
  Claims claims;
  std::unordered_map<Digest, std::vector<TaskKey>> running;  // by what they claim
  for (const auto& [key, host] : others.running()) {
    TRY_ASSIGN(const Application* study, others.study(key.run));
    if (study == nullptr || key.task.value() > study->size()) {
      twins.insert(key);
      continue;
    }
    const Task task = study->task(key.task);
    for (const Claim& claim : claims.of(task)) running[claim.digest].push_back(key);
  }
  Task task;
  for (const Job& job : jobs) {
    for (std::uint32_t i = 1; !running.empty() && i <= job.application.size(); ++i) {
      job.application.fill_task(TaskId(i), task);
      for (const Claim& claim : claims.of(task)) {
        const auto found = running.find(claim.digest);
        if (found == running.end()) continue;
        twins.insert(found->second.begin(), found->second.end());
        running.erase(found);
      }
    }
  }
  return twins;
}

Result<> wait_for_news(const Sites& sites) {
  constexpr int kLookMs = 100;
  const auto [wait_fd, to_send] = sites.waits_for();
  pollfd fd{wait_fd, static_cast<short>(to_send ? POLLIN | POLLOUT : POLLIN), 0};
  if (::poll(&fd, 1, kLookMs) < 0 && errno != EINTR) return fail_errno("poll");
  return {};
}

Result<> check_apart(std::span<const Job> jobs) {
  if (jobs.size() == 1 && jobs.front().application.nodes().size() == 1) return {};
  struct Claimed {
    const Job* job;
    const Node* node;
    TaskId task;
  };
  Claims claims;
  std::unordered_map<Digest, Claimed> claimed;
  Task task;
  for (const Job& job : jobs) {
    const Application& application = job.application;
    for (TaskId id(1); id.value() <= application.size(); id = TaskId(id.value() + 1)) {
      application.fill_task(id, task);
      const Node* node = &application.nodes()[application.node_of(id).value()];
      for (const Claim& claim : claims.of(task)) {
        const auto [first, is_new] = claimed.try_emplace(claim.digest, Claimed{&job, node, id});
        if (is_new || first->second.node == node) continue;
        return fail(ErrorCode::usage,
                    fmt::format("task {} of {} and task {} of {} both {}",
                                first->second.task.value(), first->second.node->name, id.value(),
                                node->name, what_both_do(task, claim)),
                    first->second.job == &job
                        ? "give each node a folder or files of its own"
                        : "run one study after the other: the second reuses what the first has "
                          "made");
      }
    }
  }
  return {};
}

Result<Opened> take_over(Sites& sites, Leftovers leftovers, store::Store& store,
                         UndrivenRuns& others, std::span<const Job> jobs,
                         const std::set<RunId>& ours, const Observer& observer,
                         const Clock& clock) {
  return TakeOver(sites, leftovers, store, others, jobs, ours, observer, clock).run();
}

}  // namespace gantry::driver
