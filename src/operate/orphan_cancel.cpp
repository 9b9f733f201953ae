#include "operate/orphan_cancel.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <string>
#include <variant>

#include "driver/grid_launch.hpp"
#include "store/run_lock.hpp"

namespace gantry::operate {

namespace {

constexpr int kCancelLookMs = 100;

class Cancelling {
 public:
  Cancelling(Launcher& launcher, store::Store& store, driver::UndrivenRuns& runs,
             const std::vector<store::Request>& requests, const Clock& clock)
      : launcher_(launcher), store_(store), runs_(runs), requests_(requests), clock_(clock) {}

  Result<bool> run() {
    TRY(launcher_.open());
    TRY(take_news());
    bool any = false;
    for (const auto& request : requests_) {
      TRY_ASSIGN(const bool some, runs_.cancel(request, launcher_, clock_.now()));
      any |= some;
    }
    while (std::ranges::any_of(runs_.running(),
                               [&](const auto& entry) { return is_wanted(entry.first); })) {
      TRY_ASSIGN(const bool news, take_news());
      if (!news) TRY(wait());
    }
    TRY(store_.commit());
    if (receipt_ != 0) launcher_.acknowledge(receipt_);
    launcher_.close();
    return any;
  }

 private:
  [[nodiscard]] bool is_wanted(const TaskKey& key) const {
    return std::ranges::any_of(requests_, [&](const auto& r) { return driver::is_meant(r, key); });
  }

  /// True when there was some.
  Result<bool> take_news() {
    std::vector<News> events;
    TRY(launcher_.poll(events));
    for (auto& event : events) {
      if (auto* report = std::get_if<ReportReceived>(&event)) {
        const std::string& host = host_names_[report->host];
        TRY_ASSIGN(const std::string why, runs_.take(*report, host, clock_.now()));
        if (!why.empty())
          return fail(ErrorCode::io, why, "make it possible, and run the same command again");
        receipt_ = report->receipt;
      } else if (const auto* running = find_in<AttemptStarted>(event)) {
        runs_.started(running->key, running->host);
      } else if (const auto* returned = find_in<AttemptReturned>(event)) {
        runs_.returned(returned->key);
      } else if (const auto* appeared = find_in<HostUp>(event)) {
        host_names_[appeared->host.id] = appeared->host.name;
      } else if (auto* vanished = find_in<HostDown>(event)) {
        return fail(ErrorCode::peer, std::move(vanished->why));
      }
    }
    return !events.empty();
  }

  Result<> wait() {
    const short want = launcher_.wants_to_send() ? POLLIN | POLLOUT : POLLIN;
    pollfd fd{launcher_.wait_fd(), want, 0};
    if (::poll(&fd, 1, kCancelLookMs) < 0 && errno != EINTR) return fail_errno("poll");
    return {};
  }

  Launcher& launcher_;
  store::Store& store_;
  driver::UndrivenRuns& runs_;
  const std::vector<store::Request>& requests_;
  const Clock& clock_;
  std::map<HostId, std::string> host_names_;
  std::uint64_t receipt_ = 0;
};

}  // namespace

Result<bool> cancel_orphans(Launcher& launcher, store::Store& store, driver::UndrivenRuns& runs,
                            const std::vector<store::Request>& requests, const Clock& clock) {
  return Cancelling(launcher, store, runs, requests, clock).run();
}

Result<bool> cancel_undriven(const std::vector<store::Request>& requests,
                             const driver::Options& options, const Clock& clock) {
  TRY_ASSIGN(const auto lock, store::RunLock::acquire(options.state_dir));
  TRY_ASSIGN(auto store, store::Store::open(options.state_dir, store::Access::read_write));
  driver::UndrivenRuns runs(store, options);
  TRY_ASSIGN(const auto sites, driver::GridLaunch::make(options, std::filesystem::current_path()));
  return cancel_orphans(sites.launcher(), store, runs, requests, clock);
}

}  // namespace gantry::operate
