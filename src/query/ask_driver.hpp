#pragma once
/// Requests to the gantry that drives a run here, from another process.

#include <cstdint>
#include <filesystem>

#include "store/store.hpp"

namespace gantry::query {

enum class Answer : std::uint8_t {
  taken,   ///< carried out; or dropped by a later session after that gantry ended
  gone,    ///< that gantry ended without taking it; the request is withdrawn
  silent,  ///< that gantry does not respond; the request stays posted
};

/// Posts the request and waits, some seconds at most, until that gantry has taken it. `holder` is
/// its process; 0: not known.
Result<Answer> ask_driver(const std::filesystem::path& state_dir, store::Store& store,
                          const store::Request& request, int holder);

/// The error for a gantry that is silent.
[[nodiscard]] tl::unexpected<Error> fail_silent(int holder);

}  // namespace gantry::query
