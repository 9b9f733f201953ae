#pragma once
/// For tests only: random situations for planners, small, with estimates that change over time. All
/// numbers are small multiples of powers of two, so that sums are exact and ties are frequent.

#include <rapidcheck.h>

#include <algorithm>
#include <cmath>
#include <ostream>
#include <vector>

#include "schedule/gantt/sched.hpp"

namespace gantry::schedule {

/// Speeds that change every `period` seconds, over and over, and nothing after `closes`.
struct SteppedSpeed {
  std::vector<double> speeds{1};
  Seconds period = 8;
  Seconds closes = kInfinite;

  [[nodiscard]] Seconds done(Seconds from, double work) const {
    Seconds at = from;
    for (auto step = static_cast<std::size_t>(from / period);; ++step) {
      const Seconds until = static_cast<double>(step + 1) * period;
      const double speed = speeds[step % speeds.size()];
      if (at + work / speed <= until) {
        at += work / speed;
        return at <= closes ? at : kInfinite;
      }
      if (at >= closes) return kInfinite;
      work -= (until - at) * speed;
      at = until;
    }
  }
};

struct SteppedEstimates final : public Estimates {
  std::vector<SteppedSpeed> hosts;
  std::vector<SteppedSpeed> links;
  bool tells_fastest = true;

  [[nodiscard]] Seconds computed(std::uint32_t host, Seconds from, double work) const override {
    return hosts[host].done(from, work);
  }
  [[nodiscard]] Seconds moved(std::uint32_t site, Seconds from, double bytes,
                              bool outbound) const override {
    return links[site].done(from + (outbound ? 0.5 : 0.25), bytes);
  }
  [[nodiscard]] double fastest(std::uint32_t host) const override {
    return tells_fastest ? std::ranges::max(hosts[host].speeds) : kInfinite;
  }
};

struct RandomCase {
  Situation situation;
  SteppedEstimates estimates;
  SchedOptions options;
};

/// For the log of a property that does not hold.
inline std::ostream& operator<<(std::ostream& out, const SteppedSpeed& speed) {
  for (const double step : speed.speeds) out << step << ' ';
  return out << "every " << speed.period << " s, until " << speed.closes;
}
inline std::ostream& operator<<(std::ostream& out, const RandomCase& c) {
  const auto& [situation, estimates, options] = c;
  out << name(options.heuristic) << ", horizon " << options.horizon << " + " << options.margin
      << (options.enough == Enough::all_covered ? ", all covered" : ", each covered")
      << (options.chart.outputs_in_chart ? ", outputs in chart" : "") << ", private inputs "
      << int(options.chart.private_inputs) << ", seed " << options.seed << '\n';
  for (const SharedFile& file : situation.files) out << "file: " << file.bytes << " bytes\n";
  for (const TaskClass& task : situation.classes) {
    out << "class: " << task.waiting << " waiting, work " << task.work << ", private "
        << task.private_bytes << ", output " << task.output_bytes << ", files";
    for (const std::uint32_t file : task.files) out << ' ' << file;
    out << '\n';
  }
  for (std::size_t i = 0; i < situation.sites.size(); ++i) {
    const PlanSite& site = situation.sites[i];
    out << "site: in " << site.inbound.free_from << ", out " << site.outbound.free_from
        << (site.same_stream ? ", same stream" : "") << ", link " << estimates.links[i]
        << ", files";
    for (const Seconds from : site.file_from) out << ' ' << from;
    out << '\n';
  }
  for (std::size_t i = 0; i < situation.hosts.size(); ++i)
    out << "host: site " << situation.hosts[i].site << ", free " << situation.hosts[i].free_from
        << ", speed " << estimates.hosts[i] << '\n';
  return out << (estimates.tells_fastest ? "" : "does not tell the fastest speed\n");
}

namespace random_case {

/// Any of them, from the first case on: not only small ones.
inline int from_to(int low, int high) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange(low, high + 1));
}
inline bool one_in(int n) {
  return from_to(1, n) == n;
}

inline SteppedSpeed speed() {
  SteppedSpeed result;
  result.speeds.clear();
  for (int steps = from_to(1, 3); steps > 0; --steps)
    result.speeds.push_back(std::exp2(from_to(-1, 2)));
  if (one_in(6)) result.closes = from_to(0, 60);
  return result;
}

inline TaskClass task_class(std::uint32_t files) {
  TaskClass result{.waiting = static_cast<std::uint32_t>(from_to(0, 5)),
                   .work = from_to(1, 12) * 2.0,
                   .private_bytes = from_to(0, 2) * 1.0,
                   .output_bytes = from_to(0, 2) * 2.0};
  for (std::uint32_t file = 0; file < files; ++file)
    if (one_in(2)) result.files.push_back(file);
  return result;
}

inline Situation situation() {
  Situation result;
  const auto files = static_cast<std::uint32_t>(from_to(0, 3));
  for (std::uint32_t i = 0; i < files; ++i) result.files.push_back({from_to(1, 20) * 2.0});
  for (int i = from_to(1, 5); i > 0; --i) {
    result.classes.push_back(task_class(files));
    if (one_in(2)) {  // of the same slice
      result.classes.push_back(result.classes.back());
      result.classes.back().work = from_to(1, 12) * 2.0;
    }
  }
  const auto sites = static_cast<std::uint32_t>(from_to(1, 3));
  for (std::uint32_t i = 0; i < sites; ++i) {
    PlanSite site{.inbound = {from_to(-2, 6) * 1.0},
                  .outbound = {from_to(-2, 6) * 1.0},
                  .same_stream = !one_in(3)};
    for (std::uint32_t file = 0; file < files; ++file)
      site.file_from.push_back(one_in(3) ? from_to(0, 6) * 1.0 : kInfinite);
    result.sites.push_back(site);
  }
  for (int i = from_to(1, 6); i > 0; --i)
    result.hosts.push_back({static_cast<std::uint32_t>(from_to(0, static_cast<int>(sites) - 1)),
                            one_in(8) ? kInfinite : from_to(-3, 12) * 1.0});
  return result;
}

inline SchedOptions options() {
  SchedOptions result;
  result.heuristic = static_cast<Heuristic>(from_to(0, 3));
  result.horizon = one_in(4) ? kInfinite : from_to(0, 60);
  result.margin = from_to(0, 1) * 8.0;
  result.enough = static_cast<Enough>(from_to(0, 1));
  result.chart.outputs_in_chart = !one_in(3);
  result.chart.private_inputs = static_cast<PrivateInputs>(from_to(0, 1));
  result.seed = static_cast<std::uint64_t>(from_to(0, 1000));
  return result;
}

/// To be called within a property.
inline RandomCase any() {
  RandomCase result{situation(), {}, options()};
  for (std::size_t i = 0; i < result.situation.hosts.size(); ++i)
    result.estimates.hosts.push_back(speed());
  for (std::size_t i = 0; i < result.situation.sites.size(); ++i)
    result.estimates.links.push_back(speed());
  result.estimates.tells_fastest = one_in(2);
  RC_LOG() << result;
  return result;
}

}  // namespace random_case
}  // namespace gantry::schedule
