#include "schedule/gantt/slice.hpp"

#include <algorithm>
#include <utility>

#include "schedule/gantt/lanes.hpp"

namespace gantry::schedule {

namespace {

std::vector<double> works_of(const Drawing& drawing, std::span<const std::uint32_t> classes) {
  std::vector<double> works;
  works.reserve(classes.size());
  for (const std::uint32_t c : classes) works.push_back(drawing.situation.classes[c].work);
  return works;
}

}  // namespace

Slice::Slice(const Drawing& drawing, std::vector<std::uint32_t> classes, BestHosts* shared)
    : heuristic_(drawing.heuristic),
      like_(&drawing.situation.classes[classes.front()]),
      shared_(shared),
      own_(drawing, {}, *like_),
      sites_(drawing.hosts.sites()) {
  if (heuristic_ == Heuristic::max_min)
    std::ranges::stable_sort(classes, std::ranges::greater(), [&](std::uint32_t task_class) {
      return drawing.situation.classes[task_class].work;
    });
  const auto slots = static_cast<std::ptrdiff_t>(compares_sites() ? classes.size() : 1);
  slots_.assign(classes.begin(), classes.begin() + slots);
  rest_.assign(classes.begin() + slots, classes.end());
  empty_.assign(slots_.size(), 0);
  own_.replace(works_of(drawing, slots_));
  find_in_shared();
  forget_sites(drawing);
  select(drawing);
}

void Slice::find_in_shared() {
  if (shared_ == nullptr) return;
  in_shared_.clear();
  for (const double work : own_.works())
    in_shared_.push_back(static_cast<std::uint32_t>(
        std::ranges::lower_bound(shared_->works(), work) - shared_->works().begin()));
}

/// All that is known then is that no task starts before its inputs are there and some host is free,
/// and that none is faster than on the fastest.
void Slice::forget_sites(const Drawing& drawing) {
  returned_.clear();
  for (std::uint32_t site = 0; site < sites_.size(); ++site) {
    sites_[site].version = 0;
    const Seconds free = std::max(drawing.hosts.at(site).first_free(), sites_[site].there);
    const double fastest = drawing.hosts.at(site).fastest();
    for (const double work : own_.works())
      returned_.push_back(std::max(free, free + work / fastest));
  }
  if (heuristic_ == Heuristic::sufferage) runner_up_ = returned_;
}

bool Slice::reads_any_of(std::span<const std::uint32_t> files) const {
  return std::ranges::any_of(
      files, [&](std::uint32_t file) { return std::ranges::binary_search(like_->files, file); });
}

void Slice::remove(const Drawing& drawing, std::uint32_t task_class) {
  const auto slot = std::ranges::find(slots_, task_class) - slots_.begin();
  empty_[static_cast<std::size_t>(slot)] = 1;
  ++empty_count_;
  if (!rest_.empty()) give_slot_to_next(drawing);
}

/// What is known of the others stays, but for their hosts.
void Slice::drop_empty_slots() {
  const auto drop = [&](auto& values) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < values.size(); ++i)
      if (empty_[i % slots_.size()] == 0) values[kept++] = values[i];
    values.resize(kept);
  };
  std::vector<double> works = own_.works();
  drop(works);
  own_.replace(std::move(works));
  for (AtSite& at : sites_)
    if (!at.is_shared) at.version = 0;
  drop(returned_);
  drop(runner_up_);
  drop(in_shared_);
  std::vector<std::uint32_t> slots = slots_;
  drop(slots);
  slots_ = std::move(slots);
  empty_.assign(slots_.size(), 0);
  empty_count_ = 0;
}

/// REQUIRES: one slot, and a rest. Nothing is known of the class that gets the slot.
void Slice::give_slot_to_next(const Drawing& drawing) {
  slots_[0] = rest_.front();
  rest_.pop_front();
  empty_[0] = 0;
  empty_count_ = 0;
  own_.replace(works_of(drawing, slots_));
  forget_sites(drawing);
  select(drawing);
}

/// The class with most work may be impossible while others are not. A new file at a site may change
/// that.
void Slice::reconsider_passed_over(const Drawing& drawing) {
  if (passed_over_.empty()) return;
  if (empty_[0] == 0) rest_.push_front(slots_[0]);
  rest_.insert(rest_.begin(), passed_over_.begin(), passed_over_.end());
  passed_over_.clear();
  give_slot_to_next(drawing);
}

void Slice::update(const Drawing& drawing, std::uint32_t site, bool sent) {
  if (sent) {
    sites_[site].there = 0;
    reconsider_passed_over(drawing);
  }
  if (!sent && !matters(site)) return;
  if (!sent && heuristic_ == Heuristic::min_min) {
    // It got later, so nothing is chosen sooner for it: how much later can wait until the slice is
    // about to be chosen.
    settled_ = false;
    return;
  }
  if (sites_[site].version != drawing.hosts.version(site)) refresh(drawing, site);
  settle(drawing);
}

void Slice::settle(const Drawing& drawing) {
  select(drawing);
  settled_ = true;
}

