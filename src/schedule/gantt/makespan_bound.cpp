#include "schedule/gantt/makespan_bound.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>

#include "schedule/gantt/load_program.hpp"

namespace gantry::schedule {

namespace {

constexpr double kPrecision = 1e-5;  // of a bound
constexpr Seconds kLatest = 1e15;    // what is not possible by then never is
constexpr double kGap = 1e-8;        // of the linear programs
/// A linear program costs their cube; with more, files have no rows of their own.
constexpr std::size_t kMaxResources = 300;

/// The last moment, to the precision, at which `possible` was found false; it stays true once it
/// is.
template <class Possible>
Seconds last_impossible(Seconds from, const Possible& possible) {
  if (possible(from)) return from;
  Seconds low = from;
  Seconds high = std::max(1.0, 2 * from);
  for (; !possible(high); high *= 2) {
    if (high > kLatest) return kInfinite;
    low = high;
  }
  while (high - low > kPrecision * high) {
    const Seconds middle = (low + high) / 2;
    (possible(middle) ? high : low) = middle;
  }
  return low;
}

/// Classes that read the same files.
struct Group {
  std::vector<std::uint32_t> files;
  double work = 0;              ///< of all tasks
  double bytes_in = kInfinite;  ///< of its own a unit of work needs at least
  double bytes_out = kInfinite;
};

class Bound {
 public:
  Bound(const Situation& situation, const Capacities& capacities,
        const MakespanBoundOptions& options);
  [[nodiscard]] MakespanBounds find() const;

 private:
  [[nodiscard]] Seconds arrival(std::uint32_t site, std::uint32_t file) const;
  [[nodiscard]] Seconds arrival_of(std::uint32_t site,
                                   const std::vector<std::uint32_t>& files) const;
  [[nodiscard]] double site_work(std::uint32_t site, Seconds from, Seconds until) const;
  [[nodiscard]] bool can_compute(Seconds until, bool with_files) const;
  [[nodiscard]] bool longest_fit(Seconds until, bool with_files) const;
  [[nodiscard]] bool can_move(Seconds until) const;

  struct SiteRows;
  [[nodiscard]] SiteRows rows_of(std::uint32_t site, Seconds until, std::uint32_t& next) const;
  [[nodiscard]] bool add_alternative(LoadProgram& program, const Group& group,
                                     const SiteRows& rows) const;

