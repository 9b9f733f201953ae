#pragma once
/// What small messages tell of a link that carries no files: between which two numbers its
/// bandwidth lies. Also how large the next one should be, and when it should come. A plain value
/// of a link; no clock.

#include <cstdint>
#include <limits>
#include <optional>

#include "base/time.hpp"

namespace gantry::forecast {

class LinkProbe {
 public:
  /// No probe has more.
  static constexpr std::uint64_t kMostBytes = std::uint64_t{1} << 20;

  /// Bytes a second.
  struct Bounds {
    double low = 0;
    double high = std::numeric_limits<double>::infinity();
  };

  /// So many bytes, and an answer of a few, took so long, where a few there and back take `trip`.
  /// What cannot be says nothing.
  void answered(double bytes, double seconds, double trip);
  /// One was sent, and nobody knows how long it took: the next is small, and growth begins anew.
  void lost() { lost_ = true; }
  /// A file has told more.
  void forget() { *this = {}; }

  /// As the last two say: what one of them says alone may be a burst that a shaper lets through,
  /// or somebody who was busy.
  [[nodiscard]] Bounds bounds() const;
  /// The nearest bandwidth to this one that may be.
  [[nodiscard]] double within(double bandwidth) const;
  /// They tell how fast the link is.
  [[nodiscard]] bool is_tight() const;
  /// REQUIRES: is_tight().
  [[nodiscard]] double middle() const;

  /// Of the next one, if that much is believed.
  [[nodiscard]] std::uint64_t next_bytes(std::optional<double> believed) const;
  /// How long to wait for it after the one before: less while it would tell more.
  [[nodiscard]] Duration pause(std::optional<double> believed) const;

 private:
  struct Answer {
    double bytes = 0;  ///< 0: there was none
    double took = 0;   ///< without the round trip, at the most
    Bounds bounds{};
  };

  Answer last_;
  Answer before_;
  bool lost_ = false;  ///< the one after the last
};

}  // namespace gantry::forecast
