#include "cli/commands/explain_place.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "cli/terminal/display_text.hpp"
#include "cli/terminal/format.hpp"
#include "model/quantity.hpp"

namespace gantry::cli {
namespace {

using store::LiveArrival;
using store::LiveHost;
using store::LiveSite;
using store::LiveState;
using store::LiveTask;
using store::LiveWait;

constexpr std::size_t kOthersShown = 3;

Duration ago(TimePoint time, TimePoint now) {
  return std::max(now - time, Duration{0});
}

std::string count_of(std::size_t count, std::string_view what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

class Place {
 public:
  Place(const LiveState& live, double cost, TimePoint now) : live_(live), cost_(cost), now_(now) {}

  void on_host(const LiveHost& host, const LiveTask& task) {
    settle(host);
    if (task.started == kNever) {
      add(fmt::format("It is next on {}: {}/{} slots are busy there.", name(host), host.busy,
                      host.slots));
    } else {
      place_.running = true;
      add(fmt::format("Attempt {} runs on {}, for {} so far{}.", task.attempt, name(host),
                      format_duration(ago(task.started, now_)), expected_text(task.expected)));
    }
    add_memory(task);
    add_reason(host, task.cost);
  }

  void on_its_way_home(const LiveHost& host, const LiveArrival& arrival) {
    settle(host);
    place_.running = true;  // as all others count it
    add(fmt::format("Attempt {} has ended on {}; what it made has been on its way home for {}.",
                    arrival.attempt, name(host), format_duration(ago(arrival.since, now_))));
    const LiveSite* site = site_of(host);
    if (site == nullptr) return;
    const std::string all =
        site->homeward == 1 ? "" : fmt::format(", of {} attempts", site->homeward);
    add(site->bytes_per_second > 0
            ? fmt::format("Files go to {} and come from there at {}{}.", one_line(site->name),
                          format_bandwidth(site->bytes_per_second), all)
            : fmt::format("Nothing comes from {} at the moment.", one_line(site->name)));
  }

  void for_files(const LiveHost& host, const LiveWait& wait) {
    settle(host);
    add(fmt::format("It has a place on {} and waits until its files are there.", name(host)));
    const LiveSite* site = site_of(host);
    for (const auto& file : wait.files) {
      const bool now = site != nullptr && site->sending == file;
      add(fmt::format("{} is on its way there{}", one_line(file),
                      now ? fmt::format(": {:.0f}% at {}.", site->sent_part * 100,
                                        format_bandwidth(site->bytes_per_second))
                          : "."));
    }
    add_reason(host, wait.cost);
  }

  void for_back_off(const LiveWait& wait) {
    add(fmt::format("It failed, and is tried again in {}.",
                    format_duration(std::max(wait.until - now_, Duration{0}))));
  }

  /// No host has it.
  void for_a_slot() {
    if (!live_.draining.empty())
      return add(fmt::format("Nothing more is started: {}.", one_line(live_.draining)));
    std::size_t slots = 0;
    std::size_t busy = 0;
    for (const LiveSite& site : live_.sites) {
      slots += site.slots;
      busy += site.busy;
    }
    if (slots == 0)
      add("It waits for a host: none is up.");
    else if (busy < slots && live_.staging > 0)
      add_others_files(busy, slots);
    else if (busy < slots)
      add(
          fmt::format("It waits for a slot: {} of {} are busy; the others are for earlier tasks, "
                      "or too small for it.",
                      busy, slots));
    else
      add(fmt::format("It waits for a slot: all {} are busy.", slots));
    add_absent();
  }

  TaskPlace take() { return std::move(place_); }

 private:
  void add(std::string line) { place_.lines.push_back(std::move(line)); }
  [[nodiscard]] const LiveSite* site_of(const LiveHost& host) const {
    return host.site < live_.sites.size() ? &live_.sites[host.site] : nullptr;
  }
  [[nodiscard]] std::string name(const LiveHost& host) const {
    const LiveSite* site = site_of(host);
    return site == nullptr || live_.sites.size() == 1
               ? one_line(host.name)
               : fmt::format("{} ({})", one_line(host.name), one_line(site->name));
  }
  void settle(const LiveHost& host) {
    place_.host = host.name;
    if (const LiveSite* site = site_of(host)) place_.site = site->name;
  }

  /// What it was given of it, where that is learnt.
  void add_memory(const LiveTask& task) {
    if (task.memory == 0) return;
    std::string why = "as all tasks before anything is learnt";
    if (task.memory_died_with > 0)
      why = "because it ran out with " + format_bytes(task.memory_died_with);
    else if (task.memory_learnt_from > 0)
      why = "as learnt from " + count_of(task.memory_learnt_from, "task");
    add(fmt::format("It was given {} of memory, {}.", format_bytes(task.memory), why));
  }

  static std::string expected_text(double seconds) {
    if (!(seconds > 0)) return {};
    return fmt::format("; its forecast was {}",
                       format_duration(from_seconds(std::min(seconds, 1e9))));
  }

  /// Who chose the host, and by which figures. `cost`: as the run counts it; 0 = not told.
  void add_reason(const LiveHost& chosen, double cost) {
    if (live_.hosts.size() + live_.more_hosts < 2) return;
    const auto time_on = [&](const LiveHost& host) {
      return format_duration(from_seconds(std::min(host.pace * (cost > 0 ? cost : cost_), 1e9)));
    };
    std::string times;
    const auto add_time = [&](const std::string& time) {
      times += (times.empty() ? " Such a task takes " : ", ") + time;
    };
    if (chosen.pace > 0) add_time(time_on(chosen) + " there now");
    std::vector<const LiveHost*> others;
    for (const LiveHost& host : live_.hosts)
      if (&host != &chosen && host.pace > 0 && host.condition == HostCondition::up)
        others.push_back(&host);
    std::ranges::stable_sort(others, {}, &LiveHost::pace);
    others.resize(std::min(others.size(), kOthersShown));
    for (const LiveHost* host : others)
      add_time(fmt::format("{} on {} ({} of {} slots busy)", time_on(*host), name(*host),
                           host->busy, host->slots));
    add(fmt::format("The scheduler {} chose the host{}{}", one_line(live_.scheduler),
                    times.empty() ? "; nothing is learnt yet." : "." + times,
                    times.empty()     ? ""
                    : chosen.pace > 0 ? ", as learnt."
                                      : ", as learnt; not known yet of the chosen one."));
  }

  /// Slots are free, but kept for tasks whose files travel.
  void add_others_files(std::size_t busy, std::size_t slots) {
    add(
        fmt::format("It waits for a slot: {} of {} are busy; others are held for {} whose files "
                    "are on their way.",
                    busy, slots, count_of(live_.staging, "task")));
    for (const LiveSite& site : live_.sites)
      if (!site.sending.empty())
        add(fmt::format("{} is on its way to {}: {:.0f}% at {}.", one_line(site.sending),
                        one_line(site.name), site.sent_part * 100,
                        format_bandwidth(site.bytes_per_second)));
  }

  /// Hosts that could have taken it.
  void add_absent() {
    std::size_t queued = 0;
    std::size_t others = 0;
    for (const LiveHost& host : live_.hosts) {
      queued += host.condition == HostCondition::queued ? 1 : 0;
      others += host.condition == HostCondition::connecting ? 1 : 0;
      if (host.condition == HostCondition::suspended)
        add(fmt::format("The job of {} is suspended by its cluster.", name(host)));
      if (host.condition != HostCondition::lost) continue;
      add(fmt::format("{} is lost{}{}.", name(host),
                      host.since == kNever ? "" : " for " + format_duration(ago(host.since, now_)),
                      host.why.empty() ? "" : ": " + one_line(host.why)));
    }
    if (queued > 0) add(count_of(queued, "job") + " still in the queue of a batch system.");
    if (others > 0) add(count_of(others, "host") + " being connected to.");
  }

  const LiveState& live_;
  double cost_;
  TimePoint now_;
  TaskPlace place_;
};

}  // namespace

TaskPlace place_of(const LiveState& live, TaskId task, double cost, TimePoint now) {
  Place place(live, cost, now);
  bool found = false;
  for (const LiveHost& host : live.hosts)  // two attempts may run
    for (const LiveTask& one : host.tasks)
      if (one.task == task.value()) {
        place.on_host(host, one);
        found = true;
      }
  for (const LiveHost& host : live.hosts)
    for (const LiveArrival& one : host.arrivals)
      if (one.task == task.value()) {
        place.on_its_way_home(host, one);
        found = true;
      }
  for (const LiveWait& wait : live.waits) {
    if (wait.task != task.value() || found) continue;
    found = true;
    if (wait.host > 0 && wait.host <= live.hosts.size())
      place.for_files(live.hosts[wait.host - 1], wait);
    else if (wait.until != kNever)
      place.for_back_off(wait);
    else
      found = false;
  }
  if (!found) place.for_a_slot();
  return place.take();
}

}  // namespace gantry::cli
