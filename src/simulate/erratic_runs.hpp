#pragma once
/// Small runs on one machine, or on a few, whose run times nobody has foretold: how good is an ETA
/// that knows only what was seen? All of it follows from the seed, the kind and the number. Pure.

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "simulate/forecast_trial.hpp"

namespace gantry::simulate {

enum class ErraticKind : std::uint8_t {
  steady,  ///< all much alike
  steps,   ///< from some task on, all take longer, or less
  turns,   ///< short and long by turns
  heavy,   ///< a few take most of the time
  dying,   ///< attempts fail, and are tried again
};

inline constexpr std::array<std::string_view, 5> kErraticKinds{"steady", "steps", "turns", "heavy",
                                                               "dying"};
[[nodiscard]] std::optional<ErraticKind> erratic_kind(std::string_view name);

/// Whose are the slots?
enum class ErraticHosts : std::uint8_t {
  one,      ///< one host's
  several,  ///< each is a host of its own, all alike
  unequal,  ///< each is a host of its own, up to eight times slower than another; nobody says so
};
inline constexpr std::array<std::string_view, 3> kErraticHosts{"one", "several", "unequal"};

/// 12 to 100 tasks on 2 to 8 slots. A task's only parameter is its number.
[[nodiscard]] Unforeseen erratic_run(std::uint64_t seed, ErraticKind kind, std::uint32_t number,
                                     ErraticHosts hosts = ErraticHosts::one);

}  // namespace gantry::simulate