/// Finds out again what the completions at the site are.
void Slice::refresh(const Drawing& drawing, std::uint32_t site) {
  const bool two = heuristic_ == Heuristic::sufferage;
  AtSite& at = sites_[site];
  const Seconds there = drawing.chart.inputs_there(*like_, site, at.no_transfer_before);
  at.version = drawing.hosts.version(site);
  at.there = there;
  // Where all inputs are there before a host is free, tasks start alike whatever they read.
  at.is_shared = shared_ != nullptr && there <= drawing.hosts.at(site).first_free();
  const std::size_t first = site * slots_.size();
  if (!at.is_shared) {
    own_.find(drawing, site, there, two);
    std::ranges::copy(own_.returned(site), &returned_[first]);
    if (two) std::ranges::copy(own_.runner_up(site), &runner_up_[first]);
    return;
  }
  if (shared_->version(site) != at.version) shared_->find(drawing, site, 0, two);
  for (std::size_t i = 0; i < slots_.size(); ++i)
    returned_[first + i] = shared_->returned(site)[in_shared_[i]];
  for (std::size_t i = 0; two && i < slots_.size(); ++i)
    runner_up_[first + i] = shared_->runner_up(site)[in_shared_[i]];
}

/// Brings all up to date that decides what is chosen, and chooses.
void Slice::select(const Drawing& drawing) {
  if (slots_.size() > 1 && empty_count_ > slots_.size() / 8) drop_empty_slots();
  do compare_sites();
  while (refresh_what_matters(drawing));
  choose(drawing);
  if (!possible_ && !rest_.empty()) {
    passed_over_.push_back(slots_[0]);
    give_slot_to_next(drawing);
  }
}

/// Of every slot the best completion and the next best, as far as is known.
void Slice::compare_sites() {
  first_.resize(slots_.size());
  other_.resize(slots_.size());
  suffers_.resize(slots_.size());
  const bool hosts = heuristic_ == Heuristic::sufferage;
  for_lanes(slots_.size(), [&]<class Number>(std::size_t i, Number zero) {
    Number first = zero + kInfinite;
    Number other = first;
    for (std::size_t at = 0; at < returned_.size(); at += slots_.size()) {
      const auto here = load<Number>(&returned_[at + i]);
      const Number later = first < here ? here : first;
      other = later < other ? later : other;
      first = here < first ? here : first;
      if (!hosts) continue;
      // Second-best hosts of other sites than the best are later than the best ones there.
      const auto runner_up = load<Number>(&runner_up_[at + i]);
      other = runner_up < other ? runner_up : other;
    }
    // What is empty matters to nobody.
    const Number never = zero + kInfinite;
    const auto is_empty = load<Number>(&empty_[i]) > zero;
    const Number suffers = other < never ? first - other : -never;
    store<Number>(&first_[i], is_empty ? -never : first);
    store<Number>(&other_[i], is_empty ? -never : other);
    store<Number>(&suffers_[i], (is_empty | (first == never)) ? never : suffers);
  });
}

/// What is known of a site may be old. It does not matter where even that is too late.
bool Slice::refresh_what_matters(const Drawing& drawing) {
  bool any = false;
  for (std::uint32_t site = 0; site < sites_.size(); ++site) {
    if (sites_[site].version == drawing.hosts.version(site) || !matters(site)) continue;
    refresh(drawing, site);
    any = true;
  }
  return any;
}

bool Slice::matters(std::uint32_t site) const {
  const std::vector<Seconds>& limits = compares_sites() ? other_ : first_;
  const std::size_t first = site * slots_.size();
  return any_lane(slots_.size(), [&]<class Number>(std::size_t i, Number zero) {
    const auto here = load<Number>(&returned_[first + i]);
    // What is never complete there stays so.
    return (here <= load<Number>(&limits[i])) & (here < zero + kInfinite);
  });
}

Completion Slice::completion(std::size_t slot, std::uint32_t site) const {
  return sites_[site].is_shared ? shared_->completion(site, in_shared_[slot])
                                : own_.completion(site, slot);
}

std::uint32_t Slice::first_site(std::size_t slot) const {
  std::uint32_t best = 0;
  Completion earliest;
  for (std::uint32_t site = 0; site < sites_.size(); ++site) {
    if (returned_[site * slots_.size() + slot] != first_[slot]) continue;
    const Completion here = completion(slot, site);
    if (!(here < earliest)) continue;
    earliest = here;
    best = site;
  }
  return best;
}

void Slice::choose(const Drawing& drawing) {
  possible_ = false;
  double most = kInfinite;
  for (const double suffers : suffers_) most = suffers < most ? suffers : most;
  if (most == kInfinite) return;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (suffers_[i] != most) continue;
    const Choice choice = choice_of(drawing, i);
    if (possible_ && !(choice.priority < choice_.priority)) continue;
    choice_ = choice;
    possible_ = true;
  }
}

Slice::Choice Slice::choice_of(const Drawing& drawing, std::size_t slot) const {
  const std::uint32_t site = first_site(slot);
  const Completion best = completion(slot, site);
  const std::uint32_t task_class = slots_[slot];
  return {.task_class = task_class,
          .site = site,
          .host = drawing.hosts.with_rank(best.rank),
          .completion = best,
          .priority =
              priority(heuristic_, best, other_[slot], drawing.situation.classes[task_class].work,
                       drawing.ranks.of_class[task_class])};
}

}  // namespace gantry::schedule
