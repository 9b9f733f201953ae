#include "schedule/gantt/plan_follower.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <variant>

#include "schedule/depot_room.hpp"
#include "schedule/file_source.hpp"

namespace gantry::schedule {

namespace {
/// What begins so much later than planned is on time: estimates and clocks round.
constexpr Duration kOnTime = std::chrono::milliseconds(1);

/// The link from home is busy; must the file wait for it?
bool comes_from_another(const World& world, FileId file, SiteId to) {
  if (world.map == nullptr || world.map->ways.empty()) return false;
  return choose_source({*world.map, world.sites, world.file_bytes, world.now}, file, to).site !=
         kHome;
}

/// Plans may reach further than the engine's time does.
Duration planned_time(Seconds time) {
  constexpr Seconds kFurthest = 4e9;
  return from_seconds(std::min(time, kFurthest));
}
}  // namespace

void PlanFollower::follow(GanttPlan chart, const NumberedWorld& numbers, TimePoint now) {
  all_woken_ = true;
  planned_at_ = now;
  off_ = ahead_ = 0;
  hosts_.clear();
  by_site_.clear();
  moves_.clear();
  choosy_ = numbers.choosy;
  queued_ = chart.tasks.size();
  std::ranges::stable_sort(chart.tasks, {}, &PlannedTask::start);
  for (const PlannedTask& task : chart.tasks) {
    const Host& host = *numbers.slots[task.host];
    HostQueue& queue = hosts_[host.id];
    queue.site = host.site;
    if (task.end > task.start)
      queue.speed = numbers.situation.classes[task.task_class].work / (task.end - task.start);
    queue.entries.push_back({numbers.classes[task.task_class], now + planned_time(task.start),
                             planned_time(task.end - task.start)});
  }
  for (auto& [id, queue] : hosts_) by_site_[queue.site].push_back(&queue);
  for (const PlannedTransfer& transfer : chart.transfers)
    if (transfer.what == PlannedTransfer::What::shared_file)
      moves_[numbers.sites[transfer.site]].push_back(FileId(transfer.index));
}

void PlanFollower::observe(const Event& event) {
  if (std::holds_alternative<AttemptStarted>(event) || std::holds_alternative<HostLoaded>(event) ||
      std::holds_alternative<HostQueued>(event) || std::holds_alternative<QueueWaited>(event) ||
      std::holds_alternative<SiteEchoed>(event))
    return;
  if (const auto* computed = std::get_if<AttemptComputed>(&event))
    woken_.insert(computed->host);
  else if (const auto* ended = std::get_if<AttemptEnded>(&event))
    woken_.insert(ended->host);
  else
    all_woken_ = true;
}

PlanFollower::Outcome PlanFollower::hand_out(const World& world, Plan& plan) {
  taken_.clear();
  if (world.ready > ready_) all_woken_ = true;  // tasks came (back)
  if (std::exchange(all_woken_, false))
    for (const HostLoad& load : world.hosts) woken_.insert(load.host->id);
  woken_.merge(std::exchange(waiting_for_files_, {}));
  fetched_for_.clear();
  Outcome outcome;
  for (const HostId id : std::exchange(woken_, {}))
    if (const HostLoad* load = find_host(world, id); load != nullptr)
      hand_out_tasks(world, *load, plan, outcome);
  ready_ = world.ready - plan.starts.size();
  hand_out_moves(world, plan);
  return outcome;
}

bool PlanFollower::start_first(const World& world, const HostLoad& load, HostQueue& queue,
                               Load& used, Plan& plan, Outcome& outcome) {
  prefer_what_is_there(world, load.host->site, queue);
  const ReadyClass* known = find_class(world, queue.entries.front().task_class);
  if (known == nullptr || taken_[known->id] == known->places->size()) {
    outcome.fits = false;
    return false;
  }
  const Load more = share(*load.host, known->needs->resources);
  if (used + more > kFull) return false;
  const auto& files = known->needs->files;
  if (!are_there(world, load.host->site, files) && !fetch_with_task(world, *load.host, files))
    return false;
  ++taken_[known->id];
  used += more;
  plan.starts.push_back({known->id, load.host->id});
  const TimePoint planned = queue.entries.front().start;
  off_ += std::abs(seconds(world.now - planned));
  ahead_ += seconds(planned - planned_at_);
  queue.entries.pop_front();
  --queued_;
  return true;
}

/// Where room is short, what can run with the files that are there runs before some are dropped for
/// others. Plans do not know of depots.
void PlanFollower::prefer_what_is_there(const World& world, SiteId site, HostQueue& queue) {
  if (!has_limit(find_site(world, site))) return;
  constexpr std::ptrdiff_t kLookAhead = 256;
  const auto end = queue.entries.begin() +
                   std::min(kLookAhead, static_cast<std::ptrdiff_t>(queue.entries.size()));
  const auto ready = std::find_if(queue.entries.begin(), end, [&](const Entry& entry) {
    const ReadyClass* known = find_class(world, entry.task_class);
    return known != nullptr && taken_[known->id] < known->places->size() &&
           are_there(world, site, known->needs->files);
  });
  if (ready != end) std::rotate(queue.entries.begin(), ready, ready + 1);
}

bool PlanFollower::fetch_with_task(const World& world, const Host& host,
                                   const std::vector<FileId>& files) {
  const SiteFiles* site = find_site(world, host.site);
  if (!has_limit(site)) return false;
  waiting_for_files_.insert(host.id);
  auto& queue = moves_[host.site];
  while (!queue.empty() && is_coming(site, queue.front())) queue.pop_front();
  const bool come = std::ranges::all_of(files, [&](FileId file) {
    return is_coming(site, file) || std::ranges::find(queue, file) != queue.end();
  });
  const bool go_on = queue.empty() || world.file_bytes[queue.front().value()] <= site->free;
  if (come && go_on) return false;
  // What is dropped for one task may be what the next one at the site counts on.
  if (!has_room(world, host.site, files) || !fetched_for_.insert(host.site).second) return false;
  std::erase_if(queue, [&](FileId file) { return std::ranges::binary_search(files, file); });
  return true;
}

/// The queue at the same site whose next task should have begun long ago, if this host would end it
/// before the host that is busy can.
PlanFollower::HostQueue* PlanFollower::most_overdue(const World& world, const HostQueue& mine) {
  HostQueue* most = nullptr;
  const Entry* own = mine.entries.empty() ? nullptr : &mine.entries.front();
  for (HostQueue* other : by_site_[mine.site]) {
    if (other == &mine || other->entries.empty()) continue;
    const Entry& entry = other->entries.front();
    const Duration late = world.now - entry.start;
    if (late <= kOnTime || (own != nullptr && own->start <= entry.start)) continue;
    // How long it would take here: the busy host is late by `late` already, and nobody knows how
    // much later it will be.
    if (seconds(entry.length) * other->speed > seconds(entry.length + late) * mine.speed) continue;
    if (most == nullptr || entry.start < most->entries.front().start) most = other;
  }
  return most;
}

void PlanFollower::hand_out_tasks(const World& world, const HostLoad& load, Plan& plan,
                                  Outcome& outcome) {
  HostQueue& queue = hosts_[load.host->id];
  queue.site = load.host->site;
  Load used = load.load;
  const auto has_room = [&] { return used + share(*load.host, {}) <= kFull; };
  while (has_room()) {
    if (plan.starts.size() == world.turn) {
      woken_.insert(load.host->id);  // for the next turn
      return;
    }
    HostQueue* from = share_late_ ? most_overdue(world, queue) : nullptr;
    if (from == nullptr) from = &queue;
    if (from->entries.empty() || !start_first(world, load, *from, used, plan, outcome)) break;
  }
  if (!has_room() || !outcome.fits) return;
  if (queue.entries.empty()) {
    hand_out_choosy(world, load, used, plan);
    outcome.idle = outcome.idle || std::ranges::any_of(world.classes, [&](const ReadyClass& ready) {
                     return fits(world, *load.host, *ready.needs);
                   });
  }
}

void PlanFollower::hand_out_choosy(const World& world, const HostLoad& load, Load used,
                                   Plan& plan) {
  for (const ClassId id : choosy_) {
    const ReadyClass* ready = find_class(world, id);
    if (ready == nullptr || !fits(world, *load.host, *ready->needs)) continue;
    if (!has_room(world, load.host->site, ready->needs->files)) {
      waiting_for_files_.insert(load.host->id);
      continue;
    }
    const Load more = share(*load.host, ready->needs->resources);
    for (; used + more <= kFull && taken_[id] < ready->places->size() &&
           plan.starts.size() < world.turn;
         used += more) {
      ++taken_[id];
      plan.starts.push_back({id, load.host->id});
    }
  }
}

void PlanFollower::hand_out_moves(const World& world, Plan& plan) {
  for (auto& [site, queue] : moves_) {
    const SiteFiles* known = find_site(world, site);
    while (!queue.empty() && is_coming(known, queue.front())) queue.pop_front();
    const bool busy =
        known != nullptr &&
        std::ranges::find(known->moving, kHome, &MovingFile::from) != known->moving.end();
    if (queue.empty() || !has_room(world, site, {queue.front()})) continue;
    if (busy && !comes_from_another(world, queue.front(), site)) continue;
    // It stays in front until it is on its way: the room may be gone.
    plan.moves.push_back({queue.front(), kHome, site});
  }
}

}  // namespace gantry::schedule
