#include "actuate/move/arrivals.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "depot/file_tools.hpp"

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

void Arrivals::take(ReportReceived report, const RemoteHost& host, const std::string& scratch) {
  Arrival arrival{.report = std::move(report)};
  AttemptReport& about = arrival.report.report;
  fetch_printed(arrival, host);
  if (const auto note = OutputNote::find_in(arrival.report.note)) {
    const std::string folder = work_folder(site_, about.key);
    // An earlier gantry may have started it, for a study in another folder.
    const std::filesystem::path base = note->base.empty() ? site_.base_dir.string() : note->base;
    const Sandbox there(base, scratch + "/" + folder);
    for (auto& [path, content] : about.collected)
      for (const auto& home : note->collect)
        if (there.there(home) == path) path = home;
    about.detail = there.as_here(std::move(about.detail));
    take_kept(about, *note, there);
    if (about.cause == FailureCause::none) fetch_outputs(arrival, *note, Sandbox(base, folder));
  }
  auto before = std::exchange(unclaimed_[about.key], {});
  unclaimed_.erase(about.key);
  for (Fetch& fetch : arrival.fetches) {
    const auto known = std::ranges::find_if(
        before, [&](const Fetch& each) { return each.file.local == fetch.file.local; });
    if (known != before.end()) fetch = *known;
  }
  hosts_[arrival.report.host].push_back(std::move(arrival));
}

/// Long output of the task, to a place of its own.
void Arrivals::fetch_printed(Arrival& arrival, const RemoteHost& host) {
  AttemptReport& report = arrival.report.report;
  for (auto* stream : {&report.out, &report.err}) {
    if (stream->pack.empty()) continue;
    const std::string pack = std::exchange(stream->pack, {});
    if (!depot::is_below(pack)) {
      stream->truncated = true;
      continue;
    }
    stream->pack = fmt::format("run-{}/{}.{}.{}", report.key.run.value(), report.key.task.value(),
                               report.key.attempt.value(), stream == &report.out ? "out" : "err");
    const std::string remote = host_folder(site_, host.name) + "/output/" + pack;
    // An older agent may have other tasks' output in it.
    if (pack == stream->pack) arrival.report.printed.push_back(remote);
    arrival.fetches.push_back({.file = {.remote = remote,
                                        .local = (site_.output_dir / stream->pack).string(),
                                        .offset = std::exchange(stream->offset, 0),
                                        .length = stream->size}});
  }
}

void Arrivals::fetch_outputs(Arrival& arrival, const OutputNote& note,
                             const Sandbox& below_scratch) {
  for (std::size_t i = 0; i < note.outputs.size(); ++i) {
    const std::string& path = note.outputs[i];
    const auto& kept = arrival.report.report.remote_files;
    if (std::ranges::find(kept, path, &RemoteFile::path) != kept.end()) continue;
    if (!below_scratch.relative(path))
      return fail_output(arrival.report.report, path + ": is not below its study's folder");
    const auto here = site_.incoming / below_scratch.folder() / std::to_string(i);
    arrival.fetches.push_back(
        {.file = {.remote = below_scratch.there(path), .local = here.string()}});
    arrival.report.outputs.push_back({here.string(), path});
  }
}

/// Of what the site says that it has kept, only what it was asked to, where it was asked to.
void Arrivals::take_kept(AttemptReport& report, const OutputNote& note,
                         const Sandbox& there) const {
  const std::vector<RemoteFile> claimed = std::exchange(report.remote_files, {});
  if (report.cause != FailureCause::none) return;
  for (const std::string& path : note.staying) {
    const auto found = std::ranges::find(claimed, there.there(path), &RemoteFile::path);
    const auto below = there.relative(path);
    if (found == claimed.end() || !below) continue;
    report.remote_files.push_back({path, site_.name, kept_folder(site_, report.key) + "/" + *below,
                                   found->bytes, found->content, site_.grid_file});
  }
}

void Arrivals::on_vanished(HostId host) {
  const auto found = hosts_.find(host);
  if (found == hosts_.end()) return;
  for (Arrival& arrival : found->second)
    unclaimed_[arrival.report.report.key] = std::move(arrival.fetches);
  hosts_.erase(found);
}

bool Arrivals::any_of(HostId host) const {
  const auto found = hosts_.find(host);
  return found != hosts_.end() && !found->second.empty();
}

void Arrivals::poll(Clock::time_point now, std::vector<News>& events) {
  for (auto& [host, arrivals] : hosts_)
    for (Arrival& arrival : arrivals) look_at(arrival, now, events);
  for (auto& [key, fetches] : unclaimed_)
    for (Fetch& fetch : fetches) {
      if (!fetch.under_way) continue;
      const auto outcome = depot_.take_outcome(*fetch.under_way);
      if (!outcome) continue;
      fetch.under_way.reset();
      fetch.done = outcome->why.empty();
    }
}

void Arrivals::look_at(Arrival& arrival, Clock::time_point now, std::vector<News>& events) {
  bool all = true;
  for (Fetch& fetch : arrival.fetches) {
    if (fetch.under_way) {
      if (const auto outcome = depot_.take_outcome(*fetch.under_way)) {
        fetch.under_way.reset();
        fetch.done = outcome->why.empty();
        if (!fetch.done) on_failed(arrival, fetch, *outcome, now, events);
      }
    } else if (!fetch.done && now >= fetch.again) {
      fetch.under_way = depot_.fetch(fetch.file);
    }
    all = all && fetch.done;
  }
  if (all || std::exchange(arrival.announced, true)) return;
  // Nobody may know that it was started: it may have been by an earlier gantry.
  const AttemptReport& report = arrival.report.report;
  events.emplace_back(AttemptStarted{report.key, arrival.report.host, report.started});
  events.emplace_back(AttemptComputed{report.key, arrival.report.host});
}

void Arrivals::on_failed(Arrival& arrival, Fetch& fetch, const SiteDepot::Outcome& outcome,
                         Clock::time_point now, std::vector<News>& events) {
  AttemptReport& report = arrival.report.report;
  if (!outcome.lost_connection && !outcome.here) {
    fail_output(report, outcome.why);
    fetch.done = true;
    return;
  }
  fetch.again = now + arrival.pause;
  arrival.pause = std::min(2 * arrival.pause, kLongestPause);
  if (!std::exchange(arrival.told, true))
    events.emplace_back(
        Notice{fmt::format("what task {} made at {} does not come: {}; trying again",
                           report.key.task.value(), site_.name, outcome.why)});
}

std::optional<ReportReceived> Arrivals::next_of(HostId host) {
  const auto found = hosts_.find(host);
  if (found == hosts_.end() || found->second.empty()) return std::nullopt;
  Arrival& first = found->second.front();
  if (!std::ranges::all_of(first.fetches, &Fetch::done)) return std::nullopt;
  ReportReceived report = std::move(first.report);
  found->second.pop_front();
  return report;
}

}  // namespace gantry
