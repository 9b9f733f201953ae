#include "schedule/slice.hpp"

#include <algorithm>
#include <utility>

namespace gantry::schedule {

Slice::Slice(const Drawing& drawing, std::vector<std::uint32_t> classes)
    : heuristic_(drawing.heuristic),
      sites_(drawing.hosts.sites()),
      like_(&drawing.situation.classes[classes.front()]) {
  if (heuristic_ == Heuristic::max_min)
    std::ranges::stable_sort(classes, std::ranges::greater(), [&](std::uint32_t task_class) {
      return drawing.situation.classes[task_class].work;
    });
  const std::size_t slots = compares_sites() ? classes.size() : 1;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (i < slots)
      add_slot(drawing, classes[i]);
    else
      rest_.push_back(classes[i]);
  }
  versions_.assign(sites_, 0);
  last_best_.resize(sites_);
  best_.assign(slots * sites_, {0, 0, 0});
  if (heuristic_ == Heuristic::sufferage) {
    runner_up_.assign(slots * sites_, 0);
    runner_up_versions_.assign(sites_, 0);
  }
  returned_.resize(slots);
  no_transfer_before_.assign(sites_, 0);
  row_starts_.assign(drawing.situation.hosts.size(), kNever);
  rows_.resize(drawing.situation.hosts.size() * slots);
  if (!drawing.estimates.ascend()) best_ends_.expect_any_order();
  for (std::size_t i = 0; i < slots; ++i) select(drawing, i, true);
  choose(drawing);
}

void Slice::add_slot(const Drawing& drawing, std::uint32_t task_class) {
  slots_.push_back({.task_class = task_class});
  works_.push_back(drawing.situation.classes[task_class].work);
}

bool Slice::reads_any_of(std::span<const std::uint32_t> files) const {
  return std::ranges::any_of(
      files, [&](std::uint32_t file) { return std::ranges::binary_search(like_->files, file); });
}

void Slice::remove(const Drawing& drawing, std::uint32_t task_class) {
  std::ranges::find(slots_, task_class, &Slot::task_class)->empty = true;
  ++empty_;
  if (!rest_.empty())
    give_slot_to_next(drawing);
  else if (slots_.size() > 1 && empty_ > slots_.size() / 8)
    drop_empty_slots();
  choose(drawing);
}

/// What is known of the others stays, but for the rows.
void Slice::drop_empty_slots() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].empty) continue;
    slots_[kept] = slots_[i];
    works_[kept] = works_[i];
    for (std::uint32_t site = 0; site < sites_; ++site) {
      best(kept, site) = best(i, site);
      if (!runner_up_.empty()) runner_up_[kept * sites_ + site] = runner_up_[i * sites_ + site];
    }
    ++kept;
  }
  slots_.resize(kept);
  works_.resize(kept);
  returned_.resize(kept);
  std::ranges::fill(row_starts_, kNever);
  empty_ = 0;
}

/// REQUIRES: one slot, and a rest. Nothing is known of the class that gets the slot.
void Slice::give_slot_to_next(const Drawing& drawing) {
  slots_[0] = {.task_class = rest_.front()};
  empty_ = 0;
  rest_.pop_front();
  works_[0] = drawing.situation.classes[slots_[0].task_class].work;
  std::ranges::fill(versions_, 0);
  std::ranges::fill(best_, Completion{0, 0, 0});
  std::ranges::fill(row_starts_, kNever);
  select(drawing, 0, true);
}

/// The class with most work may be impossible while others are not. A new file at a site may change
/// that.
void Slice::reconsider_passed_over(const Drawing& drawing) {
  if (passed_over_.empty()) return;
  if (!slots_[0].empty) rest_.push_front(slots_[0].task_class);
  rest_.insert(rest_.begin(), passed_over_.begin(), passed_over_.end());
  passed_over_.clear();
  give_slot_to_next(drawing);
}

