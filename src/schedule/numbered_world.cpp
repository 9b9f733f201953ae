#include "schedule/numbered_world.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "schedule/depot_room.hpp"

namespace gantry::schedule {

namespace {

class Numbering {
 public:
  Numbering(const World& world, const EstimateSource& source) : world_(world) {
    for (const double bytes : world.file_bytes) result_.situation.files.push_back({bytes});
    rows_.assign(world.hosts.size(), 0);
    for (const HostLoad& load : world.hosts)
      if (const SiteFiles* site = find_site(world, load.host->site);
          site != nullptr && !is_useless(load))
        smallest_depot_ = std::min(smallest_depot_, site->depot);
    for (const ReadyClass& ready : world.classes) add_class(ready);
    for (std::size_t host = 0; host < world.hosts.size(); ++host) add_slots(host);
    result_.estimates = source.at(world, result_.slots, result_.sites);
    for (std::uint32_t site = 0; site < result_.sites.size(); ++site) describe_site(site);
    std::size_t first = 0;
    for (std::size_t host = 0; host < world.hosts.size(); first += rows_[host++])
      occupy_slots(world.hosts[host], first, rows_[host]);
  }

  [[nodiscard]] NumberedWorld result() && { return std::move(result_); }

 private:
  /// A host whose depot holds the files of no task at all, or cannot get them: the others are
  /// planned as without it.
  [[nodiscard]] bool is_useless(const HostLoad& load) {
    const auto [known, is_new] = useless_.try_emplace(load.host->site, false);
    if (!is_new) return known->second;
    if (!world_.barred && !has_limit(find_site(world_, load.host->site))) return false;
    known->second = std::ranges::none_of(world_.classes, [&](const ReadyClass& ready) {
      return fits(world_, *load.host, *ready.needs) &&
             !is_barred(world_, load.host->site, ready.needs->files);
    });
    return known->second;
  }

  void add_class(const ReadyClass& ready) {
    if (ready.needs->resources != judged_) judge(ready.needs->resources);
    double bytes = 0;
    for (const FileId file : ready.needs->files) bytes += world_.file_bytes[file.value()];
    if (!judged_fits_ || bytes > smallest_depot_) return result_.choosy.push_back(ready.id);
    result_.classes.push_back(ready.id);
    TaskClass task_class{.waiting = static_cast<std::uint32_t>(ready.places->size()),
                         .work = ready.needs->cost,
                         .private_bytes = ready.needs->private_bytes,
                         .output_bytes = ready.needs->output_bytes};
    for (const FileId file : ready.needs->files) task_class.files.push_back(file.value());
    result_.situation.classes.push_back(std::move(task_class));
  }

  /// Mostly all tasks need the same.
  void judge(const Resources& resources) {
    judged_ = resources;
    judged_fits_ = std::ranges::all_of(
        world_.hosts, [&](const HostLoad& load) { return slots(*load.host, resources) > 0; });
    if (!judged_fits_) return;
    for (std::size_t host = 0; host < world_.hosts.size(); ++host) {
      const std::uint32_t fit = slots(*world_.hosts[host].host, resources);
      rows_[host] = rows_[host] == 0 ? fit : std::min(rows_[host], fit);
    }
  }

  void add_slots(std::size_t index) {
    const Host* host = world_.hosts[index].host;
    if (is_useless(world_.hosts[index])) rows_[index] = 0;
    if (rows_[index] == 0) return;
    const auto site = site_index_.try_emplace(host->site, result_.sites.size());
    if (site.second) result_.sites.push_back(host->site);
    for (std::uint32_t i = 0; i < rows_[index]; ++i) {
      result_.slots.push_back(host);
      result_.situation.hosts.push_back({.site = static_cast<std::uint32_t>(site.first->second)});
    }
  }

  void describe_site(std::uint32_t index) {
    const SiteId id = result_.sites[index];
    PlanSite site;
    site.file_from.assign(world_.file_bytes.size(), id == kHome ? 0 : schedule::kInfinite);
    if (const SiteFiles* known = find_site(world_, id); known != nullptr && id != kHome) {
      for (const FileId file : known->there) site.file_from[file.value()] = 0;
      for (const MovingFile& moving : known->moving) {
        const double bytes = world_.file_bytes[moving.file.value()];
        const Seconds since = seconds(moving.since - world_.now);
        // Planners' estimates are of the ways from home.
        const Seconds arrives =
            std::max(moving.from == kHome ? result_.estimates->moved(index, since, bytes, false)
                                          : seconds(moving.arrives - world_.now),
                     0.0);
        site.file_from[moving.file.value()] = arrives;
        if (moving.from == kHome)
          site.inbound.free_from = std::max(site.inbound.free_from, arrives);
      }
    }
    result_.situation.sites.push_back(std::move(site));
  }

  /// What runs there first, each on a slot of its own; then what waits, wherever a slot is free
  /// first.
  void occupy_slots(const HostLoad& load, std::size_t first, std::uint32_t count) {
    const std::span<PlanHost> slots(result_.situation.hosts.data() + first, count);
    if (slots.empty()) return;
    // What has begun needs no start any more.
    const Seconds launch =
        world_.seen != nullptr ? world_.seen->launch(load.host->site).value_or(0) : 0;
    for (const bool running : {true, false}) {
      for (const Ongoing& ongoing : load.ongoing) {
        if ((ongoing.started != kNever) != running) continue;
        const auto slot = std::ranges::min_element(slots, {}, &PlanHost::free_from);
        const Seconds from =
            running ? -launch - done_of(world_, load.host->id, ongoing) : slot->free_from;
        const auto index =
            static_cast<std::uint32_t>(first) + static_cast<std::uint32_t>(slot - slots.begin());
        slot->free_from = std::max(is_ours(world_, ongoing)
                                       ? result_.estimates->computed(index, from, ongoing.cost)
                                       : from + seconds(ongoing.expected),
                                   0.0);
      }
    }
  }

  const World& world_;
  NumberedWorld result_;
  Resources judged_{.cores = 0};
  bool judged_fits_ = false;
  double smallest_depot_ = std::numeric_limits<double>::infinity();
  std::map<SiteId, bool> useless_;
  std::vector<std::uint32_t> rows_;  ///< slots of each host
  std::map<SiteId, std::size_t> site_index_;
};

/// In what is ordered by id.
template <class Entry, class Id, class IdOf>
const Entry* find_by_id(std::span<const Entry> entries, Id id, IdOf id_of) {
  const auto entry = std::ranges::lower_bound(entries, id, {}, id_of);
  return entry == entries.end() || std::invoke(id_of, *entry) != id ? nullptr : &*entry;
}

}  // namespace

NumberedWorld numbered(const World& world, const EstimateSource& source) {
  return Numbering(world, source).result();
}

const ReadyClass* find_class(const World& world, ClassId id) {
  return find_by_id(world.classes, id, &ReadyClass::id);
}
const HostLoad* find_host(const World& world, HostId id) {
  return find_by_id(world.hosts, id, [](const HostLoad& load) { return load.host->id; });
}
const SiteFiles* find_site(std::span<const SiteFiles> sites, SiteId id) {
  return find_by_id(sites, id, &SiteFiles::site);
}

bool are_there(const World& world, SiteId site, const std::vector<FileId>& files) {
  if (site == kHome || files.empty()) return true;
  const SiteFiles* known = find_site(world, site);
  return known != nullptr && std::ranges::includes(known->there, files);
}

}  // namespace gantry::schedule
