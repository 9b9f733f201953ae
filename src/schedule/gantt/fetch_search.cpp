#include "schedule/gantt/fetch_search.hpp"

#include <algorithm>
#include <random>
#include <span>
#include <utility>

#include "base/chance.hpp"

namespace gantry::schedule {

namespace {

/// The deadline is so much earlier than what was reached; when that cannot be met, half as much.
constexpr double kFirstStep = 0.04;
constexpr double kLastStep = 0.001;
constexpr std::uint32_t kPatience = 30;  ///< changes in vain before the step is halved

class FetchSearch {
 public:
  FetchSearch(const Situation& situation, const Estimates& estimates,
              const FetchSearchOptions& options)
      : situation_(situation),
        decoder_(situation, estimates),
        left_(options.decodings),
        random_(options.seed) {}

  FetchPlan run(const std::vector<FetchLists>& starts) &&;

 private:
  Decoded decode(const FetchLists& lists, Seconds deadline);
  void begin(const FetchLists& lists);
  void improve();
  [[nodiscard]] FetchLists changed(const FetchLists& lists, const Decoded& now);
  void fetch_more(FetchLists& lists, const Decoded& now);
  void fetch_less(FetchLists& lists, const Decoded& now);
  void fetch_otherwise(FetchLists& lists);
  void keep(const FetchLists& lists, const Decoded& result, Seconds deadline);
  [[nodiscard]] Decoded final_plan() const;
  [[nodiscard]] static FetchLists tidied(const FetchLists& lists, const Decoded& result);
  /// An index, with a chance like its weight; any if all are 0.
  std::size_t draw(std::span<const double> weights);
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(random_() % count); }
  [[nodiscard]] bool has(std::size_t site, std::uint32_t file) const {
    return situation_.sites[site].file_from[file] < kInfinite;
  }

  const Situation& situation_;
  FetchDecoder decoder_;
  std::uint32_t left_;
  std::mt19937_64 random_;
  FetchLists best_;     ///< without what nobody uses
  FetchLists decoded_;  ///< the same with it
  Seconds makespan_ = kInfinite;
  Seconds deadline_ = kInfinite;  ///< with which it was reached
};

Decoded FetchSearch::decode(const FetchLists& lists, Seconds deadline) {
  if (left_ > 0) --left_;
  return decoder_.decode(lists, deadline, false);
}

/// Under a deadline that is met for sure, or that at least does not leave over more than a later
/// one does.
void FetchSearch::begin(const FetchLists& lists) {
  constexpr int kDoublings = 60;
  Seconds deadline = makespan_ < kInfinite ? makespan_ : 1;
  for (int i = 0; i < kDoublings; ++i, deadline *= 2) {
    const Decoded result = decode(lists, deadline);
    if (result.left_over > 0) {
      if (makespan_ < kInfinite) return;  // others do better
      continue;
    }
    if (result.makespan >= makespan_) return;
    return keep(lists, result, deadline);
  }
}

void FetchSearch::keep(const FetchLists& lists, const Decoded& result, Seconds deadline) {
  best_ = tidied(lists, result);
  decoded_ = lists;
  makespan_ = result.makespan;
  deadline_ = deadline;
}

FetchLists FetchSearch::tidied(const FetchLists& lists, const Decoded& result) {
  FetchLists tidy(lists.size());
  for (std::size_t s = 0; s < lists.size(); ++s)
    for (const std::uint32_t file : lists[s])
      if (result.used[s][file] > 0 && std::ranges::find(tidy[s], file) == tidy[s].end())
        tidy[s].push_back(file);
  return tidy;
}

std::size_t FetchSearch::draw(std::span<const double> weights) {
  double sum = 0;
  for (const double weight : weights) sum += std::max(weight, 0.0);
  if (!(sum > 0)) return below(weights.size());
  double at = unit_of(random_()) * sum;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    at -= std::max(weights[i], 0.0);
    if (at < 0) return i;
  }
  return weights.size() - 1;
}

