#pragma once
/// The hosts of one site, the fastest first, with a tournament over when they are free: finds the
/// hosts on which tasks end first without asking about every host. A plain value.

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "schedule/planning.hpp"

namespace gantry::schedule {

/// For each of some works, which ascend, the host where it ends first, and if wanted the next best.
/// Hosts stand here by their rank, which decides ties. More work is expected to end later; where it
/// does not, say so.
class BestEnds {
 public:
  static constexpr std::uint32_t kNone = ~0U;

  void reset(std::size_t works, bool two) {
    first_.reset(works);
    second_.reset(two ? works : 0);
  }

  /// From now on the ends of a host need not ascend.
  void expect_any_order() { block_ = 1; }

  /// Of hosts with that rank or a later one, none of which ends anything before `ends`: can one of
  /// them get in?
  template <class Ends>
  [[nodiscard]] bool admits(const Ends& ends, std::uint32_t rank) const {
    const Column& last = this->last();
    return any_block(ends, [&](std::size_t i) { return last.admits(i, ends(i), rank); });
  }

  /// The same host may be offered again.
  void offer(std::span<const Seconds> ends, std::uint32_t rank);

  /// Of each work. Infinite: there is no such host.
  [[nodiscard]] std::span<const Seconds> first_ends() const { return first_.ends; }
  [[nodiscard]] std::span<const Seconds> second_ends() const { return second_.ends; }
  /// REQUIRES: there is one.
  [[nodiscard]] std::uint32_t first_rank(std::size_t work) const { return first_.ranks[work]; }
  [[nodiscard]] std::uint32_t second_rank(std::size_t work) const { return second_.ranks[work]; }

 private:
  struct Column {
    std::vector<Seconds> ends;
    std::vector<std::uint32_t> ranks;  ///< 0 if there is none, so that nothing infinite gets in

    void reset(std::size_t works) {
      ends.assign(works, kNever);
      ranks.assign(works, 0);
    }
    [[nodiscard]] bool admits(std::size_t work, Seconds end, std::uint32_t rank) const {
      return end < ends[work] || (end == ends[work] && rank < ranks[work]);
    }
    void set(std::size_t work, Seconds end, std::uint32_t rank) {
      ends[work] = end;
      ranks[work] = rank;
    }
  };

  [[nodiscard]] const Column& last() const { return second_.ends.empty() ? first_ : second_; }

  /// Calls `found` for each work whose end may be early enough, until it returns true. Ends ascend,
  /// here and there: where the first of a block is too late for the last of it, all of it is.
  template <class Ends, class Found>
  bool any_block(const Ends& ends, const Found& found) const {
    const std::vector<Seconds>& limits = last().ends;
    for (std::size_t begin = 0; begin < limits.size(); begin += block_) {
      const std::size_t end = std::min(begin + block_, limits.size());
      if (ends(begin) > limits[end - 1]) continue;
      for (std::size_t i = begin; i < end; ++i)
        if (found(i)) return true;
    }
    return false;
  }

  std::size_t block_ = 8;
  Column first_;
  Column second_;
};

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

  /// `host` is a place in hosts(). Infinity: it is no longer a candidate.
  void set_free(std::size_t host, Seconds free);

  /// Offers to `best` all hosts that can get in for tasks of these works (ascending) that may start
  /// at `from`. `ends(host, start)` are the ends of the works on the host with that place in
  /// hosts().
  template <class Ends>
  void find_best(Seconds from, std::span<const double> works, const Ends& ends,
                 BestEnds& best) const;

 private:
  /// Of all hosts below: nothing that starts there ends earlier than with these.
  struct Node {
    Seconds free = kNever;
    double fastest = 0;
    std::uint32_t rank = BestEnds::kNone;
  };

  template <class Ends>
  void visit(std::size_t node, Seconds from, std::span<const double> works, const Ends& ends,
             BestEnds& best) const;

  std::vector<Host> hosts_;
  std::size_t leaves_ = 1;   ///< a power of two
  std::vector<Node> nodes_;  ///< the children of n are 2n and 2n + 1; leaf i is leaves_ + i
};

template <class Ends>
void SiteHosts::find_best(Seconds from, std::span<const double> works, const Ends& ends,
                          BestEnds& best) const {
  if (from < kNever && !hosts_.empty()) visit(1, from, works, ends, best);
}

template <class Ends>
void SiteHosts::visit(std::size_t node, Seconds from, std::span<const double> works,
                      const Ends& ends, BestEnds& best) const {
  const Node& at = nodes_[node];
  const Seconds start = std::max(at.free, from);
  if (start == kNever) return;
  const auto bound = [&](std::size_t i) { return start + works[i] / at.fastest; };
  if (!best.admits(bound, at.rank)) return;
  if (node >= leaves_) {
    best.offer(ends(node - leaves_, start), at.rank);
    return;
  }
  // The promising half first: it may rule the other out.
  const auto outlook = [&](const Node& child) {
    return std::max(child.free, from) + works.front() / child.fastest;
  };
  const std::size_t left = 2 * node;
  const bool right_first = outlook(nodes_[left + 1]) < outlook(nodes_[left]);
  visit(right_first ? left + 1 : left, from, works, ends, best);
  visit(right_first ? left : left + 1, from, works, ends, best);
}

}  // namespace gantry::schedule