void Slice::update(const Drawing& drawing, std::uint32_t site, bool sent) {
  if (sent) reconsider_passed_over(drawing);
  const auto concerned = [&](const Slot& slot) {
    return !slot.empty &&
           (sent || slot.first_site == site || (compares_sites() && slot.second_site == site));
  };
  if (std::ranges::none_of(slots_, concerned)) return;
  if (!sent && heuristic_ == Heuristic::min_min) {
    // It got later, so nothing is chosen sooner for it: how much later can wait until the slice is
    // about to be chosen.
    settled_ = false;
    return;
  }
  if (versions_[site] != drawing.hosts.version(site))
    refresh(drawing, site, std::ranges::any_of(slots_, [&](const Slot& slot) {
              return !slot.empty && slot.first_site == site;
            }));
  for (std::size_t i = 0; i < slots_.size(); ++i)
    if (concerned(slots_[i])) select(drawing, i, sent);
  if (sent) settled_ = true;
  choose(drawing);
}

void Slice::settle(const Drawing& drawing) {
  for (std::size_t i = 0; i < slots_.size(); ++i)
    if (!slots_[i].empty && stale(drawing, i, slots_[i].first_site)) select(drawing, i, false);
  settled_ = true;
  choose(drawing);
}

/// When tasks of the slots end on a host if they start then. Until a start moves, it is asked once.
std::span<const Seconds> Slice::ends(const Drawing& drawing, std::uint32_t site, std::size_t place,
                                     Seconds start) {
  const std::size_t row = drawing.hosts.row(site, place);
  const std::span<Seconds> ends(&rows_[row * slots_.size()], slots_.size());
  const std::uint32_t rank = drawing.hosts.at(site).hosts()[place].rank;
  if (row_starts_[row] == start) return ends;
  // A later start cannot better what an earlier one led to. If that is not good enough, it may be
  // offered as it is: nobody takes it.
  const bool hopeless =
      row_starts_[row] < start && !best_ends_.admits([&](std::size_t i) { return ends[i]; }, rank);
  if (!hopeless) {
    drawing.estimates.computed_each(drawing.hosts.with_rank(rank), start, works_, ends);
    row_starts_[row] = start;
  }
  return ends;
}

/// Good hosts to begin with spare asking about many. One that has got something since is no longer
/// good.
void Slice::offer_last_best(const Drawing& drawing, std::uint32_t site, Seconds from) {
  for (const std::uint32_t place : last_best_[site]) {
    const SiteHosts::Host& host = drawing.hosts.at(site).hosts()[place];
    const Seconds start = std::max(from, host.free);
    if (start < kNever && start == row_starts_[drawing.hosts.row(site, place)])
      best_ends_.offer(ends(drawing, site, place, start), host.rank);
  }
}

void Slice::remember_best(const Drawing& drawing, std::uint32_t site) {
  std::vector<std::uint32_t>& places = last_best_[site];
  places.clear();
  const auto add = [&](std::uint32_t rank) {
    const std::uint32_t place = drawing.hosts.place(drawing.hosts.with_rank(rank));
    if (!std::ranges::count(places, place)) places.push_back(place);
  };
  const auto first = best_ends_.first_ends();
  const auto second = best_ends_.second_ends();
  const std::size_t last = slots_.size() - 1;
  for (const std::size_t slot : {std::size_t{0}, last / 2, last}) {
    if (first[slot] < kNever) add(best_ends_.first_rank(slot));
    if (!second.empty() && second[slot] < kNever) add(best_ends_.second_rank(slot));
  }
}

/// Finds out again what the completions at the site are, with those on the second-best hosts if
/// they matter.
void Slice::refresh(const Drawing& drawing, std::uint32_t site, bool runner_ups) {
  const bool two = runner_ups && heuristic_ == Heuristic::sufferage;
  const Seconds there = drawing.chart.inputs_there(*like_, site, no_transfer_before_[site]);
  best_ends_.reset(slots_.size(), two);
  offer_last_best(drawing, site, there);
  drawing.hosts.at(site).find_best(
      there, works_,
      [&](std::size_t place, Seconds start) { return ends(drawing, site, place, start); },
      best_ends_);
  remember_best(drawing, site);
  drawing.chart.returned_each(*like_, site, best_ends_.first_ends(), returned_);
  for (std::size_t i = 0; i < slots_.size(); ++i)
    best(i, site) = returned_[i] < kNever ? Completion{returned_[i], best_ends_.first_ends()[i],
                                                       best_ends_.first_rank(i)}
                                          : Completion{};
  if (two) {
    drawing.chart.returned_each(*like_, site, best_ends_.second_ends(), returned_);
    for (std::size_t i = 0; i < slots_.size(); ++i) runner_up_[i * sites_ + site] = returned_[i];
    runner_up_versions_[site] = drawing.hosts.version(site);
  }
  versions_[site] = drawing.hosts.version(site);
}

