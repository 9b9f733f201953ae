#include "schedule/gantt/fetch_decoder.hpp"

#include <algorithm>
#include <cassert>
#include <functional>
#include <map>
#include <numeric>
#include <optional>

#include "schedule/gantt/lanes.hpp"
#include "schedule/gantt/tournament.hpp"

namespace gantry::schedule {

FetchDecoder::FetchDecoder(const Situation& situation, const Estimates& estimates)
    : situation_(&situation), estimates_(&estimates) {
  group_classes();
  measure();
}

void FetchDecoder::group_classes() {
  std::map<std::vector<std::uint32_t>, std::vector<std::uint32_t>> by_files;
  for (std::uint32_t c = 0; c < situation_->classes.size(); ++c)
    if (situation_->classes[c].waiting > 0) by_files[situation_->classes[c].files].push_back(c);
  groups_of_file_.resize(situation_->files.size());
  for (auto& [files, classes] : by_files) {
    std::ranges::stable_sort(classes, std::greater{},
                             [&](std::uint32_t c) { return situation_->classes[c].work; });
    Group group{.files = files, .first = static_cast<std::uint32_t>(lots_.size())};
    for (const std::uint32_t c : classes) {
      const TaskClass& task = situation_->classes[c];
      lots_.push_back({c, task.waiting, task.work});
      group.work += task.waiting * task.work;
    }
    group.last = static_cast<std::uint32_t>(lots_.size());
    for (const std::uint32_t file : files)
      groups_of_file_[file].push_back(static_cast<std::uint32_t>(groups_.size()));
    groups_.push_back(std::move(group));
  }
}

/// How fast hosts and links are over the time that all this takes, about.
void FetchDecoder::measure() {
  double work = 0;
  for (const Group& group : groups_) work += group.work;
  const double each =
      work / static_cast<double>(std::max<std::size_t>(situation_->hosts.size(), 1));
  for (std::uint32_t h = 0; h < situation_->hosts.size(); ++h) {
    const Seconds from = std::max(situation_->hosts[h].free_from, 0.0);
    const Seconds end = estimates_->computed(h, from, each);
    speeds_.push_back(end > from && end < kInfinite ? each / (end - from) : 0);
    fastest_.push_back(estimates_->fastest(h));
  }
  constexpr double kSample = 1e6;
  for (std::uint32_t s = 0; s < situation_->sites.size(); ++s) {
    Link link{.latency = estimates_->moved(s, 0, 1e-9, true)};
    const Seconds took = estimates_->moved(s, 0, kSample, true) - link.latency;
    if (took > 0) link.bandwidth = kSample / took;
    links_.push_back(link);
  }
}

/// One decoding.
class FetchRun {
 public:
  FetchRun(const FetchDecoder& decoder, const FetchLists& lists, Seconds deadline, bool keep_plan);
  Decoded run() &&;

 private:
  static constexpr std::uint32_t kNone = ~0U;

  struct Site {
    Seconds link_free = 0;
    Seconds own_free = 0;  ///< the stream of tasks' own inputs
    std::size_t fetched = 0;
    bool started = false;                  ///< to fetch what is in the list
    bool fetching = false;                 ///< one of the list, or what was under way
    std::uint32_t coming = 0;              ///< files that were on their way before
    double capacity = 0;                   ///< work that its hosts can do until the deadline
    std::vector<double> outputs{};         ///< bytes of those that wait for the link
    std::vector<std::uint32_t> waiting{};  ///< hosts that wait for a file
    std::vector<std::uint32_t> there{};    ///< groups whose files are all there, with tasks left
    std::vector<std::uint32_t> missing{};  ///< by group: files that are not there
    std::vector<double>
        reach{};  ///< by group: work that can be done on it here; 0 if it never comes
  };

  /// A task for a host.
  struct Pick {
    std::uint32_t group = kNone;
    std::uint32_t lot = 0;
    Seconds start = 0;
    Seconds end = kInfinite;
  };

