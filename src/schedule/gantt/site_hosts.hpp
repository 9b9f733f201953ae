#pragma once
/// The hosts of one site, the fastest first, with a tournament over when they are free: finds the
/// hosts on which tasks end first without asking about every host. A plain value.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "schedule/gantt/lanes.hpp"
#include "schedule/planning.hpp"

namespace gantry::schedule {

/// For each of some works the host where it ends first, and if wanted the next best. Hosts stand
/// here by their rank, which decides ties. Its loops go over all works, several at a time: that
/// beats leaving out works that cannot matter.
class BestEnds {
 public:
  static constexpr std::uint32_t kNone = ~0U;

  /// `fastest`: no host that will be offered is faster.
  void reset(std::span<const double> works, double fastest, bool two);

  /// A task that starts later on any host is too late for all works. May be too large by a little.
  [[nodiscard]] Seconds latest_start() const { return latest_start_; }

  /// Of hosts with that rank or a later one, and that are no faster: can one get in where tasks
  /// start then?
  [[nodiscard]] bool admits(std::span<const double> works, Seconds start, double fastest,
                            std::uint32_t rank) const {
    return any([&]<class Number>(std::size_t i,
                                 Number) { return start + load<Number>(&works[i]) / fastest; },
               rank);
  }
  /// The same for a host where nothing ends before `ends`.
  [[nodiscard]] bool admits(std::span<const Seconds> ends, std::uint32_t rank) const {
    return any([&]<class Number>(std::size_t i, Number) { return load<Number>(&ends[i]); }, rank);
  }

  /// REQUIRES: the host was not offered before.
  void offer(std::span<const double> works, std::span<const Seconds> ends, std::uint32_t rank);

  /// Of each work. Infinite: there is no such host.
  [[nodiscard]] std::span<const Seconds> first_ends() const { return first_.ends; }
  [[nodiscard]] std::span<const Seconds> second_ends() const { return second_.ends; }
  /// REQUIRES: there is one.
  [[nodiscard]] std::uint32_t first_rank(std::size_t work) const {
    return static_cast<std::uint32_t>(first_.ranks[work]);
  }
  [[nodiscard]] std::uint32_t second_rank(std::size_t work) const {
    return static_cast<std::uint32_t>(second_.ranks[work]);
  }

 private:
  struct Column {
    std::vector<Seconds> ends;
    /// Whole numbers, of the same size as ends. 0 if there is none, so that nothing infinite gets
    /// in.
    std::vector<double> ranks;

    void reset(std::size_t works) {
      ends.assign(works, kInfinite);
      ranks.assign(works, 0);
    }
  };

  [[nodiscard]] const Column& last() const { return second_.ends.empty() ? first_ : second_; }
  void find_latest_start(std::span<const double> works);

  /// Is there a work that a host of that rank ends early enough? `ends(i, zero)`: see for_lanes().
  template <class Ends>
  [[nodiscard]] bool any(const Ends& ends, std::uint32_t rank) const;

  double per_work_ = 0;  ///< seconds that it takes at least, about
  Seconds latest_start_ = kInfinite;
  Column first_;
  Column second_;
};

template <class Ends>
bool BestEnds::any(const Ends& ends, std::uint32_t rank) const {
  const Column& column = last();
  return any_lane(column.ends.size(), [&]<class Number>(std::size_t i, Number zero) {
    const Number end = ends(i, zero);
    const auto limit = load<Number>(&column.ends[i]);
    const auto wins = zero + rank < load<Number>(&column.ranks[i]);
    return (end < limit) | ((end == limit) & wins);
  });
}

class SiteHosts {
 public:
  struct Host {
    std::uint32_t rank = 0;
    double fastest = 0;
    Seconds free = 0;
  };

  explicit SiteHosts(std::vector<Host> hosts);

  [[nodiscard]] std::size_t size() const { return hosts_.size(); }
  /// The fastest first.
  [[nodiscard]] std::span<const Host> hosts() const { return hosts_; }
  [[nodiscard]] double fastest() const { return hosts_.empty() ? 1 : hosts_.front().fastest; }
  /// When the first of them is free; never if there is no candidate.
  [[nodiscard]] Seconds first_free() const { return nodes_[1].free; }

  /// `host` is a place in hosts(). Infinity: it is no longer a candidate.
  void set_free(std::size_t host, Seconds free);

  /// Calls `ask(host, start)` for all hosts, by their places in hosts(), that can get into `best`
  /// with tasks of these works that may start at `from`.
  template <class Ask>
  void find_best(Seconds from, std::span<const double> works, const BestEnds& best,
                 const Ask& ask) const;

 private:
  /// Of all hosts below: nothing that starts there ends earlier than with these.
  struct Node {
    Seconds free = kInfinite;
    double fastest = 0;
    std::uint32_t rank = BestEnds::kNone;
  };

  template <class Ask>
  void visit(std::size_t node, Seconds from, std::span<const double> works, const BestEnds& best,
             const Ask& ask) const;

  std::vector<Host> hosts_;
  std::size_t leaves_ = 1;   ///< a power of two
  std::vector<Node> nodes_;  ///< the children of n are 2n and 2n + 1; leaf i is leaves_ + i
};

template <class Ask>
void SiteHosts::find_best(Seconds from, std::span<const double> works, const BestEnds& best,
                          const Ask& ask) const {
  if (from < kInfinite && !hosts_.empty()) visit(1, from, works, best, ask);
}

template <class Ask>
void SiteHosts::visit(std::size_t node, Seconds from, std::span<const double> works,
                      const BestEnds& best, const Ask& ask) const {
  const Node& at = nodes_[node];
  const Seconds start = std::max(at.free, from);
  if (start == kInfinite || start > best.latest_start()) return;
  if (node >= leaves_) return ask(node - leaves_, start);
  // To look closer is not worth it for a few hosts.
  constexpr std::size_t kFew = 16;
  if (node * kFew <= leaves_ && !best.admits(works, start, at.fastest, at.rank)) return;
  // The faster half first: it may rule the other out.
  visit(2 * node, from, works, best, ask);
  visit(2 * node + 1, from, works, best, ask);
}

}  // namespace gantry::schedule
