#include "cli/commands/place_text.hpp"

#include <fmt/format.h>

#include "cli/terminal/display_text.hpp"
#include "cli/terminal/format.hpp"
#include "model/quantity.hpp"

namespace gantry::cli {
namespace {

using query::FileTransfer;
using query::HostChoice;
using query::SlotWait;
using query::TaskAtHost;
using query::TaskPlace;

std::string time_text(double seconds) {
  return format_duration(from_seconds(std::min(seconds, 1e9)));
}

/// ": 43% at 2 MB/s.", or that it has not its turn yet.
std::string transfer_text(const FileTransfer& file) {
  if (!file.moves) return ".";
  return fmt::format(": {:.0f}% at {}.", file.part * 100, format_bandwidth(file.bytes_per_second));
}

class PlaceText {
 public:
  explicit PlaceText(const TaskPlace& place) : place_(place) {}

  std::vector<std::string> lines() {
    for (const TaskAtHost& at : place_.at) add_host(at);
    if (place_.tried_again_in)
      add(fmt::format("It failed, and is tried again in {}.",
                      format_duration(*place_.tried_again_in)));
    if (place_.slot_wait) add_slot_wait(*place_.slot_wait);
    return std::move(lines_);
  }

 private:
  void add(std::string line) { lines_.push_back(std::move(line)); }

  [[nodiscard]] std::string name(const std::string& host, const std::string& site) const {
    return site.empty() || place_.one_site ? one_line(host)
                                           : fmt::format("{} ({})", one_line(host), one_line(site));
  }

  void add_host(const TaskAtHost& at) {
    const std::string host = name(at.host.name, at.host.site);
    switch (at.stage) {
      case TaskAtHost::Stage::awaits_files:
        add(fmt::format("It has a place on {} and waits until its files are there.", host));
        for (const FileTransfer& file : at.files)
          add(fmt::format("{} is on its way there{}", one_line(file.path), transfer_text(file)));
        break;
      case TaskAtHost::Stage::next:
        add(fmt::format("It is next on {}: {}/{} slots are busy there.", host, at.host.busy,
                        at.host.slots));
        break;
      case TaskAtHost::Stage::running:
        add(fmt::format(
            "Attempt {} runs on {}, for {} so far{}.", at.task.attempt, host,
            format_duration(at.since),
            at.task.expected > 0 ? "; its forecast was " + time_text(at.task.expected) : ""));
        break;
      case TaskAtHost::Stage::coming_home:
        add(fmt::format("Attempt {} has ended on {}; what it made has been on its way home for {}.",
                        at.task.attempt, host, format_duration(at.since)));
        return add_link(at);
    }
    add_memory(at.task);
    add_reason(at);
  }

  void add_link(const TaskAtHost& at) {
    if (at.host.site.empty()) return;
    const std::string site = one_line(at.host.site);
    const std::string all = at.homeward == 1 ? "" : fmt::format(", of {} attempts", at.homeward);
    add(at.link_bytes_per_second > 0
            ? fmt::format("Files go to {} and come from there at {}{}.", site,
                          format_bandwidth(at.link_bytes_per_second), all)
            : fmt::format("Nothing comes from {} at the moment.", site));
  }

  /// How much it was given, where that is learnt.
  void add_memory(const store::LiveTask& task) {
    if (task.memory == 0) return;
    std::string why = "as all tasks before anything is learnt";
    if (task.memory_died_with > 0)
      why = "because it ran out with " + format_bytes(task.memory_died_with);
    else if (task.memory_learnt_from > 0)
      why = "as learnt from " + count_of(task.memory_learnt_from, "task");
    add(fmt::format("It was given {} of memory, {}.", format_bytes(task.memory), why));
  }

  /// Who chose the host, and by which figures.
  void add_reason(const TaskAtHost& at) {
    if (!at.was_chosen) return;
    const bool known = at.host.seconds > 0;
    std::string times;
    const auto add_time = [&](const std::string& time) {
      times += (times.empty() ? " Such a task takes " : ", ") + time;
    };
    if (known) add_time(time_text(at.host.seconds) + " there now");
    for (const HostChoice& other : at.others)
      add_time(fmt::format("{} on {} ({} of {} slots busy)", time_text(other.seconds),
                           name(other.name, other.site), other.busy, other.slots));
    const std::string learnt =
        known ? ", as learnt." : ", as learnt; not known yet of the chosen one.";
    add(fmt::format("The scheduler {} chose the host{}", one_line(place_.scheduler),
                    times.empty() ? "; nothing is learnt yet." : "." + times + learnt));
  }

  void add_slot_wait(const SlotWait& wait) {
    if (!wait.draining.empty())
      return add(fmt::format("Nothing more is started: {}.", one_line(wait.draining)));
    if (wait.slots == 0)
      add("It waits for a host: none is up.");
    else if (wait.busy >= wait.slots)
      add(fmt::format("It waits for a slot: all {} are busy.", wait.slots));
    else if (wait.staging > 0)
      add_others_files(wait);
    else
      add(
          fmt::format("It waits for a slot: {} of {} are busy; the others are for earlier tasks, "
                      "or too small for it.",
                      wait.busy, wait.slots));
    add_absent(wait);
  }

  /// Slots are free, but kept for tasks whose files travel.
  void add_others_files(const SlotWait& wait) {
    add(
        fmt::format("It waits for a slot: {} of {} are busy; others are held for {} whose files "
                    "are on their way.",
                    wait.busy, wait.slots, count_of(wait.staging, "task")));
    for (const FileTransfer& file : wait.transfers)
      add(fmt::format("{} is on its way to {}{}", one_line(file.path), one_line(file.site),
                      transfer_text(file)));
  }

  /// Hosts that could have taken it.
  void add_absent(const SlotWait& wait) {
    for (const query::AbsentHost& host : wait.absent) {
      const std::string who = name(host.name, host.site);
      if (host.condition == HostCondition::suspended)
        add(fmt::format("The job of {} is suspended by its cluster.", who));
      else
        add(fmt::format("{} is lost{}{}.", who,
                        host.since ? " for " + format_duration(*host.since) : "",
                        host.why.empty() ? "" : ": " + one_line(host.why)));
    }
    if (wait.queued > 0)
      add(count_of(wait.queued, "job") + " still in the queue of a batch system.");
    if (wait.connecting > 0) add(count_of(wait.connecting, "host") + " being connected to.");
  }

  const TaskPlace& place_;
  std::vector<std::string> lines_;
};

}  // namespace

std::vector<std::string> place_lines(const TaskPlace& place) {
  return PlaceText(place).lines();
}

}  // namespace gantry::cli
