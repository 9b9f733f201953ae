#pragma once
/// Distinct integer types for identifiers, so that a task number never stands in for a host number.

#include <compare>
#include <cstdint>
#include <functional>

namespace gantry {

template <class Tag, class Rep>
class StrongId {
 public:
  constexpr StrongId() = default;
  constexpr explicit StrongId(Rep value) : value_(value) {}
  [[nodiscard]] constexpr Rep value() const { return value_; }
  friend constexpr auto operator<=>(StrongId, StrongId) = default;

 private:
  Rep value_ = 0;
};

}  // namespace gantry

template <class Tag, class Rep>
struct std::hash<gantry::StrongId<Tag, Rep>> {
  std::size_t operator()(gantry::StrongId<Tag, Rep> id) const noexcept {
    return std::hash<Rep>{}(id.value());
  }
};
