#pragma once
/// Requests to the gantry that drives a run here, from another process.

#include <cstdint>
#include <filesystem>

#include "store/store.hpp"

namespace gantry::query {

enum class Answer : std::uint8_t {
  taken,   ///< or dropped by a later session, when that gantry has ended
  gone,    ///< that gantry has ended without it; the request is withdrawn
  silent,  ///< it does not look, and the request waits
};

/// Posts it and waits until that gantry (process `holder`, 0: it has not said who it is) has taken
/// it, for some seconds at the most.
Result<Answer> ask_driver(const std::filesystem::path& state_dir, store::Store& store,
                          const store::Request& request, int holder);

/// Of a gantry that is silent.
[[nodiscard]] tl::unexpected<Error> fail_silent(int holder);

}  // namespace gantry::query