  void prepare_site(std::uint32_t s);
  void expect_arrivals(std::uint32_t s);
  void fetch_next(std::uint32_t s, Seconds now);
  void link_done(std::uint32_t s, Seconds now);
  void arrive(std::uint32_t s, std::uint32_t file, Seconds now);
  void send_output(std::uint32_t s, double bytes, Seconds now);
  void serve(std::uint32_t host, Seconds now);
  [[nodiscard]] Pick most_pressed(std::uint32_t host, Seconds now);
  [[nodiscard]] Pick largest_that_fits(std::uint32_t group, std::uint32_t host, Seconds now);
  [[nodiscard]] Pick picked(std::uint32_t group, std::uint32_t lot, std::uint32_t host,
                            Seconds now) const;
  [[nodiscard]] Seconds start_of(std::uint32_t lot, std::uint32_t host, Seconds now) const;
  [[nodiscard]] bool is_late(std::uint32_t lot, std::uint32_t host, Seconds now) const;
  [[nodiscard]] std::uint32_t first_left(std::uint32_t lot, std::uint32_t last);
  void take(std::uint32_t host, const Pick& pick);
  void lose_capacity(std::uint32_t s, double work);
  [[nodiscard]] std::uint32_t files() const {
    return static_cast<std::uint32_t>(situation().files.size());
  }
  /// Of events: those before it are links and hosts.
  [[nodiscard]] std::uint32_t first_coming() const {
    return static_cast<std::uint32_t>(sites_.size() + situation().hosts.size());
  }
  [[nodiscard]] const Situation& situation() const { return *decoder_.situation_; }
  [[nodiscard]] const Estimates& estimates() const { return *decoder_.estimates_; }

