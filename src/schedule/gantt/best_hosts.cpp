#include "schedule/gantt/best_hosts.hpp"

#include <algorithm>

namespace gantry::schedule {

BestHosts::BestHosts(const Drawing& drawing, std::vector<double> works, const TaskClass& like)
    : like_(&like), sites_(drawing.hosts.sites()) {
  replace(std::move(works));
}

void BestHosts::replace(std::vector<double> works) {
  works_ = std::move(works);
  for (AtSite& at : sites_) {
    at.version = 0;
    at.likely_count = 0;
    at.rows.clear();
  }
}

void BestHosts::find(const Drawing& drawing, std::uint32_t site, Seconds from, bool two) {
  AtSite& at = sites_[site];
  const SiteHosts& hosts = drawing.hosts.at(site);
  at.version = drawing.hosts.version(site);
  at.best.reset(works_, hosts.fastest(), two);
  at.returned.resize(works_.size());
  at.runner_up.resize(two ? works_.size() : 0);
  if (at.rows.empty()) {
    at.rows.resize(hosts.size());
    at.ends.resize(hosts.size() * works_.size());
  }
  ++calls_;
  ask_likely(drawing, site, from);
  hosts.find_best(from, works_, at.best,
                  [&](std::size_t place, Seconds start) { ask(drawing, site, place, start); });
  drawing.chart.returned_each(*like_, site, at.best.first_ends(), at.returned);
  if (two) drawing.chart.returned_each(*like_, site, at.best.second_ends(), at.runner_up);
}

/// Good hosts to begin with spare asking about many. One that has got something since is no longer
/// good.
void BestHosts::ask_likely(const Drawing& drawing, std::uint32_t site, Seconds from) {
  AtSite& at = sites_[site];
  const auto likely = at.likely;
  const std::size_t count = std::exchange(at.likely_count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t place = likely[i].second;
    const Seconds start = std::max(from, drawing.hosts.at(site).hosts()[place].free);
    if (start < kInfinite && start == at.rows[place].start) ask(drawing, site, place, start);
  }
}

/// Until the start on a host moves, the estimates are asked once.
void BestHosts::ask(const Drawing& drawing, std::uint32_t site, std::size_t place, Seconds start) {
  AtSite& at = sites_[site];
  const SiteHosts::Host& host = drawing.hosts.at(site).hosts()[place];
  Row& row = at.rows[place];
  if (std::exchange(row.asked, calls_) == calls_) return;
  const std::span<Seconds> ends(&at.ends[place * works_.size()], works_.size());
  // A later start cannot better what an earlier one led to.
  const bool hopeful = row.start <= start ? at.best.admits(ends, host.rank)
                                          : at.best.admits(works_, start, host.fastest, host.rank);
  if (!hopeful) return;
  if (row.start != start) {
    drawing.estimates.computed_each(drawing.hosts.with_rank(host.rank), start, works_, ends);
    row.start = start;
  }
  at.best.offer(works_, ends, host.rank);
  remember(at, static_cast<std::uint32_t>(place), ends[ends.size() / 2]);
}

void BestHosts::remember(AtSite& at, std::uint32_t place, Seconds end) {
  std::size_t i = at.likely_count;
  if (i < at.likely.size())
    ++at.likely_count;
  else if (end < at.likely[--i].first)
    at.likely[i] = {end, place};
  else
    return;
  for (; i > 0 && end < at.likely[i - 1].first; --i) at.likely[i] = at.likely[i - 1];
  at.likely[i] = {end, place};
}

}  // namespace gantry::schedule
