#include "actuate/move/arrivals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace gantry {

namespace {

using namespace std::chrono_literals;

constexpr std::chrono::milliseconds kLongestPause = 60s;

/// There is nothing to fetch any more.
void fail_output(AttemptReport& report, std::string why) {
  if (report.cause != FailureCause::none) return;
  report.cause = FailureCause::missing_output;
  report.detail = std::move(why);
}

}  // namespace

void Arrivals::take(ReportReceived report) {
  Arrival arrival{.report = std::move(report)};
  ReportReceived& received = arrival.report;
  const TaskKey key = received.report.key;
  const auto fetch = [&](const FarFile& file, std::string here) {
    arrival.fetches.push_back({.file = {.remote = file.remote,
                                        .local = std::move(here),
                                        .offset = file.offset,
                                        .length = file.length}});
  };
  for (const FarFile& file : received.left.printed) fetch(file, folders_.output_dir / file.path);
  const auto folder = folders_.incoming / fmt::format("{}.{}.{}", key.run.value(), key.task.value(),
                                                      key.attempt.value());
  for (const FarFile& file : received.left.outputs) {
    const auto here = folder / std::to_string(received.outputs.size());
    fetch(file, here);
    received.outputs.push_back({here.string(), file.path});
  }
  auto before = std::exchange(unclaimed_[key], {});
  unclaimed_.erase(key);
  for (Fetch& each : arrival.fetches) {
    const auto known = std::ranges::find_if(
        before, [&](const Fetch& other) { return other.file.local == each.file.local; });
    if (known != before.end()) each = *known;
  }
  hosts_[received.host].push_back(std::move(arrival));
}

void Arrivals::on_vanished(HostId host) {
  const auto found = hosts_.find(host);
  if (found == hosts_.end()) return;
  for (Arrival& arrival : found->second)
    unclaimed_[arrival.report.report.key] = std::move(arrival.fetches);
  hosts_.erase(found);
}

void Arrivals::poll(SteadyTime now, std::vector<News>& news) {
  for (auto& [host, arrivals] : hosts_)
    for (Arrival& arrival : arrivals) look_at(arrival, now, news);
  for (auto& [key, fetches] : unclaimed_)
    for (Fetch& fetch : fetches) {
      if (!fetch.under_way) continue;
      const auto outcome = depot_.take_outcome(*fetch.under_way);
      if (!outcome) continue;
      fetch.under_way.reset();
      fetch.done = outcome->why.empty();
    }
}

void Arrivals::look_at(Arrival& arrival, SteadyTime now, std::vector<News>& news) {
  bool all = true;
  for (Fetch& fetch : arrival.fetches) {
    if (fetch.under_way) {
      if (const auto outcome = depot_.take_outcome(*fetch.under_way)) {
        fetch.under_way.reset();
        fetch.done = outcome->why.empty();
        if (!fetch.done) on_failed(arrival, fetch, *outcome, now, news);
      }
    } else if (!fetch.done && now >= fetch.again) {
      fetch.under_way = depot_.fetch(fetch.file);
    }
    all = all && fetch.done;
  }
  if (all || std::exchange(arrival.announced, true)) return;
  // Nobody may know that it was started: it may have been by an earlier gantry.
  const AttemptReport& report = arrival.report.report;
  news.emplace_back(AttemptStarted{report.key, arrival.report.host, report.started});
  news.emplace_back(AttemptComputed{report.key, arrival.report.host});
}

void Arrivals::on_failed(Arrival& arrival, Fetch& fetch, const TransferFailed& failed,
                         SteadyTime now, std::vector<News>& news) {
  AttemptReport& report = arrival.report.report;
  if (!failed.lost_connection && !failed.here) {
    fail_output(report, failed.why);
    fetch.done = true;
    return;
  }
  fetch.again = now + arrival.pause;
  arrival.pause = std::min(2 * arrival.pause, kLongestPause);
  if (!std::exchange(arrival.told, true))
    news.emplace_back(Notice{fmt::format("what task {} made at {} does not come: {}; trying again",
                                         report.key.task.value(), site_, failed.why)});
}

std::optional<ReportReceived> Arrivals::next() {
  for (auto& [host, arrivals] : hosts_) {
    if (arrivals.empty() || !std::ranges::all_of(arrivals.front().fetches, &Fetch::done)) continue;
    ReportReceived report = std::move(arrivals.front().report);
    arrivals.pop_front();
    return report;
  }
  return std::nullopt;
}

}  // namespace gantry
