#include "driver/link_probes.hpp"

#include "forecast/grid_forecast.hpp"

namespace gantry::driver {

namespace {
/// Bytes in about a second that are no file: what was left by tasks is removed, and the like.
constexpr std::uint64_t kSmallTalk = 4 << 10;
/// Of so much of the time probes are under way, at the most: one in.
constexpr int kSeldom = 20;

/// From home to the site; nullptr if the grid has none.
const GridLink* link_to(const Grid* grid, SiteId site) {
  if (grid == nullptr) return nullptr;
  const auto at = std::ranges::find_if(
      grid->links, [&](const GridLink& link) { return link.from == 0 && link.to == site.value(); });
  return at == grid->links.end() ? nullptr : &*at;
}

/// When the link is silent for long enough; kNever if nobody wants to know.
TimePoint silent_until(const GridLink* link, TimePoint since) {
  const Duration wait = link != nullptr ? link->probe_after : kProbeAfter;
  return wait > Duration(0) ? since + wait : kNever;
}
}  // namespace

std::optional<double> declared_bandwidth(const Grid* grid, SiteId site) {
  const GridLink* link = link_to(grid, site);
  if (link == nullptr || link->assumed) return std::nullopt;
  return link->bandwidth;
}

std::optional<LinkProbes::Probe> LinkProbes::due(std::span<const SiteGlance> sites,
                                                 const forecast::GridForecast& seen,
                                                 const MayMoveFiles& may_move_files,
                                                 const Grid* grid, TimePoint now) {
  bool quiet = true;
  for (const SiteGlance& site : sites)
    if (site.id != kHome && !is_quiet(links_[site.id], site, now)) quiet = false;
  disturbed_ = disturbed_ || !quiet;
  if (is_under_way(now) || !quiet) return std::nullopt;

  std::optional<Probe> next;
  TimePoint overdue_since = now;
  for (const SiteGlance& site : sites) {
    // An agent that answers no empty message is sent no other.
    if (site.id == kHome || !seen.round_trip(site.id)) continue;
    const Link& link = links_[site.id];
    auto believed = seen.bandwidth(site.id);
    if (const auto declared = declared_bandwidth(grid, site.id); declared && !believed)
      believed = seen.possible_bandwidth(site.id, *declared);
    forecast::LinkProbe probe = seen.link_probe(site.id);
    if (link.lost) probe.lost();
    TimePoint due = silent_until(link_to(grid, site.id), link.silent_since);
    if (due == kNever) continue;
    if (link.asked != kNever)
      due = std::max(due, link.asked + std::max(probe.pause(believed), kSeldom * link.out));
    if (due > overdue_since || (next && due == overdue_since)) continue;
    if (!may_move_files(site.id)) continue;
    overdue_since = due;
    next = Probe{site.id, probe.next_bytes(believed)};
  }
  if (!next) return std::nullopt;
  links_[next->site].asked = now;
  out_ = next->site;
  disturbed_ = false;
  longest_gap_ = {};
  looked_at_ = now;
  return next;
}

bool LinkProbes::is_under_way(TimePoint now) {
  if (!out_) return false;
  Link& link = links_[*out_];
  if (now < link.asked + kPatience) return true;
  link.out = kPatience;
  link.lost = true;
  out_.reset();
  return false;
}

bool LinkProbes::answered(SiteId site, TimePoint now) {
  // Another one may be under way meanwhile.
  if (out_ != site) return false;
  out_.reset();
  Link& link = links_[site];
  link.out = now - link.asked;
  link.lost = disturbed_ || std::max(longest_gap_, now - looked_at_) > kLongestGap;
  return !link.lost;
}

bool LinkProbes::is_quiet(Link& link, const SiteGlance& site, TimePoint now) {
  const bool sends = site.to_send > 0 || site.sent - link.sent > kSmallTalk;
  const bool carries = link.silent_since == kNever || sends || site.received != link.received;
  if (carries) link.silent_since = now;
  link.sent = site.sent;
  link.received = site.received;
  return !carries;
}

}  // namespace gantry::driver
