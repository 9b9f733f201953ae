#include "driver/live_board.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

#include "base/fd.hpp"
#include "driver/link_probes.hpp"

namespace gantry::driver {

namespace {

using namespace std::chrono_literals;

constexpr Duration kInterval = 1s;
/// Also when nothing has changed, so that a reader knows that somebody is there.
constexpr Duration kSignOfLife = 5s;
constexpr Duration kRateWindow = 3s;
constexpr std::size_t kMostTasksOfAHost = 256;
constexpr std::size_t kFewestTasksOfAHost = 4;

/// Up to a second more or less is no news, of what is long.
TimePoint shown_end(TimePoint now, Duration rest) {
  constexpr Duration kLong = 30s;
  if (rest < kLong) return std::chrono::round<std::chrono::milliseconds>((now + rest));
  return std::chrono::round<std::chrono::seconds>(now + rest);
}

/// `shown` is a LiveState or a LiveRun.
template <class Shown>
void show_end(TimePoint now, const Eta& eta, Shown& shown) {
  if (eta.expected <= Duration{0}) return;
  shown.ends = shown_end(now, eta.expected);
  shown.ends_soonest = shown_end(now, eta.soonest);
  shown.ends_latest = shown_end(now, eta.latest);
}

/// Each of several.
void list_runs(const LiveFacts& facts, TimePoint now, store::LiveState& state) {
  for (const RunProgress& each : facts.progress.runs) {
    const engine::RunView run = facts.engine.run(each.run);
    if (each.run != facts.run.id()) {
      state.staging += run.counts().staging;
      state.handed_over += run.counts().handed_over;
    }
    if (state.runs.size() == store::kMostLiveRuns) continue;
    store::LiveRun& shown = state.runs.emplace_back();
    shown.run = each.run.value();
    shown.name = each.name;
    shown.counts = each.counts;
    shown.draining = run.draining();
    show_end(now, each.eta, shown);
  }
}

/// What the engine knows of the hosts that are up.
std::map<HostId, const schedule::HostLoad*> loads_of(const engine::Engine& engine) {
  std::map<HostId, const schedule::HostLoad*> loads;
  for (const schedule::HostLoad& load : engine.hosts()) loads.emplace(load.host->id, &load);
  return loads;
}

std::uint32_t count(std::uint64_t many) {
  return static_cast<std::uint32_t>(
      std::min<std::uint64_t>(many, std::numeric_limits<std::uint32_t>::max()));
}

/// To three digits: more would only be news.
double rounded(double value) {
  if (!(value > 0) || !std::isfinite(value)) return 0;
  const double unit = std::pow(10, std::floor(std::log10(value)) - 2);
  return std::round(value / unit) * unit;
}

/// `of` are seconds for an amount of 1; `inverted`: what is shown is the amount in a second. All
/// are `factor` times what the series has.
store::LiveForecast forecast_of(const forecast::Series* of, bool inverted, double factor = 1) {
  store::LiveForecast shown;
  const auto next = of != nullptr ? of->forecast() : std::nullopt;
  if (!next || next->value <= 0) return shown;
  const auto value = [&](double x) { return rounded(factor * (inverted && x > 0 ? 1 / x : x)); };
  shown.value = value(next->value);
  shown.low = value(inverted ? next->high : next->low);
  shown.high = value(inverted ? next->low : next->high);
  shown.member = next->member;
  shown.observed = count(of->observations());
  shown.quarantined = count(of->quarantined());
  const forecast::Accuracy& accuracy = of->accuracy();
  shown.scored = count(accuracy.scored);
  shown.error = rounded(accuracy.relative);
  shown.inside = rounded(accuracy.inside);
  return shown;
}

/// As live.json tells it of a task.
std::uint32_t run_of(const LiveFacts& facts, RunId run) {
  return run == facts.run.id() ? 0 : run.value();
}

/// With the last task as an example, on whichever host.
store::LiveModel model_of(const engine::RunView& run) {
  store::LiveModel shown;
  const forecast::RunTimeModel* model = run.learned().model();
  TaskId last(run.counts().total);
  auto spread = run.learned().spread(last);
  // What it has for a parameter may be nothing to calculate with.
  if (!spread) spread = run.learned().spread(last = TaskId(1));
  const auto seconds = model != nullptr ? run.expected(last, HostId{}) : std::nullopt;
  if (!seconds || !spread) return shown;
  shown.family = forecast::family_name(model->family());
  shown.error = rounded(model->error_of_mean());
  shown.tasks = count(model->observations());
  shown.example = last.value();
  shown.seconds = rounded(gantry::seconds(*seconds));
  shown.low = rounded(shown.seconds * spread->first);
  shown.high = rounded(shown.seconds * spread->second);
  return shown;
}

/// The same of the memory that it is given.
store::LiveAmount memory_of(const engine::RunView& run) {
  store::LiveAmount shown;
  const forecast::LearnedMemory& learnt = run.learned_memory();
  if (learnt.used().observations() == 0) return shown;
  const TaskId last(run.counts().total);
  shown.family = forecast::family_name(learnt.used().family());
  shown.error = rounded(learnt.used().error_of_mean());
  shown.tasks = count(learnt.used().observations());
  shown.margin = rounded(learnt.margin());
  shown.example = last.value();
  shown.bytes = run.resources(last).memory;
  return shown;
}

/// And of what it sends home.
store::LiveAmount outputs_of(const LiveFacts& facts) {
  store::LiveAmount shown;
  const forecast::RunTimeModel& model = facts.run.learned_outputs().used();
  const TaskId last(facts.run.counts().total);
  const auto expected = facts.run.expected_outputs(last);
  if (!expected || model.most() <= 0) return shown;
  const auto bytes = [](double many) {
    return static_cast<std::uint64_t>(std::clamp(rounded(many), 0.0, 1e18));
  };
  shown.family = forecast::family_name(model.family());
  shown.error = rounded(model.error_of_mean());
  shown.tasks = count(model.observations());
  shown.example = last.value();
  shown.bytes = bytes(expected->value);
  shown.low = bytes(expected->low);
  shown.high = bytes(expected->high);
  return shown;
}

/// All but the list of tasks.
store::LiveHost host_of(const LiveFacts& facts, const HostGlance& glance,
                        const schedule::HostLoad* load) {
  store::LiveHost host{.name = glance.name,
                       .condition = glance.condition,
                       .since = glance.since,
                       .why = glance.why,
                       .told = glance.told != kNever,
                       .free_cores = glance.free_cores,
                       .free_memory = glance.free_memory,
                       .free_disk = glance.free_disk,
                       .pace = facts.run.seen().pace(glance.id).value_or(0),
                       .pace_forecast = forecast_of(facts.run.seen().paces(glance.id), false,
                                                    1 / facts.run.seen().speed(glance.id))};
  if (const auto* told = facts.run.seen().availability(glance.id)) {
    host.share = rounded(told->share(facts.run.seen().now()));
    host.share_forecast = forecast_of(&told->series(), false);
  }
  if (const auto done = facts.done.find(glance.id); done != facts.done.end())
    host.done = done->second;
  if (load == nullptr) return host;
  host.slots = load->host->cores;
  std::uint64_t busy = 0;
  for (const schedule::Ongoing& ongoing : load->ongoing) {
    if (ongoing.started == kNever) continue;
    ++host.running;
    busy += facts.engine.run(ongoing.run).resources(ongoing.task).cores;
  }
  host.busy = static_cast<std::uint32_t>(std::min<std::uint64_t>(busy, host.slots));
  return host;
}

/// Those that run come first: they were given to it first.
void list_tasks(const LiveFacts& facts, const schedule::HostLoad& load, std::size_t most,
                store::LiveHost& host) {
  for (const bool running : {true, false})
    for (const schedule::Ongoing& ongoing : load.ongoing) {
      if (host.tasks.size() == most) return;
      if (ongoing.attempt.value() == 0 || (ongoing.started != kNever) != running) continue;
      const auto given =
          facts.engine.run(ongoing.run).given_memory({ongoing.run, ongoing.task, ongoing.attempt});
      host.tasks.push_back({ongoing.task.value(), ongoing.attempt.value(), ongoing.started,
                            rounded(ongoing.cost), given.bytes, count(given.learnt_from),
                            given.died_with, rounded(seconds(ongoing.expected)),
                            run_of(facts, ongoing.run)});
    }
}

/// Tasks that hold a place on a host until their files are there.
void list_waits(const LiveFacts& facts, const schedule::HostLoad& load, std::uint32_t host,
                std::span<const schedule::SiteFiles> sites, store::LiveState& state) {
  const auto here = std::ranges::find(sites, load.host->site, &schedule::SiteFiles::site);
  for (const schedule::Ongoing& ongoing : load.ongoing) {
    if (ongoing.attempt.value() != 0 || state.waits.size() >= store::kMostLiveTasks) continue;
    store::LiveWait& wait = state.waits.emplace_back();
    wait.task = ongoing.task.value();
    wait.host = host + 1;
    wait.cost = rounded(ongoing.cost);
    wait.run = run_of(facts, ongoing.run);
    if (here == sites.end()) continue;
    const auto files = facts.engine.run(ongoing.run).files(ongoing.task);
    for (const auto& moving : here->moving)
      if (std::ranges::binary_search(files, moving.file))
        wait.files.push_back(facts.shared.path(moving.file));
  }
}

/// Tasks that wait for their back-off.
void list_retries(const LiveFacts& facts, const engine::RunView& run, store::LiveState& state) {
  for (const auto& [task, until] : run.retries(store::kMostLiveTasks - state.waits.size()))
    state.waits.push_back({.task = task.value(), .until = until, .run = run_of(facts, run.id())});
}

}  // namespace

LiveBoard::~LiveBoard() {
  if (written_) ::unlink(path_.c_str());
}

bool LiveBoard::is_due(TimePoint now) const {
  return looked_at_ == kNever || now >= looked_at_ + kInterval;
}

void LiveBoard::show(const LiveFacts& facts, TimePoint now) {
  looked_at_ = now;
  const std::string text = store::live_text(state_of(facts, now));
  const std::size_t rest = text.find('\n');
  const bool same = text.compare(rest, std::string::npos, shown_) == 0;
  if (same && now < written_at_ + kSignOfLife) return;
  shown_ = text.substr(rest);
  written_at_ = now;
  write(text);
}

store::LiveState LiveBoard::state_of(const LiveFacts& facts, TimePoint now) {
  const Progress& progress = facts.progress;
  const engine::Counts& counts = facts.run.counts();
  store::LiveState state{.pid = ::getpid(),
                         .at = now,
                         .run = facts.run.id().value(),
                         .scheduler = facts.options.scheduler,
                         .counts = progress.counts,
                         .retrying = progress.retrying,
                         .staging = counts.staging,
                         .handed_over = counts.handed_over,
                         .began = now - progress.elapsed,
                         .tasks_per_second = progress.tasks_per_second,
                         .draining = progress.draining_why};
  if (facts.grid != nullptr) state.grid = facts.grid->file;
  show_end(now, progress.eta, state);
  list_runs(facts, now, state);
  const auto& accuracy = facts.run.accuracy();
  state.model = model_of(facts.run);
  state.memory = memory_of(facts.run);
  state.outputs = outputs_of(facts);
  state.run_times_scored = count(accuracy.scored());
  state.run_times_error = rounded(accuracy.mean_error());
  Glance glance = facts.glance;
  add_sites(facts, glance, now, state);

  if (glance.hosts.size() > store::kMostLiveHosts)
    std::ranges::stable_sort(glance.hosts, {}, [](const HostGlance& host) {
      return host.condition == HostCondition::up;
    });
  const auto loads = loads_of(facts.engine);
  const auto files = facts.engine.site_files(now);
  const std::size_t listed = std::min(glance.hosts.size(), store::kMostLiveHosts);
  const std::size_t tasks = std::clamp(store::kMostLiveTasks / std::max<std::size_t>(listed, 1),
                                       kFewestTasksOfAHost, kMostTasksOfAHost);
  for (std::size_t i = 0; i < glance.hosts.size(); ++i) {
    const HostGlance& seen = glance.hosts[i];
    const auto found = loads.find(seen.id);
    const schedule::HostLoad* load = found != loads.end() ? found->second : nullptr;
    store::LiveHost host = host_of(facts, seen, load);
    list_arrivals(facts, seen.id, i < listed ? tasks : 0, host);
    const auto site = std::ranges::find(glance.sites, seen.site, &SiteGlance::id);
    host.site = static_cast<std::uint32_t>(site - glance.sites.begin());
    if (host.site < state.sites.size()) {
      store::LiveSite& sum = state.sites[host.site];
      ++sum.hosts;
      sum.hosts_up += seen.condition == HostCondition::up ? 1 : 0;
      sum.slots += host.slots;
      sum.busy += host.busy;
      sum.homeward += host.homeward;
    }
    if (i >= listed) continue;
    if (load != nullptr) {
      list_tasks(facts, *load, tasks, host);
      list_waits(facts, *load, static_cast<std::uint32_t>(i), files, state);
    }
    state.hosts.push_back(std::move(host));
  }
  state.more_hosts = static_cast<std::uint32_t>(glance.hosts.size() - listed);
  sites_ = std::move(glance.sites);
  list_retries(facts, facts.run, state);
  for (const RunProgress& each : progress.runs)
    if (each.run != facts.run.id()) list_retries(facts, facts.engine.run(each.run), state);
  return state;
}

void LiveBoard::add_sites(const LiveFacts& facts, const Glance& glance, TimePoint now,
                          store::LiveState& state) {
  const auto files = facts.engine.site_files(now);
  for (const SiteGlance& seen : glance.sites) {
    if (state.sites.size() == store::kMostLiveSites) return;
    store::LiveSite site{
        .name = seen.name, .leaving = facts.leaving.contains(seen.id), .to_send = seen.to_send};
    site.bytes_per_second = std::round(rate(seen, now));
    site.from_sites = static_cast<double>(seen.pulled);
    site.sending = seen.sending.path;
    if (seen.sending.bytes > 0)
      site.sent_part =
          static_cast<double>(seen.sending.done) / static_cast<double>(seen.sending.bytes);
    site.launch_forecast = forecast_of(facts.run.seen().launches(seen.id), false);
    if (const auto* queue = facts.run.seen().queue(seen.id))
      site.queue_forecast = forecast_of(&queue->series(), false);
    if (seen.id != kHome) {
      site.files_of = static_cast<std::uint32_t>(facts.shared.size());
      site.echo_forecast = forecast_of(facts.run.seen().round_trips(seen.id), false);
      site.link_forecast = forecast_of(facts.run.seen().byte_times(seen.id), true);
      site.probes = count(facts.run.seen().probes(seen.id));
      site.learnt_bandwidth = std::round(facts.run.seen().bandwidth(seen.id).value_or(0));
      const auto stored = std::ranges::find(files, seen.id, &schedule::SiteFiles::site);
      if (stored != files.end()) site.files = static_cast<std::uint32_t>(stored->there.size());
      site.declared_bandwidth = declared_bandwidth(facts.grid, seen.id).value_or(0);
    }
    state.sites.push_back(std::move(site));
  }
}

void LiveBoard::list_arrivals(const LiveFacts& facts, HostId id, std::size_t most,
                              store::LiveHost& host) const {
  for (const auto& [key, where] : homeward_) {
    if (where.first != id) continue;
    ++host.homeward;
    if (host.arrivals.size() < most)
      host.arrivals.push_back(
          {key.task.value(), key.attempt.value(), where.second, run_of(facts, key.run)});
  }
}

double LiveBoard::rate(const SiteGlance& site, TimePoint now) {
  Traffic& traffic = traffic_[site.id];
  traffic.emplace_back(now, site.sent + site.received);
  while (traffic.size() > 2 && now - traffic.front().first > kRateWindow) traffic.pop_front();
  const double span = seconds(now - traffic.front().first);
  return span > 0 ? static_cast<double>(traffic.back().second - traffic.front().second) / span : 0;
}

/// In one step, so that nobody sees half of it. It need not survive a power loss: then nobody
/// drives the run.
void LiveBoard::write(const std::string& text) {
  std::filesystem::path beside = path_;
  beside += ".new";
  const auto fd = open_file(beside, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK, 0600);
  if (!fd) return;
  if (write_all(fd->get(), text) && ::rename(beside.c_str(), path_.c_str()) == 0)
    written_ = true;
  else
    ::unlink(beside.c_str());
}

}  // namespace gantry::driver