bool Slice::stale(const Drawing& drawing, std::size_t slot, std::uint32_t site) {
  return versions_[site] != drawing.hosts.version(site) && best(slot, site).returned < kNever;
}

/// Brings the slot's best sites and its priority up to date. `anew`: completions may have become
/// earlier, too.
void Slice::select(const Drawing& drawing, std::size_t index, bool anew) {
  Slot& slot = slots_[index];
  if (anew || !still_best(drawing, index)) {
    for (;;) {
      find_best_sites(slot, index);
      if (stale(drawing, index, slot.first_site))
        refresh(drawing, slot.first_site, true);
      else if (compares_sites() && stale(drawing, index, slot.second_site))
        refresh(drawing, slot.second_site, false);
      else
        break;
    }
  }
  if (heuristic_ == Heuristic::sufferage &&
      runner_up_versions_[slot.first_site] != drawing.hosts.version(slot.first_site))
    refresh(drawing, slot.first_site, true);
  const Completion& first = best(index, slot.first_site);
  slot.possible = first.returned < kNever;
  if (slot.possible) {
    slot.priority = priority(heuristic_, first, other_choice(index), works_[index],
                             drawing.ranks.of_class[slot.task_class]);
  } else if (!rest_.empty()) {
    passed_over_.push_back(slot.task_class);
    give_slot_to_next(drawing);
  }
}

/// Are the two best sites the same as before, if perhaps in another order?
bool Slice::still_best(const Drawing& drawing, std::size_t index) {
  Slot& slot = slots_[index];
  if (best(index, slot.second_site) < best(index, slot.first_site))
    std::swap(slot.first_site, slot.second_site);
  if (stale(drawing, index, slot.first_site)) return false;
  if (!compares_sites()) return best(index, slot.first_site) < slot.elsewhere;
  return !stale(drawing, index, slot.second_site) && best(index, slot.second_site) < slot.elsewhere;
}

void Slice::find_best_sites(Slot& slot, std::size_t index) {
  const std::span<const Completion> all(&best_[index * sites_], sites_);
  std::uint32_t first = 0;
  std::uint32_t second = 0;
  slot.elsewhere = {};
  for (std::uint32_t site = 1; site < sites_; ++site) {
    if (second == first) {
      second = site;
      if (all[second] < all[first]) std::swap(first, second);
    } else if (all[site] < all[second]) {
      slot.elsewhere = all[second];
      second = site;
      if (all[second] < all[first]) std::swap(first, second);
    } else if (all[site] < slot.elsewhere) {
      slot.elsewhere = all[site];
    }
  }
  slot.first_site = first;
  slot.second_site = second;
}

/// The completion of a task that does not get its best host (sufferage) or site (xsufferage).
Seconds Slice::other_choice(std::size_t index) {
  const Slot& slot = slots_[index];
  const Seconds other_site =
      slot.second_site != slot.first_site ? best(index, slot.second_site).returned : kNever;
  if (heuristic_ != Heuristic::sufferage) return other_site;
  return std::min(other_site, runner_up_[index * sites_ + slot.first_site]);
}

void Slice::choose(const Drawing& drawing) {
  const Slot* least = nullptr;
  for (const Slot& slot : slots_)
    if (!slot.empty && slot.possible && (least == nullptr || slot.priority < least->priority))
      least = &slot;
  possible_ = least != nullptr;
  if (!possible_) return;
  const auto index = static_cast<std::size_t>(least - slots_.data());
  const Completion& first = best(index, least->first_site);
  choice_ = {least->task_class, least->first_site, drawing.hosts.with_rank(first.rank), first,
             least->priority};
}

}  // namespace gantry::schedule
