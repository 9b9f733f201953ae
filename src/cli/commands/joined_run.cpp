#include "cli/commands/joined_run.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <deque>
#include <set>

#include "driver/signals.hpp"
#include "query/join_driver.hpp"
#include "store/run_lock.hpp"

namespace gantry::cli {
namespace {

using namespace std::chrono_literals;

constexpr int kLookMs = 100;
constexpr Duration kRateWindow = 3s;

class Watch {
 public:
  Watch(Context& context, store::Store store, query::JoinedRuns joined,
        const driver::Observer& observer)
      : context_(context),
        store_(std::move(store)),
        joined_(std::move(joined)),
        observer_(observer),
        began_(context.clock.now()) {
    for (const RunId run : joined_.runs) {
      Seen& seen = seen_.emplace_back();
      seen.summary.run = run;
      seen.seq = joined_.since;
    }
  }

  Result<std::vector<driver::Summary>> run() {
    TRY_ASSIGN(auto signals, driver::StopSignals::watch());
    for (;;) {
      // Asked first: what that gantry recorded, it recorded before it ended.
      const bool driven = store::RunLock::holder(context_.state_dir) == joined_.holder;
      TRY(look());
      const bool stopped = signals.take() > 0;
      const bool over = std::ranges::all_of(seen_, &Seen::let_go);
      if (over || stopped || !driven) return summaries(stopped && !over);
      pollfd fd{signals.fd(), POLLIN, 0};
      ::poll(&fd, 1, kLookMs);
    }
  }

 private:
  struct Seen {
    driver::Summary summary{};
    std::int64_t seq = 0;  ///< up to which events were looked at
    std::set<TaskId> succeeded{};
    Eta eta{};
    std::string name{};
    bool let_go = false;  ///< by the gantry that ran it
    bool finished = false;
  };

  Result<> look() {
    const TimePoint now = context_.clock.now();
    std::size_t ended = 0;
    for (Seen& seen : seen_) {
      driver::Summary& summary = seen.summary;
      TRY_ASSIGN(const auto record, store_.run(summary.run));
      if (!record)
        return fail(ErrorCode::gone, fmt::format("run {} was removed", summary.run.value()));
      summary.counts = record->counts;
      summary.elapsed = now - began_;
      seen.eta = record->eta;
      seen.name = record->name;
      // Its gantry lets go of one that was cancelled, or cannot go on, without finishing it.
      seen.let_go = record->pid == 0;
      seen.finished = record->state == store::RunState::finished;
      TRY(store_.follow_ends(summary.run, seen.seq, [&](const AttemptEnded& event) {
        ++summary.executed;
        if (event.report.cause == FailureCause::none) seen.succeeded.insert(event.report.key.task);
        if (observer_.ended) observer_.ended(event, driver::AfterEnd::over);
      }));
      const auto made = static_cast<std::uint32_t>(seen.succeeded.size());
      summary.unchanged = summary.counts.done - std::min(made, summary.counts.done);
      ended += summary.executed;
    }
    rate_.emplace_back(now, ended);
    while (rate_.size() > 2 && now - rate_.front().first > kRateWindow) rate_.pop_front();
    if (observer_.progress) observer_.progress(progress());
    return {};
  }

  [[nodiscard]] driver::Progress progress() const {
    driver::Progress all;
    all.run = seen_.front().summary.run;
    all.elapsed = seen_.front().summary.elapsed;
    const double span = seconds(rate_.back().first - rate_.front().first);
    if (span > 0)
      all.tasks_per_second = static_cast<double>(rate_.back().second - rate_.front().second) / span;
    for (const Seen& seen : seen_) {
      all.counts += seen.summary.counts;
      all.eta = latest(all.eta, seen.eta);
      if (seen_.size() > 1)
        all.runs.push_back({seen.summary.run, seen.name, seen.summary.counts, seen.eta});
    }
    return all;
  }

  [[nodiscard]] std::vector<driver::Summary> summaries(bool stopped) {
    std::vector<driver::Summary> summaries;
    for (Seen& seen : seen_) {
      driver::Summary& summary = summaries.emplace_back(seen.summary);
      summary.interrupted = !seen.finished;
      if (seen.finished) continue;
      const auto run = summary.run.value();
      summary.why =
          stopped && !seen.let_go
              ? fmt::format("run {} goes on in process {}; 'gantry cancel --run {}' ends it", run,
                            joined_.holder, run)
          : seen.let_go
              ? "the gantry that ran it has stopped it"
              : fmt::format("the gantry that ran it (process {}) has ended", joined_.holder);
    }
    return summaries;
  }

  Context& context_;
  store::Store store_;
  query::JoinedRuns joined_;
  const driver::Observer& observer_;
  TimePoint began_;
  std::vector<Seen> seen_;
  std::deque<std::pair<TimePoint, std::size_t>> rate_;  ///< when, attempts that had ended
};

}  // namespace

Result<std::optional<std::vector<driver::Summary>>> run_joined(Context& context,
                                                               const std::vector<driver::Job>& jobs,
                                                               const driver::Observer& observer) {
  std::vector<store::StudyRequest> studies;
  studies.reserve(jobs.size());
  for (const driver::Job& job : jobs) studies.push_back({job.source, job.weight});
  TRY_ASSIGN(auto joined, query::join_driver(context.state_dir, studies));
  if (!joined) return std::nullopt;
  TRY_ASSIGN(auto store, store::Store::open(context.state_dir, store::Access::read_only));
  if (observer.notice)
    observer.notice(
        fmt::format("running in the gantry that runs here already (process {})", joined->holder));
  // The run may have grown from an earlier study: its tasks keep their numbers.
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    TRY_ASSIGN(const auto record, store.run(joined->runs[i]));
    const bool numbered =
        record && jobs[i].application.number_tasks(record->batches, record->numbering);
    if (!numbered && observer.notice)
      observer.notice("the tasks of this run cannot be named here; 'gantry tasks' lists them");
  }
  return Watch(context, std::move(store), std::move(*joined), observer).run();
}

}  // namespace gantry::cli
