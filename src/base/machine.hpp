#pragma once
/// What this machine has, as far as this process may use it.

#include <cstdint>

namespace gantry {

std::uint32_t usable_cores();
std::uint64_t usable_memory();

}  // namespace gantry