  const Situation& situation_;
  const Capacities& capacities_;
  MakespanBoundOptions options_;
  std::vector<Group> groups_;
  std::vector<double> file_work_;  ///< of all tasks that read it
  bool files_have_rows_ = true;
  std::vector<std::vector<std::uint32_t>> hosts_;  ///< by site
  std::vector<std::vector<Seconds>> arrivals_;     ///< by site and file, the earliest
};

Bound::Bound(const Situation& situation, const Capacities& capacities,
             const MakespanBoundOptions& options)
    : situation_(situation), capacities_(capacities), options_(options) {
  std::map<std::vector<std::uint32_t>, Group> by_files;
  for (const TaskClass& task : situation.classes) {
    if (task.waiting == 0 || task.work <= 0) continue;
    Group& group = by_files[task.files];
    group.files = task.files;
    group.work += task.waiting * task.work;
    // A site may take those tasks of the group that need least.
    group.bytes_in = std::min(group.bytes_in, task.private_bytes / task.work);
    group.bytes_out = std::min(group.bytes_out, task.output_bytes / task.work);
  }
  file_work_.resize(situation.files.size());
  for (auto& [files, group] : by_files) {
    for (const std::uint32_t file : files) file_work_[file] += group.work;
    groups_.push_back(std::move(group));
  }
  files_have_rows_ = situation.sites.size() * (situation.files.size() + 3) <= kMaxResources;
  hosts_.resize(situation.sites.size());
  for (std::uint32_t h = 0; h < situation.hosts.size(); ++h)
    hosts_[situation.hosts[h].site].push_back(h);
  arrivals_.resize(situation.sites.size());
  for (std::uint32_t site = 0; site < situation.sites.size(); ++site)
    for (std::uint32_t file = 0; file < situation.files.size(); ++file)
      arrivals_[site].push_back(arrival(site, file));
}

Seconds Bound::arrival(std::uint32_t site, std::uint32_t file) const {
  const Seconds known = situation_.sites[site].file_from[file];
  if (known < kInfinite) return std::max(known, 0.0);
  const Seconds start = std::max(situation_.sites[site].inbound.free_from, 0.0);
  return last_impossible(start, [&](Seconds until) {
    return capacities_.bytes(site, start, until, false) >= situation_.files[file].bytes;
  });
}

Seconds Bound::arrival_of(std::uint32_t site, const std::vector<std::uint32_t>& files) const {
  Seconds last = 0;
  for (const std::uint32_t file : files) last = std::max(last, arrivals_[site][file]);
  return last;
}

double Bound::site_work(std::uint32_t site, Seconds from, Seconds until) const {
  double total = 0;
  for (const std::uint32_t host : hosts_[site]) {
    const Seconds start = std::max({situation_.hosts[host].free_from, from, 0.0});
    if (start < until) total += capacities_.work(host, start, until);
  }
  return total;
}

/// Is every class's task possible on some host?
bool Bound::longest_fit(Seconds until, bool with_files) const {
  const auto fits = [&](const TaskClass& task) {
    for (std::uint32_t site = 0; site < hosts_.size(); ++site) {
      const Seconds there = with_files ? arrival_of(site, task.files) : 0;
      for (const std::uint32_t host : hosts_[site]) {
        const Seconds start = std::max({situation_.hosts[host].free_from, there, 0.0});
        if (start < until && capacities_.work(host, start, until) >= task.work) return true;
      }
    }
    return false;
  };
  return std::ranges::all_of(situation_.classes, [&](const TaskClass& task) {
    return task.waiting == 0 || task.work <= 0 || fits(task);
  });
}

bool Bound::can_compute(Seconds until, bool with_files) const {
  double work = 0;
  for (const Group& group : groups_) work += group.work;
  for (std::uint32_t site = 0; site < hosts_.size(); ++site) work -= site_work(site, 0, until);
  return work <= 0 && longest_fit(until, with_files);
}

/// The resources of a site that tasks there use until a moment; with how much of each there is.
struct Bound::SiteRows {
  struct Row {
    std::uint32_t number = 0;
    double capacity = 0;
  };
  std::uint32_t site = 0;
  Row work;               ///< of its hosts
  Row in;                 ///< of its link
  Row out;                ///< the same as `in` when there is one stream for both
  std::vector<Row> file;  ///< by file: the work that can be done after its arrival
};

Bound::SiteRows Bound::rows_of(std::uint32_t site, Seconds until, std::uint32_t& next) const {
  const PlanSite& its = situation_.sites[site];
  Seconds first = kInfinite;
  for (const Group& group : groups_) first = std::min(first, arrival_of(site, group.files));
  SiteRows rows{.site = site, .work = {}, .in = {}, .out = {}, .file = {}};
  rows.work = {next++, site_work(site, first, until)};
  const auto link = [&](const SiteLink& from, bool outbound) {
    const Seconds start = std::max(from.free_from, 0.0);
    return start < until ? capacities_.bytes(site, start, until, outbound) : 0;
  };
  rows.in = {next++, link(its.inbound, false)};
  rows.out = its.same_stream ? rows.in : SiteRows::Row{next++, link(its.outbound, true)};
  for (std::uint32_t file = 0; file < situation_.files.size(); ++file)
    rows.file.push_back(
        {files_have_rows_ ? next++ : 0, site_work(site, arrivals_[site][file], until)});
  return rows;
}

/// The group at a site, as loads of one for each resource when it is used up. A file that the site
/// lacks is sent there to the part to which its tasks there are all of its tasks, or fill the time
/// after its arrival: schedules send it wholly or not at all, so they need no less. False when none
/// of the group can be there.
bool Bound::add_alternative(LoadProgram& program, const Group& group, const SiteRows& rows) const {
  std::map<std::uint32_t, double> loads;
  bool possible = true;
  const auto use = [&](const SiteRows::Row& row, double amount) {
    if (amount <= 0 || row.capacity == kInfinite) return;
    if (row.capacity <= 0)
      possible = false;
    else
      loads[row.number] += amount / row.capacity;
  };
  use(rows.work, group.work);
  double bytes = options_.private_inputs_on_link ? group.work * group.bytes_in : 0;
  for (const std::uint32_t file : group.files) {
    if (files_have_rows_ || rows.file[file].capacity <= 0) use(rows.file[file], group.work);
    if (situation_.sites[rows.site].file_from[file] == kInfinite && rows.file[file].capacity > 0)
      bytes += situation_.files[file].bytes * group.work /
               std::min(rows.file[file].capacity, file_work_[file]);
  }
  use(rows.in, bytes);
  if (options_.outputs_on_link) use(rows.out, group.work * group.bytes_out);
  if (!possible) return false;
  for (const auto& [row, load] : loads) program.add_use(row, load);
  program.end_alternative();
  return true;
}

bool Bound::can_move(Seconds until) const {
  std::uint32_t resources = 0;
  std::vector<SiteRows> sites;
  for (std::uint32_t site = 0; site < hosts_.size(); ++site)
    if (!hosts_[site].empty()) sites.push_back(rows_of(site, until, resources));
  LoadProgram program;
  program.loads.assign(resources, 0.0);
  for (const Group& group : groups_) {
    std::size_t places = 0;
    for (const SiteRows& rows : sites) places += add_alternative(program, group, rows) ? 1 : 0;
    if (places == 0) return false;
    program.end_item();
  }
  if (resources == 0) return groups_.empty();
  // It matters on which side of 1 the optimum is, not where.
  const BalanceLimits limits{.gap = kGap, .enough = std::nextafter(1.0, 2.0), .little = 1 - kGap};
  return balance(program, limits).bound <= 1;
}

MakespanBounds Bound::find() const {
  MakespanBounds bounds;
  if (groups_.empty()) return bounds;
  bounds.compute = last_impossible(0, [&](Seconds until) { return can_compute(until, false); });
  bounds.data = bounds.compute;
  if (bounds.compute == kInfinite) return bounds;
  bounds.data = last_impossible(
      bounds.compute, [&](Seconds until) { return can_compute(until, true) && can_move(until); });
  return bounds;
}

}  // namespace

MakespanBounds makespan_bounds(const Situation& situation, const Capacities& capacities,
                               const MakespanBoundOptions& options) {
  return Bound(situation, capacities, options).find();
}

}  // namespace gantry::schedule