  const FetchDecoder& decoder_;
  const FetchLists& lists_;
  Seconds deadline_;
  bool keep_plan_;
  std::vector<std::uint32_t> counts_;  ///< of lots
  std::vector<std::uint32_t>
      next_left_;                    ///< of lots: itself, or one behind it if it has no tasks left
  std::vector<std::uint32_t> open_;  ///< of groups: tasks left
  std::vector<double> work_;         ///< of groups: left
  std::vector<double> reach_;        ///< of groups: over all sites
  std::vector<Site> sites_;
  std::vector<double> output_;  ///< of hosts: bytes of what ends there next; negative: nothing does
  Tournament events_;           ///< of links, hosts, then files that were coming
  Decoded result_;
};

FetchRun::FetchRun(const FetchDecoder& decoder, const FetchLists& lists, Seconds deadline,
                   bool keep_plan)
    : decoder_(decoder),
      lists_(lists),
      deadline_(deadline),
      keep_plan_(keep_plan),
      next_left_(decoder.lots_.size() + 1),
      work_(decoder.groups_.size()),
      reach_(decoder.groups_.size()),
      sites_(decoder.situation_->sites.size()),
      output_(decoder.situation_->hosts.size(), -1),
      events_(first_coming() + sites_.size() * files()) {
  for (const auto& lot : decoder.lots_) counts_.push_back(lot.count);
  std::iota(next_left_.begin(), next_left_.end(), 0);
  for (const auto& group : decoder.groups_) {
    open_.push_back(
        std::accumulate(counts_.begin() + group.first, counts_.begin() + group.last, 0U));
    work_[open_.size() - 1] = group.work;
  }
  result_.idle_of_site.resize(sites_.size());
  result_.used.assign(sites_.size(), std::vector<std::uint32_t>(situation().files.size()));
}

void FetchRun::prepare_site(std::uint32_t s) {
  const PlanSite& site = situation().sites[s];
  Site& at = sites_[s];
  at.link_free = std::max(site.inbound.free_from, 0.0);
  result_.makespan = std::max(result_.makespan, at.link_free);
  for (std::uint32_t g = 0; g < decoder_.groups_.size(); ++g) {
    const auto& files = decoder_.groups_[g].files;
    const auto missing =
        std::ranges::count_if(files, [&](std::uint32_t file) { return site.file_from[file] > 0; });
    at.missing.push_back(static_cast<std::uint32_t>(missing));
    if (missing == 0) at.there.push_back(g);
  }
  expect_arrivals(s);
  for (std::uint32_t file = 0; file < situation().files.size(); ++file) {
    if (site.file_from[file] <= 0 || site.file_from[file] == kInfinite) continue;
    ++at.coming;
    events_.set(first_coming() + s * files() + file, site.file_from[file]);
  }
  if (at.link_free > 0) {
    at.fetching = true;
    events_.set(s, at.link_free);
  } else {
    fetch_next(s, 0);
  }
}

/// When files will come, if nothing else used the link: decides how pressed their tasks are.
void FetchRun::expect_arrivals(std::uint32_t s) {
  const PlanSite& site = situation().sites[s];
  std::vector<Seconds> comes = site.file_from;
  Seconds link_free = sites_[s].link_free;
  for (const std::uint32_t file : lists_[s]) {
    if (comes[file] < kInfinite) continue;
    link_free += decoder_.links_[s].time(situation().files[file].bytes);
    comes[file] = link_free;
  }
  std::vector<std::pair<Seconds, double>> hosts;  // free from, speed
  for (std::uint32_t h = 0; h < situation().hosts.size(); ++h)
    if (situation().hosts[h].site == s)
      hosts.emplace_back(std::max(situation().hosts[h].free_from, 0.0), decoder_.speeds_[h]);
  const auto capacity_from = [&](Seconds from) {
    double sum = 0;
    for (const auto& [free, speed] : hosts)
      sum += speed * std::max(deadline_ - std::max(free, from), 0.0);
    return sum;
  };
  sites_[s].capacity = capacity_from(0);
  for (std::uint32_t g = 0; g < decoder_.groups_.size(); ++g) {
    Seconds from = 0;
    for (const std::uint32_t file : decoder_.groups_[g].files) from = std::max(from, comes[file]);
    sites_[s].reach.push_back(from < deadline_ ? capacity_from(from) : 0);
    reach_[g] += std::min(sites_[s].reach[g], sites_[s].capacity);
  }
}

void FetchRun::fetch_next(std::uint32_t s, Seconds now) {
  Site& site = sites_[s];
  const PlanSite& known = situation().sites[s];
  site.fetching = false;
  for (; site.fetched < lists_[s].size(); ++site.fetched) {
    const std::uint32_t file = lists_[s][site.fetched];
    if (known.file_from[file] < kInfinite) continue;
    const Seconds start = std::max(site.link_free, now);
    const Seconds end = estimates().moved(s, start, situation().files[file].bytes, false);
    if (end >= deadline_) continue;
    site.fetching = true;
    site.started = true;
    site.link_free = end;
    if (keep_plan_)
      result_.plan.transfers.push_back({PlannedTransfer::What::shared_file, file, s, start, end});
    return events_.set(s, end);
  }
}

void FetchRun::arrive(std::uint32_t s, std::uint32_t file, Seconds now) {
  Site& site = sites_[s];
  for (const std::uint32_t g : decoder_.groups_of_file_[file])
    if (--site.missing[g] == 0 && open_[g] > 0) site.there.push_back(g);
  for (const std::uint32_t host : std::exchange(site.waiting, {})) serve(host, now);
}

/// A file of the list has come, or what was under way; the link goes on with what waits for it.
void FetchRun::link_done(std::uint32_t s, Seconds now) {
  Site& site = sites_[s];
  std::optional<std::uint32_t> file;
  if (site.started) file = lists_[s][site.fetched++];
  site.link_free = now;
  for (const double bytes : std::exchange(site.outputs, {}))
    site.link_free += decoder_.links_[s].time(bytes);
  result_.makespan = std::max(result_.makespan, site.link_free);
  fetch_next(s, now);
  if (file) return arrive(s, *file, now);
  for (const std::uint32_t host : std::exchange(site.waiting, {})) serve(host, now);
}

void FetchRun::send_output(std::uint32_t s, double bytes, Seconds now) {
  Site& site = sites_[s];
  if (bytes <= 0) return;
  if (site.fetching && site.link_free > now) return site.outputs.push_back(bytes);
  site.link_free = std::max(site.link_free, now) + decoder_.links_[s].time(bytes);
  result_.makespan = std::max(result_.makespan, site.link_free);
}

/// The first lot from this one on that has tasks left, as far as `last`.
std::uint32_t FetchRun::first_left(std::uint32_t lot, std::uint32_t last) {
  std::uint32_t found = lot;
  while (next_left_[found] != found) found = next_left_[found];
  while (next_left_[lot] != found) lot = std::exchange(next_left_[lot], found);
  return std::min(found, last);
}

Seconds FetchRun::start_of(std::uint32_t lot, std::uint32_t host, Seconds now) const {
  const double bytes = situation().classes[decoder_.lots_[lot].task_class].private_bytes;
  if (bytes <= 0) return now;
  const std::uint32_t s = situation().hosts[host].site;
  return std::max(sites_[s].own_free, now) + decoder_.links_[s].time(bytes);
}

/// Mostly seen without asking the estimates.
bool FetchRun::is_late(std::uint32_t lot, std::uint32_t host, Seconds now) const {
  const double work = decoder_.lots_[lot].work;
  const Seconds start = start_of(lot, host, now);
  return start + work / decoder_.fastest_[host] > deadline_ ||
         estimates().computed(host, start, work) > deadline_;
}

FetchRun::Pick FetchRun::picked(std::uint32_t group, std::uint32_t lot, std::uint32_t host,
                                Seconds now) const {
  const Seconds start = start_of(lot, host, now);
  return {group, lot, start, estimates().computed(host, start, decoder_.lots_[lot].work)};
}

/// Nothing when even the smallest is too large.
FetchRun::Pick FetchRun::largest_that_fits(std::uint32_t group, std::uint32_t host, Seconds now) {
  const std::uint32_t last = decoder_.groups_[group].last;
  std::uint32_t low = first_left(decoder_.groups_[group].first, last);
  if (low == last) return {};
  Pick pick = picked(group, low, host, now);
  if (pick.end <= deadline_) return pick;
  std::uint32_t high = last;  // some lot in (low, high] is the first that fits, or none does
  while (high - low > 1) {
    const std::uint32_t middle = low + (high - low) / 2;
    (is_late(middle, host, now) ? low : high) = middle;
  }
  const std::uint32_t lot = first_left(high, last);
  return lot < last ? picked(group, lot, host, now) : Pick{};
}

FetchRun::Pick FetchRun::most_pressed(std::uint32_t host, Seconds now) {
  const std::vector<std::uint32_t>& there = sites_[situation().hosts[host].site].there;
  if (there.empty()) return {};
  const auto less_pressed = [&](std::uint32_t a, std::uint32_t b) {
    return work_[a] * reach_[b] < work_[b] * reach_[a];
  };
  const std::uint32_t first = *std::ranges::max_element(there, less_pressed);
  Pick best = largest_that_fits(first, host, now);
  if (best.group != kNone) return best;
  for (const std::uint32_t g : there) {
    if (g == first || (best.group != kNone && !less_pressed(best.group, g))) continue;
    if (const Pick pick = largest_that_fits(g, host, now); pick.group != kNone) best = pick;
  }
  return best;
}

void FetchRun::serve(std::uint32_t host, Seconds now) {
  const std::uint32_t s = situation().hosts[host].site;
  if (const double bytes = std::exchange(output_[host], -1); bytes >= 0) send_output(s, bytes, now);
  const Pick pick = most_pressed(host, now);
  if (pick.group != kNone) return take(host, pick);
  if (sites_[s].fetching || sites_[s].coming > 0) return sites_[s].waiting.push_back(host);
  result_.idle_of_site[s] += std::max(deadline_ - now, 0.0);
  lose_capacity(s, decoder_.speeds_[host] * std::max(deadline_ - now, 0.0));
}

void FetchRun::take(std::uint32_t host, const Pick& pick) {
  const std::uint32_t s = situation().hosts[host].site;
  const std::uint32_t c = decoder_.lots_[pick.lot].task_class;
  const TaskClass& task = situation().classes[c];
  if (task.private_bytes > 0) sites_[s].own_free = pick.start;
  if (--counts_[pick.lot] == 0) next_left_[pick.lot] = pick.lot + 1;
  if (--open_[pick.group] == 0)
    for (Site& site : sites_) std::erase(site.there, pick.group);
  work_[pick.group] -= task.work;
  lose_capacity(s, task.work);
  for (const std::uint32_t file : task.files) ++result_.used[s][file];
  output_[host] = task.output_bytes;
  if (keep_plan_) result_.plan.tasks.push_back({c, host, pick.start, pick.end, pick.end});
  result_.makespan = std::max(result_.makespan, pick.end);
  events_.set(static_cast<std::uint32_t>(sites_.size()) + host, pick.end);
}

void FetchRun::lose_capacity(std::uint32_t s, double work) {
  const double before = sites_[s].capacity;
  const double after = std::max(before - work, 0.0);
  sites_[s].capacity = after;
  const double* here = sites_[s].reach.data();
  double* all = reach_.data();
  for_lanes(reach_.size(), [&]<class Number>(std::size_t g, Number zero) {
    const auto reach = load<Number>(&here[g]);
    const Number was = zero + before < reach ? zero + before : reach;
    const Number is = zero + after < reach ? zero + after : reach;
    store<Number>(&all[g], load<Number>(&all[g]) + (is - was));
  });
}

Decoded FetchRun::run() && {
  for (std::uint32_t s = 0; s < sites_.size(); ++s) prepare_site(s);
  const auto sites = static_cast<std::uint32_t>(sites_.size());
  for (std::uint32_t h = 0; h < situation().hosts.size(); ++h)
    if (situation().hosts[h].free_from < kInfinite && decoder_.speeds_[h] > 0)
      events_.set(sites + h, std::max(situation().hosts[h].free_from, 0.0));
  for (;;) {
    const std::uint32_t index = events_.next();
    const Seconds now = events_.moment(index);
    if (now == kInfinite) break;
    events_.forget(index);
    if (index < sites) {
      link_done(index, now);
    } else if (index < first_coming()) {
      serve(index - sites, now);
    } else {
      const std::uint32_t s = (index - first_coming()) / files();
      --sites_[s].coming;
      arrive(s, (index - first_coming()) % files(), now);
    }
    if (events_.moment(index) == kInfinite) events_.set(index, kInfinite);
  }
  result_.left_of_group = work_;
  for (std::size_t g = 0; g < open_.size(); ++g)
    if (open_[g] > 0) result_.left_over += std::max(work_[g], 0.0);
  return std::move(result_);
}

Decoded FetchDecoder::decode(const FetchLists& lists, Seconds deadline, bool keep_plan) const {
  assert(lists.size() == situation_->sites.size());
  return FetchRun(*this, lists, deadline, keep_plan).run();
}

}  // namespace gantry::schedule
