#include "operate/orphan_cancel.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <variant>

#include "driver/grid_launch.hpp"
#include "driver/take_over.hpp"
#include "store/run_lock.hpp"

namespace gantry::operate {

namespace {

class Cancelling {
 public:
  Cancelling(Sites& sites, store::Store& store, driver::UndrivenRuns& runs,
             const std::vector<store::Request>& requests, const Clock& clock)
      : sites_(sites), store_(store), runs_(runs), requests_(requests), clock_(clock) {}

  Result<bool> run() {
    for (bool open = false; !open;) {
      TRY_ASSIGN(open, sites_.open(Leftovers::possible, clock_.now()));
      TRY_ASSIGN(const bool news, take_news());
      if (!open && !news) TRY(driver::wait_for_news(sites_));
    }
    bool any = false;
    for (const auto& request : requests_) {
      TRY_ASSIGN(const bool some, runs_.cancel(request, sites_, clock_.now()));
      any |= some;
    }
    while (std::ranges::any_of(runs_.running(),
                               [&](const auto& entry) { return is_wanted(entry.first); })) {
      TRY_ASSIGN(const bool news, take_news());
      if (!news) TRY(driver::wait_for_news(sites_));
    }
    TRY(store_.commit());
    if (receipt_ != 0) sites_.acknowledge(receipt_);
    std::vector<News> last;
    sites_.close(last);
    return any;
  }

 private:
  [[nodiscard]] bool is_wanted(const TaskKey& key) const {
    return std::ranges::any_of(requests_, [&](const auto& r) { return driver::is_meant(r, key); });
  }

  /// True when there was some.
  Result<bool> take_news() {
    std::vector<News> news;
    TRY(sites_.poll(clock_.now(), news));
    for (auto& each : news) {
      if (auto* report = find_in<ReportReceived>(each)) {
        const std::string& host = host_names_[report->host];
        TRY_ASSIGN(const std::string why, runs_.take(*report, host, clock_.now()));
        if (!why.empty())
          return fail(ErrorCode::io, why, "make it possible, and run the same command again");
        receipt_ = report->receipt;
      } else if (const auto* running = find_in<AttemptStarted>(each)) {
        runs_.started(running->key, running->host);
      } else if (const auto* returned = find_in<AttemptReturned>(each)) {
        runs_.returned(returned->key);
      } else if (const auto* appeared = find_in<HostUp>(each)) {
        host_names_[appeared->host.id] = appeared->host.name;
      } else if (auto* vanished = find_in<HostDown>(each)) {
        return fail(ErrorCode::peer, std::move(vanished->why));
      }
    }
    return !news.empty();
  }

  Sites& sites_;
  store::Store& store_;
  driver::UndrivenRuns& runs_;
  const std::vector<store::Request>& requests_;
  const Clock& clock_;
  std::map<HostId, std::string> host_names_;
  std::uint64_t receipt_ = 0;
};

}  // namespace

Result<bool> cancel_orphans(Sites& sites, store::Store& store, driver::UndrivenRuns& runs,
                            const std::vector<store::Request>& requests, const Clock& clock) {
  return Cancelling(sites, store, runs, requests, clock).run();
}

Result<bool> cancel_undriven(const std::vector<store::Request>& requests,
                             const driver::Options& options, const Clock& clock) {
  TRY_ASSIGN(const auto lock, store::RunLock::acquire(options.state_dir));
  TRY_ASSIGN(auto store, store::Store::open(options.state_dir, store::Access::read_write));
  driver::UndrivenRuns runs(store, options);
  TRY_ASSIGN(const auto sites, driver::GridLaunch::make(options));
  return cancel_orphans(sites.sites(), store, runs, requests, clock);
}

}  // namespace gantry::operate
