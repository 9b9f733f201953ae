#include "engine/grid/grid_state.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "engine/run/ready_queue.hpp"

namespace gantry::engine {

namespace {
/// A host that became faster or slower by this factor changes plans.
constexpr double kMuchChanged = 1.25;
/// Speeds that change all the time change plans this often.
constexpr Duration kPaceRest = std::chrono::seconds(10);
/// A plan holds while fewer than one in so many cores has changed.
constexpr std::uint64_t kFewCores = 10;
}  // namespace

// Hosts and sites.
// -----------------------------------------------------------------------------------------------

void Grid::on(const HostUp& event) {
  coming.erase(event.host.id);
  HostState& state = hosts[event.host.id];
  state.host = event.host;
  state.takes = HostState::Takes::work;
  show_hosts();
  touch();
}

bool Grid::on(const HostDraining& event) {
  HostState* state = find(event.host);
  if (state == nullptr) return false;
  using Takes = HostState::Takes;
  const Takes before = state->takes;
  const bool keeps = event.waiting == WaitingTasks::stay && before != Takes::nothing;
  state->takes = keeps ? Takes::nothing_new : Takes::nothing;
  if (before != Takes::work) return false;
  show_hosts();
  touch();
  return true;
}

void Grid::on(const HostDown& event) {
  hosts.erase(event.host);
  show_hosts();
  touch();
}

void Grid::on(const SiteJoined& event) {
  const bool limited = event.depot < std::numeric_limits<double>::infinity();
  if (limited) map.limit_depot(event.site, event.depot);
  if (limited) files.limit(event.site, event.depot);
  if (event.way && map.way(event.way->one, event.way->other) == nullptr)
    map.ways.push_back(*event.way);
}

void Grid::on(const HostLoaded& event) {
  HostState* state = find(event.host);
  if (state == nullptr || !learns) return;
  if (seen.loaded(event.host, event.share, event.at, event.heard) != forecast::Verdict::taken)
    return;
  const double speed = seen.speed(event.host);
  double& planned = state->planned_speed;
  if (planned == 0) planned = speed;
  if (speed < planned * kMuchChanged && speed > planned / kMuchChanged) return;
  state->pace = speed < planned ? HostState::Pace::slower : HostState::Pace::faster;
  planned = speed;
  pace_changed_ = true;
}

void Grid::on(const HostQueued& event) {
  if (event.since == kNever) {
    coming.erase(event.host.id);
    return;
  }
  HostQueued& job = coming[event.host.id];
  job = event;
  // All that it will have.
  if (job.host.memory == 0) job.host.memory = std::numeric_limits<std::uint64_t>::max();
}

void Grid::on(const QueueWaited& event) {
  if (learns) seen.waited(event.site, event.seconds, event.at);
}

void Grid::on(const SiteEchoed& event) {
  if (!learns) return;
  if (event.bytes > 0)
    seen.probed(event.site, event.bytes, event.seconds, event.trip, event.at);
  else
    seen.echoed(event.site, event.seconds, event.at);
}

std::optional<PaceChange> Grid::take_pace_change(TimePoint now) {
  if (!pace_changed_ || (heed_from_ != kNever && now < heed_from_)) return std::nullopt;
  pace_changed_ = false;
  heed_from_ = now + kPaceRest;
  PaceChange change;
  std::uint64_t cores = 0;
  std::uint64_t cores_changed = 0;
  for (auto& [id, state] : hosts) {
    cores += state.host.cores;
    const auto pace = std::exchange(state.pace, HostState::Pace::same);
    if (pace != HostState::Pace::same) cores_changed += state.host.cores;
    if (pace == HostState::Pace::slower) change.slower.push_back(id);
  }
  change.upsets_plans = cores_changed * kFewCores >= cores;
  return change;
}

HostState* Grid::find(HostId host) {
  const auto it = hosts.find(host);
  return it == hosts.end() ? nullptr : &it->second;
}

const HostState* Grid::find(HostId host) const {
  const auto it = hosts.find(host);
  return it == hosts.end() ? nullptr : &it->second;
}

void Grid::occupy(HostId host, const schedule::Ongoing& given, schedule::Load load,
                  std::span<const FileId> reads) {
  HostState& state = hosts.at(host);
  state.load += load;
  state.ongoing.push_back(given);
  if (files.has_limit(state.host.site)) files.use(reads, state.host.site);
  show_load(state);
}

void Grid::vacate(HostId host, const TaskKey& key, schedule::Load load,
                  std::span<const FileId> reads) {
  HostState* state = find(host);
  if (state == nullptr) return;
  state->load -= std::min(state->load, load);
  if (auto* ongoing = find_ongoing(host, key)) {
    state->ongoing.erase(state->ongoing.begin() + (ongoing - state->ongoing.data()));
    const SiteId site = state->host.site;
    if (files.has_limit(site)) files.disuse(reads, site);
  }
  show_load(*state);
  touch();
}

schedule::Ongoing* Grid::find_ongoing(HostId host, const TaskKey& key) {
  HostState* state = find(host);
  if (state == nullptr) return nullptr;
  // Near the front: hosts work off what they were given in order.
  auto& ongoing = state->ongoing;
  const auto place = std::ranges::find_if(ongoing, [&](const schedule::Ongoing& each) {
    return each.task == key.task && each.attempt == key.attempt && each.run == key.run;
  });
  return place == ongoing.end() ? nullptr : &*place;
}

bool Grid::fits_somewhere(const TaskNeeds& needs) const {
  return std::ranges::any_of(working(), [&](const schedule::HostLoad& load) {
    const Host& host = *load.host;
    return schedule::slots(host, needs.resources) > 0 &&
           schedule::is_lent_long_enough(host, needs.resources) &&
           depot_holds(host.site, needs.files);
  });
}

void Grid::show_hosts() {
  rooms_.clear();
  shown.resize(hosts.size());
  std::size_t place = 0;
  for (const bool works : {true, false}) {
    for (auto& [id, state] : hosts) {
      if ((state.takes == HostState::Takes::work) != works) continue;
      state.shown_at = place++;
      show_load(state);
    }
    if (works) working_hosts = place;
  }
}

// Files.
// -----------------------------------------------------------------------------------------------

void Grid::on(const FileMade& event) {
  files.made(event.file, event.site, event.bytes);
  touch();
}

void Grid::on(const FileArrived& event) {
  if (!files.known(event.file)) return;
  const auto sent = files.sent(event.file, event.site);
  // What was to come over a way that was closed meanwhile came from home.
  if (!event.found && sent && learns &&
      (sent->from == kHome || map.way(sent->from, event.site) != nullptr))
    seen.moved(sent->from, event.site, files.bytes()[event.file.value()], sent->at, event.at);
  files.arrived(event.file, event.site);
  touch();
}

void Grid::on(const MoveFailed& event) {
  if (!files.known(event.file)) return;
  files.failed(event.file, event.site, event.at);
  touch();
}

void Grid::on(const FileGone& event) {
  if (!files.known(event.file)) return;
  files.gone(event.file, event.site);
  touch();
}

/// What is on its way comes from elsewhere, as actuators can do.
void Grid::on(const WayClosed& event) {
  if (event.from == kHome || event.to == kHome) return;
  map.close_way(event.from, event.to);
  touch();
}

SiteId Grid::fetch(FileId file, SiteId to, TimePoint now, std::vector<Action>& actions) {
  if (!files.may_move(file, to, now)) return kHome;
  const auto source = [&]() -> schedule::FileSource {
    if (!files.there(file, kHome)) return {files.a_site_with(file), now};
    if (map.ways.empty()) return {kHome, now};
    return choose_source(traffic(now), file, to, files.failed_source(file, to));
  }();
  move(file, source, to, now, actions);
  return source.site;
}

void Grid::move(FileId file, const schedule::FileSource& from, SiteId to, TimePoint now,
                std::vector<Action>& actions) {
  files.move(file, from, to, now);
  if (files.there(file, from.site)) actions.emplace_back(MoveFile{file, from.site, to});
}

bool Grid::make_room(std::span<const FileId> wanted, SiteId site, Asker asker,
                     std::vector<Action>& actions) {
  const double lacking = files.lacking(wanted, site);
  if (lacking <= 0) return true;
  std::vector<bool> soon(files.bytes().size());
  for (const ReadyQueue* queue : queues)
    for (const schedule::ReadyClass& task_class : queue->view())
      for (const FileId file : task_class.needs->files) soon[file.value()] = true;
  const auto victims = files.victims(lacking, wanted, site, soon, asker == Asker::task);
  if (!victims) {
    if (asker == Asker::task) crowded.insert(site);
    return false;
  }
  for (const FileId file : *victims) {
    files.gone(file, site);
    actions.emplace_back(DropFile{file, site});
  }
  return true;
}

}  // namespace gantry::engine