/// A site with time on its hands gets the files of tasks that found no place.
void FetchSearch::fetch_more(FetchLists& lists, const Decoded& now) {
  const std::size_t site = below(3) == 0 ? below(lists.size()) : draw(now.idle_of_site);
  const std::size_t group = draw(now.left_of_group);
  auto& list = lists[site];
  std::size_t place = below(list.size() + 1);
  for (const std::uint32_t file : decoder_.files_of(group)) {
    if (has(site, file)) continue;
    const auto known = std::ranges::find(list, file);
    if (known != list.end()) {
      if (static_cast<std::size_t>(known - list.begin()) < place) continue;
      list.erase(known);
    }
    place = std::min(place, list.size());
    list.insert(list.begin() + static_cast<std::ptrdiff_t>(place++), file);
  }
}

void FetchSearch::fetch_less(FetchLists& lists, const Decoded& now) {
  std::vector<double> weights;
  std::vector<std::pair<std::size_t, std::size_t>> places;
  for (std::size_t s = 0; s < lists.size(); ++s) {
    for (std::size_t i = 0; i < lists[s].size(); ++i) {
      places.emplace_back(s, i);
      weights.push_back(1.0 / (1.0 + now.used[s][lists[s][i]]));
    }
  }
  if (places.empty()) return;
  const auto [site, place] = places[draw(weights)];
  lists[site].erase(lists[site].begin() + static_cast<std::ptrdiff_t>(place));
}

void FetchSearch::fetch_otherwise(FetchLists& lists) {
  auto& list = lists[below(lists.size())];
  if (list.size() < 2) return;
  const std::size_t from = below(list.size());
  const std::uint32_t file = list[from];
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(from));
  list.insert(list.begin() + static_cast<std::ptrdiff_t>(below(list.size() + 1)), file);
}

FetchLists FetchSearch::changed(const FetchLists& lists, const Decoded& now) {
  FetchLists other = lists;
  switch (below(6)) {
    case 0:
    case 1:
      fetch_more(other, now);
      break;
    case 2:
      fetch_less(other, now);
      break;
    case 3:
      fetch_less(other, now);
      fetch_more(other, now);
      break;
    default:
      fetch_otherwise(other);
  }
  return other;
}

void FetchSearch::improve() {
  double step = kFirstStep;
  FetchLists lists = best_;
  Decoded now = decode(lists, makespan_ * (1 - step));
  std::uint32_t in_vain = 0;
  while (left_ > 0 && step > kLastStep) {
    const Seconds deadline = makespan_ * (1 - step);
    if (now.left_over <= 0 && now.makespan <= deadline) {
      keep(lists, now, deadline);
    } else if (in_vain < kPatience) {
      FetchLists other = changed(lists, now);
      ++in_vain;
      if (other == lists) continue;
      Decoded result = decode(other, deadline);
      if (result.left_over > now.left_over) continue;
      if (result.left_over < now.left_over) in_vain = 0;
      lists = std::move(other);
      now = std::move(result);
      continue;
    } else {
      step /= 2;
    }
    in_vain = 0;
    lists = best_;
    now = decode(lists, makespan_ * (1 - step));
  }
}

FetchPlan FetchSearch::run(const std::vector<FetchLists>& starts) && {
  if (decoder_.groups() == 0) return {FetchLists(situation_.sites.size()), 0, {}};
  for (const FetchLists& lists : starts) begin(lists);
  if (makespan_ < kInfinite) improve();
  if (makespan_ == kInfinite) return {};
  Decoded last = final_plan();
  return {std::move(best_), last.makespan, std::move(last.plan)};
}

/// Without the files that nobody uses tasks may be served in another order, and not always a better
/// one.
Decoded FetchSearch::final_plan() const {
  Decoded last = decoder_.decode(best_, deadline_, true);
  if (last.left_over <= 0 && last.makespan <= makespan_) return last;
  last = decoder_.decode(decoded_, deadline_, true);
  std::erase_if(last.plan.transfers, [&](const PlannedTransfer& transfer) {
    return transfer.what == PlannedTransfer::What::shared_file &&
           last.used[transfer.site][transfer.index] == 0;
  });
  return last;
}

}  // namespace

FetchPlan search_fetches(const Situation& situation, const Estimates& estimates,
                         const std::vector<FetchLists>& starts, const FetchSearchOptions& options) {
  return FetchSearch(situation, estimates, options).run(starts);
}

FetchLists fetches_of(const GanttPlan& plan, std::size_t sites) {
  FetchLists lists(sites);
  for (const PlannedTransfer& transfer : plan.transfers)
    if (transfer.what == PlannedTransfer::What::shared_file)
      lists[transfer.site].push_back(transfer.index);
  return lists;
}

}  // namespace gantry::schedule
